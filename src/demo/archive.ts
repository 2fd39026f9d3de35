/**
 * The demo's documents: invented, with planted copies, and the truth about them.
 */
import { assert } from "../kernel/base/errors.ts";
import { inventBills } from "./bills.ts";
import { editWords, misreadLetters } from "./copies.ts";
import { renderDocument, type DemoDocument, type Format } from "./document.ts";
import { inventInvoice } from "./invoices.ts";
import { inventLease } from "./leases.ts";
import { inventLetter } from "./letters.ts";
import { inventManual } from "./manuals.ts";
import { inventMinutes } from "./minutes.ts";
import { createRandom, type Random } from "./random.ts";

/** How a planted copy differs from its original. */
type CopyKind = "exact" | "edited" | "rescan";

/**
 * What is true of the archive. Paths are relative to it, with `/`. Documents that share no pair are
 * no duplicates.
 */
export interface DemoTruth {
  readonly files: readonly string[];
  readonly pairs: readonly { readonly a: string; readonly b: string; readonly kind: CopyKind }[];
  /** Monthly bills of one template, which must not be grouped with each other. */
  readonly siblings: readonly (readonly string[])[];
}

/** What to invent. */
export interface DemoOptions {
  /** Any whole number; the same seed gives the same bytes. */
  readonly seed: number;
  /** Approximate number of files, 40 to 10,000; default 260. */
  readonly documents?: number;
}

/** A document as a file of a folder. */
export interface DemoFile {
  readonly path: string;
  readonly title: string;
  readonly text: string;
  /** The text without the marks of the file's format. */
  readonly plain: string;
  readonly writtenAtMs: number;
}

const INVENTORS: readonly ((random: Random) => DemoDocument)[] = [
  inventLetter,
  inventMinutes,
  inventLease,
  inventManual,
  inventInvoice,
];
const MONTHS_BILLED = 12;

/** Invents the whole archive. Pure: nothing is read or written. */
export function inventArchive(options: DemoOptions): {
  readonly files: readonly DemoFile[];
  readonly truth: DemoTruth;
} {
  const total = options.documents ?? 260;
  assert(
    Number.isInteger(total) && total >= 40 && total <= 10_000,
    "the demo has 40 to 10,000 documents",
  );
  const random = createRandom(options.seed, "archive");
  const shelf = createShelf();
  const siblings = Array.from({ length: Math.max(1, Math.round(total / 52)) }, (_, index) =>
    inventBills(random.fork(`bills/${index}`), index, MONTHS_BILLED).map((bill) =>
      shelf.put(bill, "txt"),
    ),
  );
  const copies = Math.round(total * 0.16);
  const originals = Array.from(
    { length: total - copies - siblings.length * MONTHS_BILLED },
    (_, index) => {
      const own = random.fork(`document/${index}`);
      const document = own.pick(INVENTORS)(own);
      return { document, format: own.pick<Format>(["txt", "md", "html", "txt"]) };
    },
  ).map(({ document, format }) => ({ document, format, path: shelf.put(document, format) }));
  const pairs = plantCopies(originals, copies, random.fork("copies"), shelf);
  return {
    files: shelf.files,
    truth: { files: shelf.files.map((file) => file.path), pairs, siblings },
  };
}

interface Shelf {
  readonly files: readonly DemoFile[];
  /** Adds a file and returns its path; a taken name gets a number. */
  put(document: DemoDocument, format: Format): string;
}

function createShelf(): Shelf {
  const files: DemoFile[] = [];
  const taken = new Set<string>();
  return {
    files,
    put(document, format) {
      let path = `${document.folder}/${document.name}.${format}`;
      for (let again = 2; taken.has(path); again++)
        path = `${document.folder}/${document.name}-${again}.${format}`;
      taken.add(path);
      files.push({
        path,
        title: document.title,
        text: renderDocument(document, format),
        plain: renderDocument(document, "txt"),
        writtenAtMs: document.writtenAtMs,
      });
      return path;
    },
  };
}

interface Original {
  readonly document: DemoDocument;
  readonly format: Format;
  readonly path: string;
}

// A third of each kind. Every sixth copied document gets a second, exact copy, so that there are
// groups of three.
function plantCopies(
  originals: readonly Original[],
  count: number,
  random: Random,
  shelf: Shelf,
): DemoTruth["pairs"] {
  const kinds: readonly CopyKind[] = ["edited", "rescan", "exact"];
  const pairs: { a: string; b: string; kind: CopyKind }[] = [];
  let planted = 0;
  for (const [turn, original] of random.shuffle(originals).entries()) {
    if (planted >= count) break;
    const kind = kinds[turn % kinds.length] ?? "exact";
    const copy = plantCopy(original, kind, ++planted, random, shelf);
    pairs.push({ a: original.path, b: copy, kind });
    if (turn % 6 !== 0 || planted >= count) continue;
    const twin = plantCopy(original, "exact", ++planted, random, shelf);
    pairs.push({ a: original.path, b: twin, kind: "exact" }, { a: copy, b: twin, kind });
  }
  assert(planted === count, "there are more originals than copies");
  return pairs;
}

function plantCopy(
  original: Original,
  kind: CopyKind,
  index: number,
  random: Random,
  shelf: Shelf,
): string {
  const { document } = original;
  switch (kind) {
    case "exact":
      return shelf.put(
        { ...document, folder: "downloads", name: `${document.name}-copy` },
        original.format,
      );
    case "edited":
      return shelf.put(
        {
          ...editWords(document, random.integer(2, 5), random),
          name: `${document.name}-${random.pick(["final", "draft", "new", "v2"])}`,
        },
        original.format,
      );
    case "rescan":
      return shelf.put(
        {
          ...misreadLetters(document, random),
          folder: "scans",
          name: `scan-${String(index).padStart(4, "0")}`,
        },
        "txt",
      );
  }
}
