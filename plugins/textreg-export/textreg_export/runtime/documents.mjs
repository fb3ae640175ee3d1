
// -- what follows is for models whose documents are not only texts split into words or characters --

/** What stands for a number or a category that a document does not have. */
const MISSING = "missing";

/** The features of a field of numbers: the number itself, and whether it is missing. */
class NumberPart extends Part {
  /** @param {string} name */
  column(name) {
    return this.columns.get(name === MISSING ? ":missing" : "");
  }

  /** @param {string} name @param {number} count */
  value(name, count) {
    if (!count || name === MISSING) return count;
    const { mean, scale } = this.given.options;
    return Math.max(-1e50, Math.min((Number(name) - mean) / scale, 1e50));
  }
}

/** A number as Python writes it. @param {number} number */
function written(number) {
  const [digits, power] = (number + 0).toExponential().split("e");
  const e = Number(power);
  if (e < -4 || e >= 16) return `${digits}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  const text = String(number + 0);
  return text.includes(".") ? text : `${text}.0`;
}

/** A model of documents of several fields, of lists of tokens, or of whole texts as features. */
class DocumentPredictor extends Predictor {
  /** @param {any} given @param {Characters} [characters] */
  constructor(given, characters) {
    super(given, characters);
    /** @type {{name: string, kind: string}[]} */
    this.fields = given.fields;
    this.tokens = given.parts[0].tokenizer === "tokens";
    this.parts = this.parts.map((part) => part.given.tokenizer === "number" ? new NumberPart(part.given) : part);
  }

  /** @param {any} given @returns {{text: string, fields: Map<string, Field>}} */
  document(given) {
    if (this.tokens) return { text: "", fields: new Map([["", { start: 0, text: "", sentences: givenSentences(given) }]]) };
    if (!this.fields.length) return super.document(given);
    const names = this.fields.map(({ name }) => name).join(", ");
    if (given === null || typeof given !== "object") throw new Error(`a document of this model is an object with ${names}`);
    /** @type {Map<string, Field>} */ const fields = new Map();
    let text = "";
    for (const { name, kind } of this.fields) {
      if (!Object.hasOwn(given, name)) throw new Error(`the document has no field '${name}': it needs ${names}`);
      const value = this.value(name, kind, given[name]);
      text += `${text && "\n"}${name}: `;
      fields.set(name, { start: text.length, text: value });
      text += value;
    }
    return { text, fields };
  }

  /** The value of a field as text. @param {string} name @param {string} kind @param {any} given */
  value(name, kind, given) {
    const absent = given === null || given === undefined || Number.isNaN(given);
    const is = typeof given, wrong = (/** @type {string} */ what) => new Error(`field '${name}': ${given} is ${what}`);
    if (kind === "text") {
      if (!absent && is !== "string") throw wrong("not a text");
      return absent ? "" : given;
    }
    const { run } = this.characters;
    if (absent || (is === "string" && !given.match(run))) return MISSING;
    if (kind === "number") {
      const plain = is !== "string" || /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(given.trim());
      const number = plain && is !== "object" ? Number(given) : NaN;
      if (!Number.isFinite(number)) throw wrong("not a number");
      return written(number);
    }
    if (is === "number") return Number.isInteger(given) ? BigInt(given).toString() : written(given);
    if (is !== "string" && is !== "boolean") throw wrong("neither a text nor a number, as categories are");
    const text = (String(given).match(run) ?? []).join(" ");
    return /^(True|TRUE|False|FALSE)$/.test(text) ? text.toLowerCase() : text.replace(/^(-?[0-9]+)\.0+$/, "$1");
  }

  /** @param {Part} part @param {Map<string, Field>} fields */
  sentences(part, fields) {
    const { tokenizer, options, field } = part.given, content = /** @type {Field} */ (fields.get(field));
    if (content.sentences) return content.sentences;
    return tokenizer === "value" || tokenizer === "number"
      ? this.whole(content.text, options.lowercase) : super.sentences(part, fields);
  }

  /** A text as one token, unless it is blank. @param {string} text @param {boolean} [lowercase] @returns {Sentence[]} */
  whole(text, lowercase) {
    const characters = this.characters, runs = [...text.matchAll(characters.run)];
    if (!runs.length) return [];
    let name = runs.join(" ");
    if (lowercase) name = Array.from(characters.finalSigmas(name), (letter) => characters.small(letter)).join("");
    const start = runs[0].index, last = runs[runs.length - 1], end = last.index + last[0].length;
    return [{ start, end, tokens: [{ name, start, end }] }];
  }

  /** @param {any} given @param {string} [of] @returns {Explanation} */
  explain(given, of) {
    if (this.tokens) throw new Error("documents of this model are lists of tokens, which have no places");
    const explanation = super.explain(given, of);
    if (!this.fields.length || !explanation.sentences.length) return explanation;
    const places = [...this.document(given).fields];
    /** @type {Record<string, number>} */ const fields = {};
    for (const sentence of explanation.sentences) {
      const [field] = /** @type {[string, Field]} */ (places.findLast(([, { start }]) => start <= sentence.start));
      sentence.field = field;
      fields[field] = (fields[field] ?? 0) + sentence.value;
    }
    return { ...explanation, fields };
  }
}

/** A document that is a list of tokens, or of sentences of tokens. @param {any} given @returns {Sentence[]} */
function givenSentences(given) {
  const sentences = Array.isArray(given) && given.length && typeof given[0] !== "string" ? given : [given];
  const is = (/** @type {any} */ one) => Array.isArray(one) && one.every((token) => typeof token === "string");
  if (!sentences.every(is)) throw new Error("a document of this model is a list of tokens, or of sentences of them");
  const token = (/** @type {string} */ name) => ({ name, start: 0, end: 0 });
  return sentences.map((sentence) => ({ start: 0, end: 0, tokens: sentence.map(token) }));
}
