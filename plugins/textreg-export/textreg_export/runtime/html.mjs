
// -- what follows is for models that remove HTML from texts --

/** What is HTML in a text: tags, comments, scripts, style sheets and character references. */
class Html {
  /** @param {any} given @param {Runs} space */
  constructor(given, space) {
    /** @type {Map<string, string>} */ this.names = new Map();
    for (const name of given.names.split(" ")) {
      const end = name.indexOf(";");
      this.names.set(name.slice(0, end), name.slice(end + 1));
    }
    this.inline = new Set(given.inline.split(" "));
    this.bare = new Set(given.bare.split(" "));
    /** @type {Map<number, string>} */ this.codes = new Map(given.codes);
    // The letters that case folding takes for a to z, as textreg does.
    const letter = "A-Za-z\\u0130\\u0131\\u017f\\u212a";
    this.piece = new RegExp(
      `<(?:(!--)|/?([${letter}][${letter}0-9:\\-]*)` +
        `(?:[${space}](?:[^<>"']|"[^"<]*"|'[^'<]*')*|/)?>|[!?][${letter}][^<>]*>)` +
        `|&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([${letter}][${letter}0-9]{1,31}));`,
      "gu",
    );
    /** @type {Record<string, RegExp>} */
    this.closers = {
      comment: /-->/gu,
      script: new RegExp(`</[Ss\\u017f][Cc][Rr][Ii\\u0130\\u0131][Pp][Tt][${space}]*>`, "gu"),
      style: new RegExp(`</[Ss\\u017f][Tt][Yy][Ll][Ee][${space}]*>`, "gu"),
    };
  }

  /** A text without HTML, and where its characters, and its end, begin and end in the text. @param {string} text */
  strip(text) {
    let stripped = "", last = 0;
    /** @type {number[]} */ const begins = [];
    /** @type {number[]} */ const ends = [];
    for (const { start, end, instead } of [...this.pieces(text), { start: text.length, end: text.length, instead: "" }]) {
      stripped += text.slice(last, start) + instead;
      for (let at = last; at < start; at++) begins.push(at), ends.push(at + 1);
      for (let n = 0; n < instead.length; n++) begins.push(start), ends.push(end);
      last = end;
    }
    begins.push(text.length), ends.push(text.length);
    return { stripped, begins, ends };
  }

  /** What is to be replaced: where it begins and ends, and by what. @param {string} text */
  pieces(text) {
    const pieces = [], closers = { ...this.closers };
    let at = 0, match;
    while ((match = matchAt(this.piece, text, at))) {
      const start = match.index;
      at = start + match[0].length;
      if (match[0][0] === "&") {
        const instead = this.referred(match);
        if (instead !== match[0]) pieces.push({ start, end: at, instead });
        continue;
      }
      const name = match[1] ? "comment" : (match[2] ?? "").toLowerCase();
      if (Object.hasOwn(closers, name) && match[0][1] !== "/") {
        const closer = matchAt(closers[name], text, at);
        if (closer) at = closer.index + closer[0].length;
        else delete closers[name]; // nor has what follows
      }
      pieces.push({ start, end: at, instead: this.inline.has(name) || name === "comment" ? "" : "\n" });
    }
    return pieces;
  }

  /** The character that a reference stands for; the reference where there is none. @param {RegExpExecArray} match */
  referred([whole, , , decimal, hexadecimal, name]) {
    if (name === undefined) {
      const code = decimal ? parseInt(decimal, 10) : parseInt(hexadecimal, 16), known = this.codes.get(code);
      if (known !== undefined) return known;
      if ((code >= 0xd800 && code <= 0xdfff) || code > 0x10ffff) return "\ufffd";
      const none = (code >= 0xfdd0 && code <= 0xfdef) || (code & 0xfffe) === 0xfffe;
      return none ? "" : String.fromCodePoint(code);
    }
    const known = this.names.get(name);
    if (known !== undefined) return known;
    for (let length = name.length; length > 1; length--) {
      const part = name.slice(0, length);
      if (this.bare.has(part)) return `${this.names.get(part)}${name.slice(length)};`;
    }
    return whole;
  }
}

/** Classes of characters, for texts that may have HTML. */
class HtmlCharacters extends Characters {
  /** @param {any} given */
  constructor(given) {
    super(given);
    this.html = new Html(given.html, this.is.space);
  }

  /** @param {string} text @param {any} part @returns {Sentence[]} */
  sentences(text, part) {
    if (!part.strip_html) return super.sentences(text, part);
    const { stripped, begins, ends } = this.html.strip(text);
    const sentences = super.sentences(stripped, part);
    for (const sentence of sentences) {
      for (const token of [sentence, ...sentence.tokens]) {
        const { start, end } = token;
        [token.start, token.end] = [begins[start], end > start ? ends[end - 1] : begins[start]];
      }
    }
    return sentences;
  }
}
