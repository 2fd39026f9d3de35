/** The text of a document as tasks receive it, for who shows or writes it. */
import { storedText } from "../../workers/text/compress.ts";

/**
 * Decodes a text that is under zstd, plain, or at a location; empty when it is gone from there. Blocks
 * the thread for the read. Throws `corrupt` when it cannot be unpacked.
 */
export function readStoredText(bytes: Uint8Array): string {
  return Buffer.from(storedText(bytes)).toString("utf8");
}
