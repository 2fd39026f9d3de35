/** The stored proof that a document is in the version that its archive shows. */
import { createHash } from "node:crypto";

/** Raise it when documents are read differently, so that each is read again. */
const READING = 3;

/** SHA-256 over the archive's version of a document and the way it is read. */
export function fingerprintOf(version: string): Uint8Array {
  return createHash("sha256").update(`${READING}\0${version}`).digest();
}
