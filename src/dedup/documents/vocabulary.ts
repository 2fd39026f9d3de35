/** Names as small numbers, so that a column of names costs four bytes a row and a filter compares numbers. */

/** A growing set of names. Codes begin at 1; 0 is free for "none". Names stay until the store is opened again. */
export interface Vocabulary {
  /** The name's code, given now if it is new. */
  code(name: string): number;
  find(name: string): number | undefined;
  text(code: number): string;
  /** Codes of the names that fulfil a condition. */
  codes(keep: (name: string) => boolean): number[];
  all(): string[];
}

/** An empty vocabulary. */
export function createVocabulary(): Vocabulary {
  const codes = new Map<string, number>();
  const names: string[] = [""];
  return {
    code(name) {
      const known = codes.get(name);
      if (known !== undefined) return known;
      codes.set(name, names.length);
      return names.push(name) - 1;
    },
    find: (name) => codes.get(name),
    text: (code) => names[code] ?? "",
    codes: (keep) => names.flatMap((name, code) => (code > 0 && keep(name) ? [code] : [])),
    all: () => names.slice(1),
  };
}
