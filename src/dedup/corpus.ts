/**
 * Documents that live only for one run: read from archives, their texts packed or left where they
 * can be read again, with what was left out and why.
 */
import { join } from "node:path";
import type { Pool } from "../kernel/pool/types.ts";
import { writeLocation } from "../../workers/text/location.ts";
import { createClassifier } from "./analysis/outcome.ts";
import type { Classifier, ReportableDocument, SkipReasons, TextClass } from "./analysis/outcome.ts";
import { parametersFingerprint, signatureParametersOf } from "./analysis/parameters.ts";
import type { AnalysisParameters } from "./analysis/parameters.ts";
import type {
  Archive,
  DigestedDocument,
  DocumentLocation,
  SkippedItem,
} from "./archives/archive.ts";
import { createClaims } from "./archives/claims.ts";
import { digestRequest } from "./archives/digests.ts";
import type { KeptText, KeptTexts } from "./kept-texts.ts";
import { readDigested } from "./sync/digest.ts";

/** Notes kept, each naming one thing; the rest is counted in `skipped`. */
const MAX_NOTES = 1_000;

/** Skipped items that are listed by name, each some hundred bytes. */
const MAX_LISTED = 1_000_000;

/** A file or line that was left out. */
interface LeftOut {
  readonly id: string;
  readonly reason: string;
  readonly detail: string;
}

/** What to read. */
export interface CorpusInput {
  readonly archives: readonly Archive[];
  /**
   * What each archive was called on the command line; the documents of a folder are named below it.
   */
  readonly paths: readonly string[];
  readonly parameters: AnalysisParameters;
  /** Holds the texts that cannot be read again; must be open as long as the corpus is used. */
  readonly texts: KeptTexts;
  /** Takes blocks of signatures; without it the texts are not signed yet. */
  readonly signed?: (block: ArrayBuffer) => Promise<unknown>;
  readonly pool: Pool;
  readonly signal: AbortSignal;
  /** Keep the name of everything that is left out. */
  readonly listSkipped?: boolean;
  /** Keep the version of every document, so that `source` is complete. */
  readonly keepVersions?: boolean;
  /** Share read so far, 0 to 1, and documents read. */
  progress(fraction: number, documents: number): void;
}

/** Where a document was read. */
export interface DocumentSource {
  readonly kind: Archive["kind"];
  /** The PATH of the command line; `-` for standard input. */
  readonly path: string;
  /** What the archive of that path calls the document. */
  readonly ref: string;
  /** As of `ArchiveDocument`; empty unless versions are kept. */
  readonly version: string;
  /** In JSON Lines, from 1. */
  readonly line: number | undefined;
  /** As of `ArchiveDocument`. */
  readonly sharesFile: boolean;
}

/** Documents by number, in the order they were read. */
export interface Corpus {
  readonly size: number;
  readonly classifier: Classifier;
  document(number: number): ReportableDocument;
  /**
   * The text for a task, under zstd or as a location; undefined for a number that is not there.
   */
  text(number: number): Uint8Array | undefined;
  /** SHA-256 of the normalised text; undefined for a document that is not compared. */
  textHash(number: number): Uint8Array | undefined;
  source(number: number): DocumentSource | undefined;
  /** What was left out, by reason in words. */
  skipped(
    parameters: Pick<AnalysisParameters, "minWords" | "ngramSize">,
  ): Readonly<Record<string, number>>;
  /** One line each, naming what a person would want to know. */
  readonly notes: readonly string[];
  /** What was left out by name, in the order in which it was found; empty unless it was asked for. */
  readonly leftOut: readonly LeftOut[];
}

interface Held {
  readonly document: ReportableDocument;
  /** Under zstd and kept, or where it can be read again. */
  readonly text: KeptText | DocumentLocation;
  /** Undefined when the document is left out. */
  readonly textClass: TextClass | undefined;
  /** Place of its archive among all. */
  readonly archive: number;
  readonly ref: string;
  readonly version: string;
  readonly line: number | undefined;
  readonly sharesFile: boolean;
}

/** Reads every archive to its end. Throws when one cannot be read at all. */
export async function readCorpus(input: CorpusInput): Promise<Corpus> {
  const held: Held[] = [];
  const classifier = createClassifier(input.parameters);
  const passed: Record<string, number> = {};
  const notes: string[] = [];
  const note = (text: string): void => {
    if (notes.length < MAX_NOTES) notes.push(text);
  };
  const leftOut: LeftOut[] = [];
  const list = (item: LeftOut): void => {
    if (input.listSkipped === true && leftOut.length < MAX_LISTED) leftOut.push(item);
  };
  const words = describeReasons(input.parameters);
  const options = {
    known: () => false,
    force: true,
    signal: input.signal,
    claim: createClaims({ byPath: input.archives.length > 1 }),
    digest: digestRequest(
      input.signed && {
        parameters: signatureParametersOf(input.parameters),
        fingerprint: parametersFingerprint(input.parameters),
      },
    ),
  };
  const lists = input.paths.filter((_, at) => input.archives[at]?.kind === "jsonl");
  const hasSeveralLists = new Set(lists).size > 1;
  for (const [at, archive] of input.archives.entries()) {
    const name = nameIn(archive, input.paths[at] ?? archive.name, hasSeveralLists);
    await archive.check(input.signal);
    for await (const batch of readDigested(archive, input.pool, options)) {
      const { items, fraction, blocks } = batch;
      for (const block of blocks) await input.signed?.(block);
      for (const item of items) {
        if (item.kind === "skipped") {
          skip(item, name, passed, note);
          list({ id: name(item.ref), reason: item.reason, detail: item.detail });
        } else if (item.kind === "digested") {
          const version = input.keepVersions === true ? item.document.version : "";
          const text = textOf(item, input.texts);
          const reason = add(item, { name, archive: at, version, text }, held, classifier, note);
          if (reason !== undefined)
            list({ id: name(item.document.ref), reason: words[reason], detail: words[reason] });
        }
      }
      await input.texts.flush();
      input.progress((at + fraction) / input.archives.length, held.length);
    }
  }
  return {
    classifier,
    notes,
    leftOut,
    get size() {
      return held.length;
    },
    document: (number) =>
      held[number]?.document ?? { archive: "", archiveRef: "", ref: "", title: "", wordCount: 0 },
    text: (number) => readText(held[number], input.texts),
    textHash: (number) => held[number]?.textClass?.hash,
    source(number) {
      const one = held[number];
      const archive = one && input.archives[one.archive];
      if (!archive) return undefined;
      const path = input.paths[one.archive] ?? archive.name;
      const { ref, version, line, sharesFile } = one;
      return { kind: archive.kind, path, ref, version, line, sharesFile };
    },
    skipped: (parameters) => {
      const { noContent, tooShort, shinglesFailed } = describeReasons(parameters);
      return withoutZeros({
        ...passed,
        [noContent]: classifier.skipped.noContent,
        [tooShort]: classifier.skipped.tooShort,
        [shinglesFailed]: classifier.skipped.shinglesFailed,
      });
    },
  };
}

function describeReasons({
  minWords,
  ngramSize,
}: Pick<AnalysisParameters, "minWords" | "ngramSize">): Record<keyof SkipReasons, string> {
  return {
    noContent: "without text",
    tooShort: `of fewer than ${minWords} words`,
    shinglesFailed: `of fewer than ${ngramSize} words, too few for a phrase`,
  };
}

function textOf({ document, digest }: DigestedDocument, texts: KeptTexts): Held["text"] {
  return digest.zstd.length === 0 && document.location ? document.location : texts.put(digest.zstd);
}

function readText(held: Held | undefined, texts: KeptTexts): Uint8Array | undefined {
  if (!held) return undefined;
  if (!("path" in held.text)) return texts.get(held.text);
  const identity = Buffer.from(held.textClass?.hash ?? new Uint8Array()).toString("hex");
  return writeLocation({ ...held.text, identity });
}

/**
 * A file is known by its path as a person would type it, a line by its id: behind the path where
 * several files of lines are read, since their ids, or numbers of lines, may be the same.
 */
function nameIn(
  { kind }: Pick<Archive, "kind">,
  path: string,
  hasSeveralLists: boolean,
): (ref: string) => string {
  if (kind === "folder") return (ref) => join(path, ref);
  return kind === "jsonl" && hasSeveralLists ? (ref) => `${path}:${ref}` : (ref) => ref;
}

function add(
  { document, digest }: DigestedDocument,
  {
    name,
    archive,
    version,
    text,
  }: Pick<Held, "archive" | "version" | "text"> & { readonly name: (ref: string) => string },
  held: Held[],
  classifier: Classifier,
  note: (text: string) => void,
): keyof SkipReasons | undefined {
  const ref = name(document.ref);
  for (const remark of document.notes) note(`${ref}: ${remark}`);
  const added = classifier.add(held.length, digest);
  const {
    title,
    correspondent,
    documentType,
    tags,
    createdDate,
    addedDate,
    modifiedDate,
    paperlessId,
  } = document;
  held.push({
    text,
    textClass: typeof added === "string" ? undefined : added,
    archive,
    ref: document.ref,
    version,
    line: document.line,
    sharesFile: document.sharesFile === true,
    document: {
      archive: "",
      archiveRef: ref,
      ref,
      title: title === document.ref ? ref : title,
      wordCount: digest.wordCount,
      correspondent,
      documentType,
      tags,
      createdDate,
      addedDate,
      modifiedDate,
      paperlessId,
      truncated: document.truncated,
      hardLink: document.hardLink,
    },
  });
  return typeof added === "string" ? added : undefined;
}

function skip(
  item: SkippedItem,
  name: (ref: string) => string,
  passed: Record<string, number>,
  note: (text: string) => void,
): void {
  passed[item.reason] = (passed[item.reason] ?? 0) + 1;
  if (item.failure) note(`${name(item.ref)}: ${item.detail}`);
}

function withoutZeros(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
