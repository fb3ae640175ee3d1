// A text classifier exported by textreg, as one module for browsers and Node without dependencies.
// Offsets are those of JavaScript's strings.
// @ts-check

/**
 * @typedef {string | Record<string, unknown> | string[] | string[][]} Document a text; its fields, or its tokens
 * @typedef {{start: number, text: string, sentences?: Sentence[]}} Field
 * @typedef {{name: string, start: number, end: number, sentence?: number}} Token
 * @typedef {{start: number, end: number, tokens: Token[]}} Sentence
 * @typedef {{start: number, end: number, feature: string, value: number}} Word
 * @typedef {{start: number, end: number, value: number, removal: number,
 *   evidence: number, field?: string}} SentenceScore
 * @typedef {{text: string, label: string, probabilities: Record<string, number>, of: string,
 *   intercept: number, score: number, sentences: SentenceScore[], words: Word[],
 *   fields?: Record<string, number>}} Explanation
 */

/**
 * Numbers without anything between them: their last digits have the base 36; those before are capital
 * letters, of the base 26.
 * @param {string} text
 */
function numbers(text) {
  /** @type {number[]} */ const values = [];
  let high = 0;
  for (const digit of text) {
    if (digit >= "A" && digit <= "Z") high = high * 26 + digit.charCodeAt(0) - 65;
    else values.push(high * 36 + parseInt(digit, 36)), high = 0;
  }
  return values;
}

/** A class of characters: their first and last code points, run by run. */
class Runs {
  /** @param {string} text gaps and lengths, less one */
  constructor(text) {
    /** @type {number[]} */ this.firsts = [];
    /** @type {number[]} */ this.lasts = [];
    const gaps = numbers(text);
    for (let n = 0, at = 0; n < gaps.length; n += 2) {
      this.firsts.push(at + gaps[n]);
      at += gaps[n] + gaps[n + 1];
      this.lasts.push(at++);
    }
  }

  /** @param {string} letter */
  has(letter) {
    const point = /** @type {number} */ (letter.codePointAt(0));
    const place = bisect(this.firsts, point) - 1;
    return place >= 0 && point <= this.lasts[place];
  }

  /** The class as part of a set of a regular expression. */
  toString() {
    const code = (/** @type {number} */ point) => `\\u{${point.toString(16)}}`;
    return this.firsts.map((first, n) => `${code(first)}-${code(this.lasts[n])}`).join("");
  }
}

/** Where a number goes in a sorted list, after equal ones. @param {number[]} list @param {number} x */
function bisect(list, x) {
  let low = 0, high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x < list[middle]) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** What letters become. @param {any} table @returns {Map<string, string>} */
function caseMap(table) {
  const runs = numbers(table.runs), cases = new Map();
  for (let n = 0, at = 0; n < runs.length; n += 4) {
    const [gap, count, step, moved] = runs.slice(n, n + 4);
    const difference = moved % 2 ? -(moved + 1) / 2 : moved / 2;
    at += gap;
    for (let k = 0; k < count; k++)
      cases.set(String.fromCodePoint(at + k * step), String.fromCodePoint(at + k * step + difference));
  }
  for (const [letter, mapped] of table.more) cases.set(letter, mapped);
  return cases;
}

/** The match of a sticky expression at a place. @param {RegExp} pattern @param {string} text @param {number} at */
function matchAt(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** The character at a place, whole. @param {string} text @param {number} at */
const letterAt = (text, at) => String.fromCodePoint(/** @type {number} */ (text.codePointAt(at)));

/** The character before a place, whole. @param {string} text @param {number} at */
function letterBefore(text, at) {
  const pair = at > 1 ? /** @type {number} */ (text.codePointAt(at - 2)) : 0;
  return pair > 0xffff ? String.fromCodePoint(pair) : text[at - 1];
}

/** Classes of characters, and the patterns of words and of the ends of sentences. */
class Characters {
  /** @param {any} given */
  constructor(given) {
    /** @type {Record<string, Runs>} */
    const is = (this.is = {});
    for (const name of Object.keys(given.classes)) is[name] = new Runs(given.classes[name]);
    this.titles = new Set(given.titles);
    this.numbered = new Set(given.numbered);
    this.numberLength = given.number_length;
    this.folds = caseMap(given.fold);
    this.smalls = given.small ? caseMap(given.small) : new Map();

    const { space, letter, spaceless, strong, full, closer, opener, end, joining } = is;
    const more = `${is.mark}${is.ignored}`, close = `${closer}${opener}`;
    const make = (/** @type {string} */ pattern, flags = "") => new RegExp(pattern, "u" + flags);
    this.word = make(`([${spaceless}])[${more}]*|[${letter}][${letter}${more}]*`, "g");
    this.silent = make(`[${is.ignored}]`, "g");
    this.run = make(`[^${space}]+`, "g");
    this.lineEnd = /\r\n|\r|\n/gu;
    this.line = /[\r\n]/u;
    this.header = make(`[A-Z][A-Za-z0-9\\-]{0,${given.header_length - 1}}:(?=[${space}]|$)`, "y");
    this.leadIn = make(`[${is.colon}][${space}]*[\\r\\n]`);
    this.everywhere = make(`[${full}]|[${end}][${end}${close}]*<`);
    this.alone = make(`[${space}][.${strong}][${strong}${close}]*[${space}]`);
    this.beforeSpace = make(`[${end}][${end}${close}]*[${space}]`);
    this.singleStop = make(`^\\.[${close}]*[${space}]`);
    this.tail = make(`[${full}][${full}${end}${closer}]*`);
    this.cutMark = make(`[${end}][${end}${close}]*(?=[${space}<])`);
    this.attached = make(`[^${space}<${letter}${spaceless}]*`, "y");
    this.joins = make(`[${joining}]`);
    this.cluster = make(`[^${joining}]?[${joining}]+|[^${joining}]+(?![${joining}])`, "g");
    this.unassigned = make(`([${is.unassigned}]+)`);
    /** @type {RegExp | null} */
    this.picture = null;
    if (is.emoji) {
      const emoji = `${is.emoji}${is.flag}`;
      this.picture = make(
        `(?:[${is.flag}]{2}|[${emoji}])(?:[\\ufe0f\\u{1f3fb}-\\u{1f3ff}\\u{e0020}-\\u{e007f}]|\\u200d[${emoji}])*`,
        "y",
      );
    }
  }

  /** A text in a normal form; characters that the model does not know stay. @param {string} text @param {string} form */
  normal(text, form) {
    if (form === "none") return text;
    const parts = text.split(this.unassigned);
    return parts.map((part, n) => (n % 2 ? part : part.normalize(form.toUpperCase()))).join("");
  }

  /**
   * Where the parts of a text begin and end that make the characters of its normal form.
   * @param {string} text @param {string} form
   */
  places(text, form) {
    /** @type {number[]} */ const starts = [];
    /** @type {number[]} */ const ends = [];
    let at = 0;
    for (const [part] of text.matchAll(this.cluster)) {
      const whole = this.normal(part, form) === part || !this.joins.test(part);
      for (const piece of whole ? part : [part]) {
        const size = this.normal(piece, form).length;
        for (let n = 0; n < size; n++) starts.push(at), ends.push(at + piece.length);
        at += piece.length;
      }
    }
    return { starts, ends };
  }

  /** A text with a small final sigma for every capital one that ends a word. @param {string} text */
  finalSigmas(text) {
    const letters = [...text];
    return letters.map((letter, at) => {
      if (letter !== "Σ") return letter;
      let before = at - 1, after = at + 1;
      while (before >= 0 && this.is.ignorable.has(letters[before])) before--;
      while (after < letters.length && this.is.ignorable.has(letters[after])) after++;
      const follows = before >= 0 && this.is.cased.has(letters[before]);
      return follows && !(after < letters.length && this.is.cased.has(letters[after])) ? "ς" : letter;
    }).join("");
  }

  /** @param {string} gap */
  lines(gap) {
    return (gap.match(this.lineEnd) || []).length;
  }

  /**
   * Whether a sentence ends between a word and the next one, which begins at `after`.
   * @param {string} text @param {number} start of the word @param {number} end of the word
   * @param {number} after @param {number} words in the sentence so far @param {string} rule
   */
  endsSentence(text, start, end, after, words, rule) {
    const gap = text.slice(end, after), lines = this.lines(gap);
    if (rule === "none") return false;
    if (rule === "lines") return lines >= 1;
    if (lines >= 2) return true;
    if (rule === "paragraphs") return false;
    if (lines === 1) {
      const last = gap[gap.length - 1];
      if (this.leadIn.test(gap)) return true;
      if ((last === "\r" || last === "\n") && matchAt(this.header, text, after)) return true;
    }
    if (this.everywhere.test(gap) || this.alone.test(gap)) return true;
    const following = letterAt(text, after);
    if (!this.beforeSpace.test(gap) || this.is.lower.has(following)) return false;
    return !(this.singleStop.test(gap) && this.abbreviates(text, start, end, following, words));
  }

  /** @param {string} text @param {number} start @param {number} end @param {string} following @param {number} words */
  abbreviates(text, start, end, following, words) {
    const letters = [...text.slice(start, end)];
    const small = letters.map((letter) => {
      const folded = this.folds.get(letter) ?? letter;
      return [...folded].length === 1 ? folded : "ß";
    }).join("");
    if (this.titles.has(small)) return true;
    if (this.numbered.has(small) && this.is.decimal.has(following)) return true;
    if (letters.length === 1 && this.is.alpha.has(letters[0])) {
      const inner = start > 0 && text[start - 1] === ".";
      return inner || (this.is.upper.has(letters[0]) && letters[0] !== "I") || words === 1;
    }
    const decimal = letters.every((letter) => this.is.decimal.has(letter));
    return words === 1 && letters.length <= this.numberLength && decimal;
  }

  /** The sentences of a text, with its words as tokens. @param {string} text @param {any} options @returns {Sentence[]} */
  words(text, options) {
    const matches = [...text.matchAll(this.word)];
    /** @type {Sentence[]} */ const sentences = [];
    /** @type {Token[]} */ let tokens = [];
    let begin = -1, start = 0, end = 0, words = 0;
    for (let n = 0; n <= matches.length; n++) {
      const last = n === matches.length;
      const after = last ? text.length : matches[n].index;
      const ended = words > 0 && after > end && !last &&
        this.endsSentence(text, start, end, after, words, options.sentences);
      const cut = ended ? this.cut(text, end, after) : after;
      let marks = this.marks(text, end, cut, options);
      if (last || ended) {
        if (marks.length && begin < 0) begin = marks[0].start;
        tokens.push(...marks);
        if (tokens.length) {
          const tail = this.tail.exec(text.slice(end, after));
          const attached = matchAt(this.attached, text, end);
          let stop = tail ? end + tail.index + tail[0].length : end + (attached ? attached[0].length : 0);
          for (const mark of marks) stop = Math.max(stop, mark.end);
          sentences.push({ start: begin, end: stop, tokens });
        }
        tokens = [], begin = -1, words = 0;
        marks = this.marks(text, cut, after, options);
      }
      if (last) break;
      tokens.push(...marks);
      start = matches[n].index;
      const word = matches[n][0];
      end = start + word.length;
      if (begin < 0) begin = marks.length ? marks[0].start : start;
      words++;
      if (matches[n][1] || [...word].length >= options.min_length) {
        let name = word.replace(this.silent, "");
        if (options.lowercase) name = Array.from(name, (letter) => this.folds.get(letter) ?? letter).join("");
        tokens.push({ name, start, end });
      }
    }
    return sentences;
  }

  /** Where in the gap after a word its sentence ends. @param {string} text @param {number} start @param {number} end */
  cut(text, start, end) {
    const gap = text.slice(start, end);
    const mark = this.tail.exec(gap) || this.cutMark.exec(gap);
    if (mark) return start + mark.index + mark[0].length;
    const line = this.line.exec(gap);
    if (line) return start + line.index;
    const attached = matchAt(this.attached, text, start);
    return start + (attached ? attached[0].length : 0);
  }

  /** The runs of punctuation and the emoji of a gap. @param {string} text @param {number} at @param {number} end @param {any} options */
  marks(text, at, end, options) {
    /** @type {Token[]} */ const marks = [];
    if (!this.picture) return marks;
    const gap = text.slice(0, end);
    while (at < end) {
      const start = at;
      const picture = matchAt(this.picture, gap, at);
      let wanted = options.emoji;
      if (picture) at += picture[0].length;
      else {
        while (at < end && this.isPunctuation(letterAt(gap, at))) at += letterAt(gap, at).length;
        wanted = options.punctuation && at > start;
        if (at === start) at += letterAt(gap, at).length;
      }
      if (wanted) marks.push({ name: text.slice(start, at).replaceAll("\ufe0f", ""), start, end: at });
    }
    return marks;
  }

  /** @param {string} letter */
  isPunctuation(letter) {
    if (this.is.unprinted.has(letter) || this.is.space.has(letter) || this.is.ignored.has(letter)) return false;
    return !this.picture || !matchAt(this.picture, letter, 0);
  }

  /** The sentences of a text, with its character n-grams as tokens. @param {string} text @param {any} options @returns {Sentence[]} */
  chars(text, options) {
    const across = options.analyzer === "char", lowercase = options.lowercase;
    if (lowercase && text.includes("Σ")) text = this.finalSigmas(text);
    /** @type {Sentence[]} */ const sentences = [];
    let from = 0;
    for (const to of this.charEnds(text, options.sentences)) {
      /** @type {Token[][]} */ const runs = [];
      let before = 0;
      for (const piece of text.slice(from, to).matchAll(this.run)) {
        const first = from + piece.index, after = first + piece[0].length;
        /** @type {Token[]} */ let run = [];
        let at = first;
        for (const letter of piece[0]) {
          const end = at + letter.length;
          for (const name of lowercase ? this.small(letter) : [letter]) run.push({ name, start: at, end });
          at = end;
        }
        const gap = { name: " ", start: first, end: before };
        if (across && runs.length) runs[runs.length - 1].push(gap, ...run);
        else {
          if (!across && (first === 0 || this.is.space.has(letterBefore(text, first))))
            run.unshift({ name: " ", start: first, end: first + letterAt(text, first).length });
          const last = after - letterBefore(text, after).length;
          if (!across && (after === text.length || this.is.space.has(letterAt(text, after))))
            run.push({ name: " ", start: last, end: after });
          runs.push(run);
        }
        before = after;
      }
      if (runs.length) {
        const last = runs[runs.length - 1];
        const tokens = runs.flatMap((run) => charGrams(run, options));
        sentences.push({ start: runs[0][0].start, end: last[last.length - 1].end, tokens });
      }
      from = to;
    }
    return sentences;
  }

  /** @param {string} letter */
  small(letter) {
    return letter === "Σ" ? "σ" : (this.smalls.get(letter) ?? letter);
  }

  /** @param {string} text @param {string} rule */
  charEnds(text, rule) {
    const words = [...text.matchAll(this.word)];
    /** @type {number[]} */ const ends = [];
    for (let n = 1, begin = 0; n < words.length; n++) {
      const start = words[n - 1].index, end = start + words[n - 1][0].length, after = words[n].index;
      if (end < after && this.endsSentence(text, start, end, after, n - begin, rule)) {
        ends.push(this.inGap(text, end, after));
        begin = n;
      }
    }
    return [...ends, text.length];
  }

  /** @param {string} text @param {number} start @param {number} end */
  inGap(text, start, end) {
    const gap = text.slice(start, end), line = this.line.exec(gap);
    if (line) return start + line.index + 1;
    const tail = this.tail.exec(gap);
    const ended = tail ? start + tail.index + tail[0].length : start;
    for (let at = end; at > ended; at -= letterBefore(text, at).length)
      if (this.is.space.has(letterBefore(text, at))) return at;
    if (tail) return ended;
    const attached = matchAt(this.attached, text, start);
    return start + (attached ? attached[0].length : 0);
  }

  /** The sentences and tokens of a text by the tokenizer of a part. @param {string} text @param {any} part @returns {Sentence[]} */
  sentences(text, part) {
    return this.split(text, part);
  }

  /** @param {string} text @param {any} part @returns {Sentence[]} */
  split(text, part) {
    const options = part.options, form = options.normalize;
    const normal = this.normal(text, form);
    const sentences = part.tokenizer === "words" ? this.words(normal, options) : this.chars(normal, options);
    if (normal === text) return sentences;
    const { starts, ends } = this.places(text, form);
    for (const sentence of sentences) {
      for (const token of [sentence, ...sentence.tokens])
        [token.start, token.end] = [starts[token.start], ends[token.end - 1]];
    }
    return sentences;
  }

}

/** @param {Token[]} run @param {any} options */
function charGrams(run, options) {
  /** @type {Token[]} */ const grams = [];
  const least = Math.min(options.min_n, run.length);
  for (let first = 0; first + least <= run.length; first++) {
    let name = "";
    for (let size = 1; size <= options.max_n && first + size <= run.length; size++) {
      name += run[first + size - 1].name;
      if (size < least) continue;
      const [start, end] = [run[first].start, run[first + size - 1].end];
      grams.push({ name, start: Math.min(start, end), end: Math.max(start, end) });
    }
  }
  return grams;
}

/** Sums over the n-grams of a text: scores, squares of values, and how many count for these. */
class Sums {
  /** @param {number[]} scores @param {number} squares @param {number} distinct */
  constructor(scores, squares = 0, distinct = 0) {
    this.scores = scores, this.squares = squares, this.distinct = distinct;
  }

  /** @param {Sums} other */
  minus(other) {
    const scores = this.scores.map((score, row) => score - other.scores[row]);
    return new Sums(scores, this.squares - other.squares, this.distinct - other.distinct);
  }

  /** The length of the row; 1 if it is empty. */
  get length() {
    return this.distinct ? Math.sqrt(this.squares) : 1;
  }
}

/** Tokens without evidence that every sentence counts beside its own. */
const SHRINKAGE = 8;
/** Tokens on either side whose evidence counts for that of a sentence. */
const AROUND = 100;

/** @param {Token[]} grams @returns {Map<string, number>} */
function counted(grams) {
  const counts = new Map();
  for (const { name } of grams) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** The features of one tokenizer, and their weights. */
class Part {
  /** @param {any} given */
  constructor(given) {
    this.given = given;
    /** @type {Map<string, number>} */
    this.columns = new Map(given.names.map((/** @type {string} */ name, /** @type {number} */ n) => [name, n]));
    /** @type {number[]} */
    this.idf = given.idf ?? given.names.map(() => 1);
    /** @type {Map<string, number>} */
    this.others = new Map();
    for (const [idf, names] of given.others) for (const name of names.split("\n")) this.others.set(name, idf);
    this.stopWords = new Set(given.stop_words);
  }

  /** All n-grams of a sentence. @param {Sentence} sentence @param {number} number its index @returns {Token[]} */
  grams(sentence, number) {
    const tokens = sentence.tokens.filter((token) => !this.stopWords.has(token.name));
    /** @type {Token[]} */ const grams = [];
    tokens.forEach(({ name, start }, first) => {
      grams.push({ ...tokens[first], sentence: number });
      for (const last of tokens.slice(first + 1, first + this.given.ngrams)) {
        name += " " + last.name;
        grams.push({ name, start, end: last.end, sentence: number });
      }
    });
    return grams;
  }

  /** The column of an n-gram. @param {string} name */
  column(name) {
    return this.columns.get(name);
  }

  /** The value of an n-gram that occurs so often, without idf and norm. @param {string} name @param {number} count */
  value(name, count) {
    const { term } = this.given;
    if (count === 0 || term === "count") return count;
    if (term === "binary") return 1;
    return term === "log" ? Math.log1p(count) : 1 + Math.log(count);
  }

  /** What the value of an n-gram is multiplied by in the length of a row. @param {string} name */
  size(name) {
    if (this.given.norm === "ngrams") return 1;
    if (this.given.norm !== "features") return 0;
    const column = this.columns.get(name);
    return column === undefined ? (this.others.get(name) ?? 0) : this.idf[column];
  }

  /**
   * What n-grams with these counts add to a row; with `whole`, what goes without them.
   * @param {Map<string, number>} counts @param {Map<string, number>} [whole]
   */
  sums(counts, whole) {
    /** @type {number[][]} */ const weights = this.given.weights;
    const sums = new Sums(weights.map(() => 0));
    for (const [name, count] of counts) {
      const before = whole ? /** @type {number} */ (whole.get(name)) : count;
      const value = this.value(name, before), left = this.value(name, before - count);
      const size = this.size(name);
      if (size) {
        sums.squares += size * size * (value * value - left * left);
        sums.distinct += left === 0 ? 1 : 0;
      }
      const column = this.column(name);
      if (column === undefined) continue;
      const factor = this.idf[column] * (value - left);
      weights.forEach((row, n) => (sums.scores[n] += row[column] * factor));
    }
    return sums;
  }
}

/** @param {number} score */
const logSigmoid = (score) => score >= 0 ? -Math.log1p(Math.exp(-score)) : score - Math.log1p(Math.exp(score));

/** The logarithm of the sum of exponentials. @param {number[]} logits */
function logSum(logits) {
  const most = Math.max(...logits);
  return most + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - most), 0));
}

/** The value at x of a curve through points, constant beyond them. @param {number} x @param {number[]} xs @param {number[]} ys */
function interpolated(x, xs, ys) {
  const at = bisect(xs, x);
  if (at === 0 || at === xs.length) return ys[Math.max(at - 1, 0)];
  return ((ys[at] - ys[at - 1]) / (xs[at] - xs[at - 1])) * (x - xs[at - 1]) + ys[at - 1];
}

/** A model, from its description as `textreg export --to json` writes it. */
export class Predictor {
  /** @param {any} given @param {Characters} [characters] of the model */
  constructor(given, characters) {
    if (given.format !== "textreg-export" || given.version !== 1)
      throw new Error("this is no model exported by textreg, or by another version of it");
    this.given = given;
    /** @type {string[]} */
    this.labels = given.labels;
    /** @type {string} */
    this.task = given.task;
    this.characters = characters ?? new Characters(given.characters);
    /** @type {Part[]} */
    this.parts = given.parts.map((/** @type {any} */ part) => new Part(part));
  }

  /**
   * A document as one text, and its fields, each with where it begins there; one without a name if it has none.
   * @param {any} text @returns {{text: string, fields: Map<string, Field>}}
   */
  document(text) {
    return { text, fields: new Map([["", { start: 0, text }]]) };
  }

  /** The sentences that a part reads, with places in their field. @param {Part} part @param {Map<string, Field>} fields */
  sentences(part, fields) {
    return this.characters.sentences(/** @type {Field} */ (fields.get(part.given.field)).text, part.given);
  }

  /** The score of every label; of two that of the second one, of a regression the number. @param {Document} text @returns {number[]} */
  scores(text) {
    const scores = [...this.given.intercepts], { fields } = this.document(text);
    for (const part of this.parts) {
      const sums = part.sums(counted(this.sentences(part, fields).flatMap((one) => part.grams(one, 0))));
      sums.scores.forEach((score, row) => (scores[row] += score / sums.length));
    }
    return scores;
  }

  /** The label of a text; a list where it may have several, and of a regression a number. @param {Document} text */
  predict(text) {
    return this.answer(this.scores(text));
  }

  /** The probabilities of all labels. @param {Document} text @returns {Record<string, number>} */
  probabilities(text) {
    if (!this.given.probabilities) throw new Error("this model has no probabilities: use scores");
    const logs = this.logProbabilities(this.scores(text));
    return Object.fromEntries(this.labels.map((label, n) => [label, Math.exp(logs[n])]));
  }

  /** @param {number[]} scores @returns {string | string[] | number} */
  answer(scores) {
    if (this.task === "regression") return scores[0];
    if (this.task === "multilabel") {
      const margins = this.margins(scores);
      const labels = this.labels.filter((_, n) => margins[n] > 0);
      return labels.length || !this.given.at_least_one ? labels : [this.labels[first(margins)]];
    }
    const least = this.given.unknown_threshold;
    return least !== null && this.confidence(scores) < least ? this.given.unknown : this.labels[this.best(scores)];
  }

  /** The index of the label that scores speak for most. @param {number[]} scores */
  best(scores) {
    if (this.task !== "binary") return first(this.margins(scores));
    const [ofFirst, ofSecond] = this.given.thresholds;
    return Number(ofFirst !== null ? -scores[0] <= ofFirst : scores[0] > (ofSecond ?? 0));
  }

  /** @param {number[]} scores */
  confidence(scores) {
    if (this.task !== "binary") return Math.max(...this.margins(scores));
    const [ofFirst, ofSecond] = this.given.thresholds;
    return Math.abs(scores[0] - (ofSecond ?? 0) + (ofFirst ?? 0));
  }

  /** @param {number[]} scores @returns {number[]} */
  margins(scores) {
    return scores.map((score, n) => score - (this.given.thresholds[n] ?? 0));
  }

  /** @param {number[]} scores */
  logProbabilities(scores) {
    scores = this.calibrated(scores);
    if (this.task === "binary") return [logSigmoid(-scores[0]), logSigmoid(scores[0])];
    if (this.task === "multilabel") return scores.map(logSigmoid);
    const logits = this.task === "one-vs-rest" ? scores.map(logSigmoid) : scores;
    const total = logSum(logits);
    return logits.map((logit) => logit - total);
  }

  /** @param {number[]} scores @returns {number[]} */
  calibrated(scores) {
    const { calibration } = this.given;
    if (!calibration) return scores;
    if (calibration.method === "temperature") return scores.map((score) => score / calibration.temperature);
    const softmax = this.task === "softmax";
    return scores.map((score, row) => {
      const x = softmax ? score - logSum(scores.filter((_, n) => n !== row)) : score;
      const [xs, ys] = calibration.curves[row];
      const p = interpolated(x, xs, ys);
      return Math.log(p) - (softmax ? 0 : Math.log1p(-p));
    });
  }

  /**
   * What the words and sentences of a text add to the score of a label.
   * @param {Document} given @param {string} [of] the label; by default the predicted one
   * @returns {Explanation}
   */
  explain(given, of) {
    const { text, fields } = this.document(given);
    const scores = this.scores(given), side = this.side(scores, of);
    const single = this.task === "binary" || this.task === "regression";
    const row = single ? 0 : side, sign = single && !side ? -1 : 1;
    const { spans, grams } = this.occurrences(fields);
    const answer = this.answer(scores);
    /** @type {Word[]} */ const words = [];
    const values = spans.map(() => 0);
    this.parts.forEach((part, n) => {
      const counts = counted(grams[n]), length = part.sums(counts).length;
      for (const { name, start, end, sentence } of grams[n]) {
        const column = part.column(name);
        if (column === undefined) continue;
        const count = /** @type {number} */ (counts.get(name));
        const share = (part.value(name, count) * part.idf[column]) / length / count;
        const value = sign * part.given.weights[row][column] * share;
        values[/** @type {number} */ (sentence)] += value;
        if (value) words.push({ start, end, feature: part.given.prefix + part.given.names[column], value });
      }
    });
    if (this.parts.length > 1) words.sort((a, b) => a.start - b.start);
    const removals = this.removals(grams, scores, side, spans.length);
    const evidence = this.evidence(text, spans, words);
    return {
      text,
      label: Array.isArray(answer) ? answer.join(", ") || "no label" : String(answer),
      probabilities: this.given.probabilities ? this.probabilities(given) : {},
      of: this.labels.length ? this.labels[side] : "",
      intercept: sign * this.given.intercepts[row],
      score: sign * scores[row],
      sentences: spans.map(({ start, end }, n) =>
        ({ start, end, value: values[n], removal: removals[n], evidence: evidence[n] })),
      words,
    };
  }

  /** The index of the label that is explained. @param {number[]} scores @param {string} [of] */
  side(scores, of) {
    if (of !== undefined && of !== null) {
      if (!this.labels.includes(of)) throw new Error(`the model has no label '${of}': it has ${this.labels.join(", ")}`);
      return this.labels.indexOf(of);
    }
    if (this.task === "regression") return 1;
    return this.task === "multilabel" ? first(this.margins(scores)) : this.best(scores);
  }

  /**
   * The sentences of a document, which are those of the first part of each field, and the n-grams of every part in
   * them. What others find belongs to the sentence of the field that begins last before it.
   * @param {Map<string, Field>} fields
   */
  occurrences(fields) {
    /** @type {{start: number, end: number}[]} */ const spans = [];
    /** @type {Token[][]} */ const grams = this.parts.map(() => []);
    for (const [field, { start: at }] of fields) {
      const places = [...this.parts.keys()].filter((place) => this.parts[place].given.field === field);
      const byPart = places.map((place) => this.sentences(this.parts[place], fields));
      const tokens = byPart.slice(1).flatMap((other) => other.flatMap((one) => one.tokens));
      let homes = byPart[0].map(({ start, end }) => ({ start, end }));
      if (!homes.length && tokens.length) {
        const start = tokens.reduce((least, token) => Math.min(least, token.start), Infinity);
        homes = [{ start, end: tokens.reduce((most, token) => Math.max(most, token.end), 0) }];
      }
      const begins = homes.map(({ start }) => start);
      places.forEach((place, n) => {
        for (const gram of byPart[n].flatMap((one, number) => this.parts[place].grams(one, number))) {
          const home = n ? Math.max(bisect(begins, gram.start) - 1, 0) : /** @type {number} */ (gram.sentence);
          grams[place].push({ ...gram, start: at + gram.start, end: at + gram.end, sentence: spans.length + home });
        }
      });
      for (const { start, end } of homes) spans.push({ start: at + start, end: at + end });
    }
    return { spans, grams };
  }

  /**
   * By how much the log-probability of a label falls without each sentence.
   * @param {Token[][]} grams @param {number[]} scores @param {number} side @param {number} sentences
   */
  removals(grams, scores, side, sentences) {
    /** @type {number[][]} */
    const without = Array.from({ length: sentences }, () => [...this.given.intercepts]);
    this.parts.forEach((part, n) => {
      const counts = counted(grams[n]), whole = part.sums(counts);
      /** @type {Token[][]} */ const parted = without.map(() => []);
      for (const gram of grams[n]) parted[/** @type {number} */ (gram.sentence)].push(gram);
      parted.forEach((inside, sentence) => {
        const rest = whole.minus(part.sums(counted(inside), counts));
        rest.scores.forEach((score, row) => (without[sentence][row] += score / rest.length));
      });
    });
    const whole = this.logOdds(scores, side);
    return without.map((one) => whole - this.logOdds(one, side));
  }

  /**
   * How strong the evidence in each sentence is: (V2) of textreg's docs/maths.md. A token is a run of
   * characters without a blank. What a word adds is divided equally among the tokens that it touches.
   * @param {string} text @param {{start: number, end: number}[]} spans @param {Word[]} words
   */
  evidence(text, spans, words) {
    const tokens = [...text.matchAll(this.characters.run)];
    const starts = tokens.map((token) => token.index);
    const ends = tokens.map((token) => token.index + token[0].length);
    const added = tokens.map(() => 0);
    for (const { start, end, value } of words) {
      const from = bisect(ends, start), after = bisect(starts, end - 1);
      for (let token = from; token < after; token++) added[token] += value / (after - from);
    }
    const begins = spans.map(({ start }) => start);
    const squares = added.map((value) => Math.max(value, 0) ** 2);
    const total = [0];
    for (const square of squares) total.push(total[total.length - 1] + square);
    const sums = spans.map(() => ({ inside: 0, around: 0, length: 0 }));
    (spans.length ? ends : []).forEach((end, token) => {
      const entry = sums[Math.max(bisect(begins, end - 1) - 1, 0)];
      const low = Math.max(token - AROUND, 0), high = Math.min(token + AROUND + 1, tokens.length);
      entry.inside += squares[token];
      entry.around += (total[high] - total[low]) / (high - low);
      entry.length++;
    });
    return sums.map(({ inside, around, length }) =>
      Math.sqrt(inside / (length + SHRINKAGE)) + Math.sqrt(around / Math.max(length, 1)));
  }

  /** The log-probability of a label; without probabilities, its score. @param {number[]} scores @param {number} side */
  logOdds(scores, side) {
    if (this.given.probabilities) return this.logProbabilities(scores)[side];
    if (this.task === "binary" || this.task === "regression") return side ? scores[0] : -scores[0];
    return scores[side];
  }
}

/** The place of the first of the highest. @param {number[]} margins */
const first = (margins) => margins.indexOf(Math.max(...margins));
