/** From the digests of a task to documents. */
import { itemOf } from "../../../workers/packed.ts";
import type { DigestedTexts, DigestRequest } from "../../../workers/text/digester.ts";
import { TEXT_BYTES, TEXT_UNITS } from "../documents/limits.ts";
import type { ArchiveDocument, DigestedDocument } from "./archive.ts";

/** How documents are digested, to be signed as well when `sign` is given. */
export function digestRequest(sign?: DigestRequest["sign"]): DigestRequest {
  return { limits: { units: TEXT_UNITS, bytes: TEXT_BYTES }, ...(sign && { sign }) };
}

/** The document with digest number `at`, marked when its text was cut. */
export function withDigest(
  document: DigestedDocument["document"],
  digests: DigestedTexts,
  at: number,
): DigestedDocument {
  const kept = digests.keptUnits[at] ?? 0;
  const digest = {
    hash: digests.hashes.subarray(at * 32, at * 32 + 32),
    wordCount: digests.wordCounts[at] ?? 0,
    zstd: itemOf(digests.zstd, at),
  };
  if (kept === 0) return { kind: "digested", document, digest };
  // At its location stands the whole text.
  const { location: _location, ...rest } = document;
  const notes = [...document.notes, noteOf(kept)];
  return { kind: "digested", document: { ...rest, truncated: true, notes }, digest };
}

// A pair of surrogates is not cut in two.
function noteOf(keptUnits: number): string {
  return keptUnits >= TEXT_UNITS - 1
    ? `truncated to ${TEXT_UNITS.toLocaleString("en")} characters`
    : `truncated to ${keptUnits} characters, because it cannot be compressed further`;
}

/** A document without its text. */
export function withoutText({
  kind: _kind,
  text: _text,
  beyond: _beyond,
  ...document
}: ArchiveDocument): DigestedDocument["document"] {
  return document;
}
