/**
 * Signs that a PDF does not say which characters its fonts draw. pdf.js then gives the codes of the
 * glyphs, which may be the same in documents that differ.
 */

/** Control characters come before it: a text has none but white space. */
const FIRST_PRINTABLE = 32;
/** Characters that each font draws as it likes. */
const PRIVATE = /[\ue000-\uf8ff]/;
/** Of those, the signs of symbol fonts, such as the bullets of lists: their codes tell them apart. */
const SYMBOL = /[\uf000-\uf0ff]/;
/** Characters of a font that do not come in the order of their codes by chance. */
const MIN_ORDERED = 8;

/** The character codes of one font so far. */
interface Seen {
  /** The highest code so far. */
  highest: number;
  /** How many characters. */
  distinct: number;
  /** Each character had a higher code than all before it. */
  ordered: boolean;
  readonly codes: Set<number>;
}

/** Looks at what a PDF draws, piece by piece. */
export class FontSigns {
  readonly #fonts = new Map<string, Seen>();
  #characters = 0;
  #unreadable = 0;
  #isCoded = false;

  add(text: string, font: string): void {
    const seen = this.#seenOf(font);
    for (let at = 0; at < text.length; at++) {
      const character = text.charAt(at);
      if (/\s/.test(character)) continue;
      this.#characters += 1;
      if (text.charCodeAt(at) < FIRST_PRINTABLE || PRIVATE.test(character)) {
        this.#unreadable += 1;
        this.#isCoded ||= !SYMBOL.test(character);
      }
      if (seen.ordered) note(seen, text.charCodeAt(at));
    }
  }

  /** Hardly any of the text can be read. */
  get areMost(): boolean {
    return this.#unreadable * 2 > this.#characters;
  }

  /** Some of the text stands for something else. */
  get areSome(): boolean {
    // A subset often numbers its glyphs in the order in which the text uses them first.
    const inOrder = ({ ordered, distinct }: Seen): boolean => ordered && distinct >= MIN_ORDERED;
    return this.#isCoded || [...this.#fonts.values()].some(inOrder);
  }

  #seenOf(font: string): Seen {
    const known = this.#fonts.get(font);
    if (known !== undefined) return known;
    const seen = { highest: 0, distinct: 0, ordered: true, codes: new Set<number>() };
    this.#fonts.set(font, seen);
    return seen;
  }
}

function note(seen: Seen, code: number): void {
  if (seen.codes.has(code)) return;
  seen.ordered = code > seen.highest;
  seen.codes.add(code);
  seen.highest = code;
  // Page numbers come in their order.
  if (code < 48 || code > 57) seen.distinct += 1;
}
