/** What an extractor gets and gives. */

/** The circumstances of one extraction. */
export interface Extraction {
  /** How much of the text is wanted, in UTF-16 units; more is cut off by the caller. */
  readonly units: number;
  /** False when the bytes are only the beginning of the file. */
  readonly whole: boolean;
  /** The name of the file promises this kind. */
  readonly named: boolean;
  /** True once the caller has gone; read once a page or chapter. */
  readonly cancelled: () => boolean;
}

/** A part of a file that is a file itself, such as the attachment of a mail. */
export interface Member {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The text of a file. */
export interface Extracted {
  readonly text: string;
  /** The text goes on in the file; also when `text` is longer than asked. */
  readonly truncated?: boolean;
  /** A reader sees more in the file than the text says: only a file of the same bytes is its copy. */
  readonly omits?: boolean;
  /** What tells it apart from another of the same text, such as sender and date of a mail. */
  readonly apart?: string;
  readonly title?: string | undefined;
  readonly createdDate?: string | undefined;
  readonly correspondent?: string | undefined;
  readonly notes?: readonly string[];
  readonly members?: readonly Member[];
  /** The bytes that stand in place of the file's: what a compressed file unpacks to. */
  readonly inner?: Uint8Array;
}

/** Bytes to text. Throws `Refusal` for what cannot be read. */
export type Extractor = (
  bytes: Uint8Array,
  extraction: Extraction,
) => Extracted | Promise<Extracted>;

/** Why a file gives no text. */
export class Refusal extends Error {
  /** Class for counting, e.g. "encrypted". */
  readonly reason: string;
  /** A person would want to know, unlike "other type". */
  readonly failure: boolean;

  /** `detail` continues a sentence that begins with the file's name. */
  constructor(reason: string, detail: string, failure = true) {
    super(detail);
    this.reason = reason;
    this.failure = failure;
  }
}
