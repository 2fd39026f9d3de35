/**
 * What an archive is to the rest of the document service: something that can be checked and read
 * through, document by document.
 */
import type { Claim } from "./claims.ts";
import type { ArchiveDescription } from "./description.ts";
import type { ReadFigures } from "../paperless/figures/collectors.ts";
import type { PaperlessWriter } from "../paperless/writer.ts";
import type { DigestRequest } from "../../../workers/text/digester.ts";
import type { TextLocation } from "../../../workers/text/location.ts";

/** A stretch of a file that holds a text, and the state the file was in. */
export type DocumentLocation = Omit<TextLocation, "identity">;

/** A document as an archive gives it. Dates are the archive's own text, unchanged. */
export interface ArchiveDocument {
  readonly kind: "document";
  /**
   * What the archive calls it: a path below the folder with `/`, or the id of a line. At most
   * REF_BYTES.
   */
  readonly ref: string;
  /** Changes whenever anything about the document may have changed. */
  readonly version: string;
  /** Its line in JSON Lines, from 1. */
  readonly line?: number;
  readonly title: string;
  /** At most TEXT_UNITS of the document store are kept. */
  readonly text: string;
  /** The text goes on in its source: equal texts need not be equal documents. */
  readonly truncated?: boolean;
  /** The same for all names of one file; absent for a file that has one name. */
  readonly hardLink?: string;
  /**
   * Its file holds more than this document, as a mail with attachments does. So neither the file nor
   * what it holds can go by itself.
   */
  readonly sharesFile?: boolean;
  readonly createdDate?: string;
  readonly addedDate?: string;
  readonly modifiedDate?: string;
  readonly correspondent?: string;
  readonly documentType?: string;
  readonly tags: readonly string[];
  readonly paperlessId?: number;
  /** Pages of its file, where the archive counts them. */
  readonly pageCount?: number;
  /**
   * Of a document that is longer than `text`: SHA-256, in hexadecimal, of what makes it another one
   * than a document with the same beginning.
   */
  readonly beyond?: string;
  /** Where the text can be read again as it is; absent when it had to be unpacked or converted. */
  readonly location?: DocumentLocation;
  /** What was done to the text to read it, e.g. "read as windows-1252". */
  readonly notes: readonly string[];
}

/** Names that an archive gives to documents, and may change without changing any document. */
export interface DocumentLabels {
  readonly tags: readonly string[];
  readonly correspondent?: string;
  readonly documentType?: string;
}

/** A document that is there and has the version that is known. It was not read. */
export interface UnchangedDocument {
  readonly kind: "unchanged";
  readonly ref: string;
  /** The labels it has now, where the version does not cover them. */
  readonly labels?: DocumentLabels;
  /** The known documents below its ref are unchanged, too: it is a file that holds others. */
  readonly below?: true;
}

/** Which known documents may stand behind something that was skipped, and so are not gone. */
export type Hidden =
  /** None: whatever was known under this ref is no longer a document. */
  | "none"
  /** The one under this ref. */
  | "itself"
  /** Those whose refs begin with this one and a slash. */
  | "below"
  /** Any of the archive's. */
  | "any";

/** Something that is no document, or could not be read. */
export interface SkippedItem {
  readonly kind: "skipped";
  readonly ref: string;
  /** Class for counting, e.g. "other type". */
  readonly reason: string;
  /** What exactly, for a person; names no absolute path. */
  readonly detail: string;
  /** A person would want to know: unreadable, broken, unlike "other type". */
  readonly failure: boolean;
  readonly hides: Hidden;
}

/** What the pool finds out about a text. */
interface Digest {
  /** SHA-256 of the normalised text, and of what was cut off. */
  readonly hash: Uint8Array;
  readonly wordCount: number;
  /** The text under zstd; empty when it can be read again at its location. */
  readonly zstd: Uint8Array;
}

/** A document whose text was digested where it was read. */
export interface DigestedDocument {
  readonly kind: "digested";
  readonly document: Omit<ArchiveDocument, "text" | "beyond" | "kind">;
  readonly digest: Digest;
}

export type ArchiveItem = ArchiveDocument | DigestedDocument | UnchangedDocument | SkippedItem;

/**
 * A bounded number of items: of texts at most 128, and 4 MiB in memory unless a single document is
 * larger; of digested documents those of some files, or of 512 KiB of lines.
 */
export interface ArchiveBatch {
  readonly items: readonly ArchiveItem[];
  /** Signatures of the digested documents, when they were wanted. */
  readonly blocks?: readonly ArrayBuffer[];
  /** Share of the archive read so far, 0 to 1, as far as it can be known; never falls. */
  readonly fraction: number;
}

/** How to read an archive. */
export interface ReadOptions {
  /** Whether the document of this ref is known in this version, so that it need not be read. */
  readonly known: (ref: string, version: string) => boolean;
  /** Read even what is known. */
  readonly force: boolean;
  /** How texts are digested; by the archive itself where it reads them on the pool. */
  readonly digest: DigestRequest;
  /**
   * Whether this file is the archive's to read, and not one that the run reads under another path.
   * Asked once for each file, in the order of the archive; without it all are.
   */
  readonly claim?: Claim;
  readonly signal: AbortSignal;
}

/** A source of documents. */
export interface Archive {
  readonly name: string;
  /** `file` is a single file that was named by itself. */
  readonly kind: "folder" | "jsonl" | "paperless" | "file";
  /** How it signs in to its server; absent where nothing but files is read. */
  readonly credential?: "token" | "password";
  /**
   * Resolves when the archive can be read at all; throws StewardError otherwise. Cheap: it lists
   * nothing.
   */
  check(signal: AbortSignal): Promise<void>;
  /** What it says about itself, with its credential. Absent where nothing but files is read. */
  describe?(signal: AbortSignal): Promise<ArchiveDescription>;
  /** Figures of a Paperless-ngx for its metrics; absent elsewhere. */
  readonly figures?: ReadFigures;
  /**
   * Everything in it, in a stable order, no ref twice. What cannot be read becomes a skipped item;
   * throws only when the archive itself cannot be read to its end.
   */
  read(options: ReadOptions): AsyncIterable<ArchiveBatch>;
  /**
   * Which of these documents the archive still has. Given where a reading may miss a document while
   * others are deleted; asked before anything is removed. Throws as `read` does.
   */
  stillThere?(refs: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>>;
  /** Writes to a Paperless-ngx; absent where Steward does not change the archive. */
  readonly writer?: PaperlessWriter;
  /** Ends its connections; nothing is read afterwards. */
  close?(): Promise<void>;
}

const READ_ALREADY = "read already";

/** A skipped item that a person would want to know of. */
export function failed(ref: string, reason: string, detail: string, hides: Hidden): SkippedItem {
  return { kind: "skipped", ref, reason, detail, failure: true, hides };
}

/** A skipped item that is as expected, e.g. a picture among texts. */
export function passedOver(ref: string, reason: string, detail: string): SkippedItem {
  return { kind: "skipped", ref, reason, detail, failure: false, hides: "none" };
}

/**
 * What `claim` refused, where it was named by itself: a person would want to know why it is
 * missing.
 */
export function readAlready(ref: string): SkippedItem {
  return failed(ref, READ_ALREADY, "was already read for an earlier path", "itself");
}

/**
 * What `claim` refused, among others of a folder: it is only counted, as whole folders may overlap.
 */
export function readAlreadyBelow(ref: string): SkippedItem {
  return passedOver(ref, READ_ALREADY, "was already read under another path");
}
