/** The tasks that turn what archives hold into plain text. */
import type { TaskRow } from "../control.ts";
import type { DigestedTexts, DigestRequest } from "../text/digester.ts";
import type { FormatName } from "./formats.ts";
import type { LineFields, LineRecord } from "./record.ts";

/** Files to read in a worker. */
export interface ExtractInput {
  /** Absolute or relative to the working directory, which threads share. */
  readonly paths: readonly string[];
  /** How the texts are digested, and how much of each is kept. */
  readonly digest: DigestRequest;
  /**
   * A file that may cost a worker is read only alone, in a task with that format's deadline. In a
   * batch it comes back as `costly`.
   */
  readonly alone: boolean;
  /** Files within the file are not read, and this is said of each instead. */
  readonly leaveOut?: { readonly reason: string; readonly detail: string } | undefined;
}

/** Identifies one state of a file. */
export interface FileFacts {
  /** size:mtime in ns:inode. */
  readonly version: string;
  readonly modifiedDate: string;
  /** The same for all names of a file that has several (hard links); absent for any other. */
  readonly hardLink?: string;
}

/** A text found in a file. */
export interface ExtractedText {
  readonly kind: "text";
  /** Path of the member within the file, "" for the file itself. */
  readonly member: string;
  readonly title: string;
  /** The text goes on in the file. */
  readonly truncated: boolean;
  /** The file's bytes are this text in UTF-8 and nothing else: so many. */
  readonly storedBytes?: number;
  readonly createdDate?: string;
  readonly correspondent?: string;
  /** What was done to the text to read it. */
  readonly notes: readonly string[];
}

/** Something that is no document or cannot be read. */
export interface ExtractedNothing {
  readonly kind: "skipped";
  /** As of `ExtractedText`. */
  readonly member: string;
  /** Class for counting. */
  readonly reason: string;
  readonly detail: string;
  /** A person would want to know. */
  readonly failure: boolean;
}

/** What became of one file. */
export type ExtractedFile =
  /** The members first, the file itself last. */
  | {
      readonly kind: "read";
      readonly facts: FileFacts;
      readonly items: readonly (ExtractedText | ExtractedNothing)[];
    }
  /** To be read alone; not read yet. */
  | { readonly kind: "costly"; readonly format: FormatName }
  /** It was written to meanwhile. */
  | { readonly kind: "changed" }
  /** The system's code, e.g. EACCES. */
  | { readonly kind: "unreadable"; readonly code: string };

/** What became of the files, in order. */
export interface ExtractOutput {
  readonly files: readonly ExtractedFile[];
  /** One for each text of the files that were read, in their order. */
  readonly digests: DigestedTexts;
}

/** Files → documents. */
export const extractFiles: TaskRow<ExtractInput, ExtractOutput> = {
  name: "extract",
  file: new URL("./extract.ts", import.meta.url),
};

/** Whole lines of a JSON Lines file. */
export interface LinesInput {
  /** In shared memory: a thread that dies takes nothing with it. */
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  /** Number of the first line, from 1. */
  readonly firstLine: number;
  readonly fields: LineFields;
  /** How the texts are digested; without it only the fields are read. */
  readonly digest?: DigestRequest;
  /** The texts can be read again in their file. */
  readonly rereadable: boolean;
  /** Numbers of the lines that are wanted; all when absent. */
  readonly only?: readonly number[];
}

/** A line that is not blank. */
export type ReadLine =
  | {
      readonly number: number;
      /** Where it lies in the bytes. */
      readonly offset: number;
      readonly length: number;
      readonly record: Omit<LineRecord, "content">;
      /** SHA-256 of the line, in hexadecimal. */
      readonly version: string;
    }
  | {
      readonly number: number;
      readonly reason: "too large" | "broken line";
      /** The end of a sentence about the line. */
      readonly wrong: string;
    };

/** What the lines hold. */
export interface LinesOutput {
  readonly lines: readonly ReadLine[];
  /** One for each record, in their order. */
  readonly digests?: DigestedTexts;
}

/** Lines → documents. */
export const readLines: TaskRow<LinesInput, LinesOutput> = {
  name: "read-lines",
  file: new URL("./read-lines.ts", import.meta.url),
};

/** A block of a bzip2 file that begins `bit` bits into `bytes`. */
export interface Bzip2Block {
  readonly bytes: Uint8Array;
  readonly bit: number;
}

/** A block of bzip2 to its bytes, none when it is damaged. */
export const unpackBzip2Block: TaskRow<Bzip2Block, Uint8Array> = {
  name: "bzip2-block",
  file: new URL("./bzip2-block.ts", import.meta.url),
};
