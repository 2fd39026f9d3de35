/**
 * What a reading of an archive has shown to be still there: a bit a document, and the refs behind
 * which more may hide.
 */
import type { SkippedItem } from "../archives/archive.ts";

/** Documents seen in one archive. */
export interface Seen {
  add(docNo: number): void;
  /** Remembers what a skipped item may hide. */
  hide(item: SkippedItem): void;
  /** The documents below this ref are there, although they were not seen. */
  hideBelow(ref: string): void;
  /**
   * Whether a document that was not seen may still be there, behind something that could not be
   * read.
   */
  hidden(ref: string): boolean;
  has(docNo: number): boolean;
  readonly size: number;
  /** How many items could hide any document at all. */
  readonly anywhere: number;
  readonly hidesSomething: boolean;
}

/** Nothing seen yet. Memory: a bit for each document number, a string for each unreadable ref. */
export function createSeen(): Seen {
  let bits = new Uint8Array(1_024);
  const themselves = new Set<string>();
  const folders = new Set<string>();
  let size = 0;
  let anywhere = 0;
  const hideBelow = (ref: string): void => {
    themselves.add(ref);
    folders.add(ref);
  };
  const has = (docNo: number): boolean => ((bits[docNo >>> 3] ?? 0) & (1 << (docNo & 7))) !== 0;
  return {
    add(docNo) {
      if (has(docNo)) return;
      const at = docNo >>> 3;
      if (at >= bits.length) {
        const grown = new Uint8Array(Math.max(at + 1, bits.length * 2));
        grown.set(bits);
        bits = grown;
      }
      bits[at] = (bits[at] ?? 0) | (1 << (docNo & 7));
      size += 1;
    },
    hide({ ref, hides }) {
      if (hides === "any") anywhere += 1;
      if (hides === "itself") themselves.add(ref);
      if (hides === "below") hideBelow(ref);
    },
    hideBelow,
    hidden: (ref) =>
      themselves.has(ref) || [...prefixesOf(ref)].some((folder) => folders.has(folder)),
    has,
    get size() {
      return size;
    },
    get anywhere() {
      return anywhere;
    },
    get hidesSomething() {
      return anywhere > 0 || themselves.size > 0;
    },
  };
}

function* prefixesOf(ref: string): Generator<string> {
  for (let at = ref.indexOf("/"); at >= 0; at = ref.indexOf("/", at + 1)) yield ref.slice(0, at);
}
