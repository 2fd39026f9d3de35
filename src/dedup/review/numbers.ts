/**
 * Numbers of documents: those of the run, and those under which the store of decisions knows them.
 * A document gets its lasting number when something is first decided about it.
 */
import { createHash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { DocumentRowSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Env, Tx } from "../../kernel/state/types.ts";
import type { Corpus } from "../corpus.ts";
import type { SliceOptions } from "../groups/steps.ts";
import { createPause } from "../groups/steps.ts";
import { metaNumber, setMetaNumber } from "../meta.ts";
import { documents } from "../tables.ts";
import { createIdentities, identityKey } from "./identity.ts";

/** The number that stands for a document without a lasting one; no decision knows it. */
const NO_NUMBER = 0;

/** Rows written in one transaction: a row has at most about 2 KiB. */
const ROWS_AT_ONCE = 128;

export type ReviewedCorpus = Pick<Corpus, "size" | "document" | "source" | "textHash">;

/** Both kinds of numbers for one run. */
export interface Numbers {
  /** The lasting number of a document of the run. */
  readonly lasting: (document: number) => number;
  /** The document of the run that has a lasting number; undefined when the run has not read it. */
  readonly document: (docNo: number) => number | undefined;
  /** Hash of the text that a document has in the run, by its lasting number. */
  readonly textHash: (docNo: number) => Uint8Array | undefined;
  /** Gives documents lasting numbers and stores their present texts' hashes, durably. */
  keep(own: readonly number[]): Promise<void>;
}

/** Looks up which documents of the run the store knows. Reads the store once, in slices. */
export async function loadNumbers(
  env: Env,
  corpus: ReviewedCorpus,
  slices: SliceOptions,
): Promise<Numbers> {
  const stored = new Map<string, number>();
  await env.scan(
    documents,
    (batch) => {
      for (const [docNo, { archive, archiveRef: ref }] of batch)
        stored.set(identityKey({ archive, ref }), docNo);
    },
    { sliceMs: slices.sliceMs ?? 5, signal: slices.signal },
  );
  const identityOf = createIdentities();
  const lasting = new Map<number, number>();
  const ofRun = new Map<number, number>();
  const connect = (document: number, docNo: number): void => {
    lasting.set(document, docNo);
    ofRun.set(docNo, document);
  };
  const pause = createPause(slices);
  if (stored.size > 0)
    for (let number = 0; number < corpus.size; number += 1) {
      const source = corpus.source(number);
      const docNo = source && stored.get(identityKey(identityOf(source)));
      if (docNo !== undefined) connect(number, docNo);
      if (number % 256 === 255) await pause();
    }

  function put(tx: Tx, number: number): void {
    const source = corpus.source(number);
    if (!source) return;
    const { archive, ref } = identityOf(source);
    const docNo = lasting.get(number) ?? metaNumber(tx, "nextDocNo") ?? 1;
    if (!lasting.has(number)) setMetaNumber(tx, "nextDocNo", docNo + 1);
    const row = rowOf({ archive, archiveRef: ref, docNo }, number, corpus);
    tx.put(documents, docNo, row);
    tx.after(() => connect(number, docNo));
  }

  return {
    lasting: (number) => lasting.get(number) ?? NO_NUMBER,
    document: (docNo) => ofRun.get(docNo),
    textHash(docNo) {
      const number = ofRun.get(docNo);
      return number === undefined ? undefined : corpus.textHash(number);
    },
    async keep(own) {
      for (let at = 0; at < own.length; at += ROWS_AT_ONCE)
        await env.write((tx) => {
          for (const number of own.slice(at, at + ROWS_AT_ONCE)) put(tx, number);
        });
    },
  };
}

function rowOf(
  { archive, archiveRef, docNo }: Pick<DocumentRow, "archive" | "archiveRef" | "docNo">,
  number: number,
  corpus: ReviewedCorpus,
): DocumentRow {
  const { title, wordCount, truncated = false } = corpus.document(number);
  return create(DocumentRowSchema, {
    docNo,
    id: createHash("sha256").update(`${archive}\0${archiveRef}`).digest("base64url").slice(0, 21),
    archive,
    archiveRef,
    title,
    wordCount,
    truncated,
    contentHash: corpus.textHash(number) ?? new Uint8Array(),
  });
}
