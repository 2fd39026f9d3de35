/** The tasks that turn what archives hold into plain text. */
import type { TaskRow } from "../control.ts";
import type { FormatName } from "./formats.ts";

/** Files to read on a worker thread. */
export interface ExtractInput {
  /** Absolute or relative to the working directory, which threads share. */
  readonly paths: readonly string[];
  /** How much of a text to keep, in UTF-16 units. */
  readonly units: number;
  /**
   * A file that may cost a thread is read only alone, in a task with that format's deadline. In a
   * batch it comes back as `costly`.
   */
  readonly alone: boolean;
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
  readonly text: string;
  /** The text goes on in the file. */
  readonly truncated: boolean;
  /** Of a truncated text: SHA-256 of all that the file or member holds, in hexadecimal. */
  readonly beyond?: string;
  /** The file's bytes are this text in UTF-8 and nothing else. */
  readonly stored?: true;
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

/** Files → texts, in order. */
export const extractFiles: TaskRow<ExtractInput, readonly ExtractedFile[]> = {
  name: "extract",
  file: new URL("./extract.ts", import.meta.url),
};

/** One line of a JSON Lines file. */
export interface JsonLine {
  readonly bytes: Uint8Array;
  /** The fields that may hold the text. */
  readonly textFields: readonly string[];
  /** How much of each to keep, in UTF-16 units. */
  readonly units: number;
}

/**
 * The parsed line, with the SHA-256 in hexadecimal of what was cut off its text; or what is wrong
 * with it.
 */
export type JsonLineValue =
  | { readonly value: unknown; readonly beyond?: string }
  | { readonly error: string };

/** A large JSON line to its value. */
export const parseJsonLine: TaskRow<JsonLine, JsonLineValue> = {
  name: "json-line",
  file: new URL("./json-line.ts", import.meta.url),
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
