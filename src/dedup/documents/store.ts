/**
 * Documents and their texts. Rows live in one environment, texts in another; a text is written
 * before the row that points to it, and is only believed when its content hash is the row's.
 */
import { promisify } from "node:util";
import { zstdDecompress } from "node:zlib";
import { create } from "@bufbuild/protobuf";
import { TextRowSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { boundedBatches } from "../../kernel/base/batches.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Env, Tx } from "../../kernel/state/types.ts";
import { documents, texts } from "../tables.ts";
import { createDocumentIndex } from "./index.ts";
import type { DocumentIndex } from "./index.ts";
import { TEXT_UNITS } from "./limits.ts";

const unpack = promisify(zstdDecompress);

/** The most compressed text written in one transaction, unless a single one is larger. */
const TEXT_BATCH_BYTES = 512 * 1024;

/** The most bytes a text can unpack to: three a unit. */
const UNPACKED_BYTES = 3 * TEXT_UNITS + 16;

/** A text as it is stored. */
export interface StoredText {
  readonly docNo: number;
  /** SHA-256 of the normalised text. */
  readonly contentHash: Uint8Array;
  /** The full text, zstd. */
  readonly zstd: Uint8Array;
}

/** Refs of an archive whose documents were removed since this was created; the first 10,000. */
export interface RemovedRefs extends Disposable {
  has(ref: string): boolean;
}

const MAX_REMOVED_REFS = 10_000;

/** Reads and writes documents. */
export interface DocumentStore {
  readonly index: DocumentIndex;
  row(docNo: number): DocumentRow | undefined;
  byId(id: string): DocumentRow | undefined;
  byRef(archive: string, ref: string): DocumentRow | undefined;
  /**
   * The compressed text that belongs to a row as it stands; undefined when there is none or it is
   * just being replaced.
   */
  text(row: Pick<DocumentRow, "docNo" | "contentHash">): Uint8Array | undefined;
  /**
   * The full text, at most TEXT_UNITS. Unpacked off the main thread. Throws `corrupt` when it
   * cannot be unpacked.
   */
  fullText(row: Pick<DocumentRow, "docNo" | "contentHash">): Promise<string | undefined>;
  /** Writes a row; the list follows once it is durable. */
  put(tx: Tx, row: DocumentRow): void;
  /**
   * Removes a row; the list follows once that is durable. The text is removed by `dropTexts`
   * afterwards.
   */
  remove(tx: Tx, docNo: number): void;
  /** Holds what is removed from an archive until it is disposed. */
  watchRemovals(archive: string): RemovedRefs;
  /**
   * Stores texts in bounded transactions, a few megabytes at a time; resolves when all are durable.
   */
  putTexts(rows: readonly StoredText[]): Promise<void>;
  /** Forgets the texts of documents whose rows are gone. */
  dropTexts(docNos: readonly number[]): Promise<void>;
}

export interface DocumentStoreDeps {
  /** Holds the table `documents`. */
  readonly env: Env;
  /** Holds the table `texts`. */
  readonly textEnv: Env;
  /** Removes, in the same write, what belongs to a document that is removed. */
  readonly removed?: (tx: Tx, docNo: number) => void;
}

/**
 * Opens the store: reads every row once to fill the list, giving way to other work between slices.
 */
export async function openDocumentStore(
  deps: DocumentStoreDeps,
  options: { readonly archiveOrder: readonly string[]; readonly signal: AbortSignal },
): Promise<DocumentStore> {
  const index = createDocumentIndex(options.archiveOrder);
  await deps.env.scan(
    documents,
    (batch) => {
      for (const [, row] of batch) index.put(row);
    },
    { sliceMs: 5, signal: options.signal },
  );
  return createDocumentStore(deps, index);
}

function createDocumentStore(
  { env, textEnv, removed }: DocumentStoreDeps,
  index: DocumentIndex,
): DocumentStore {
  const byIndex = (name: string, parts: readonly string[]): DocumentRow | undefined =>
    env.read((snapshot) => {
      const [docNo] = snapshot.find(documents, name, parts);
      return docNo === undefined ? undefined : snapshot.get(documents, docNo);
    });
  const text: DocumentStore["text"] = (row) => {
    if (row.contentHash.length === 0) return undefined;
    const stored = textEnv.read((snapshot) => snapshot.get(texts, row.docNo));
    return stored !== undefined && Buffer.compare(stored.contentHash, row.contentHash) === 0
      ? stored.zstd
      : undefined;
  };
  const watched = new Map<Set<string>, string>();
  return {
    index,
    row: (docNo) => env.read((snapshot) => snapshot.get(documents, docNo)),
    byId: (id) => byIndex("id", [id]),
    byRef: (archive, ref) => byIndex("ref", [archive, ref]),
    text,
    async fullText(row) {
      const packed = text(row);
      return packed === undefined ? undefined : await unpackText(packed);
    },
    put(tx, row) {
      tx.put(documents, row.docNo, row);
      tx.after(() => index.put(row));
    },
    remove(tx, docNo) {
      const row = watched.size > 0 ? tx.get(documents, docNo) : undefined;
      tx.delete(documents, docNo);
      removed?.(tx, docNo);
      tx.after(() => {
        index.remove(docNo);
        for (const [refs, archive] of watched)
          if (row?.archive === archive && refs.size < MAX_REMOVED_REFS) refs.add(row.archiveRef);
      });
    },
    watchRemovals(archive) {
      const refs = new Set<string>();
      watched.set(refs, archive);
      return {
        has: (ref) => refs.has(ref),
        [Symbol.dispose]: () => void watched.delete(refs),
      };
    },
    putTexts: (rows) => putTexts(textEnv, rows),
    dropTexts: (docNos) => dropTexts(textEnv, docNos),
  };
}

async function unpackText(packed: Uint8Array): Promise<string> {
  try {
    return (await unpack(packed, { maxOutputLength: UNPACKED_BYTES })).toString("utf8");
  } catch (cause) {
    throw new StewardError(
      "corrupt",
      "a stored text cannot be unpacked; a sync with force stores it again",
      { cause },
    );
  }
}

async function putTexts(env: Env, rows: readonly StoredText[]): Promise<void> {
  // All at once: the environment keeps their order and flushes several together.
  await Promise.all(
    [...boundedBatches(rows, [TEXT_BATCH_BYTES], ({ zstd }) => [zstd.byteLength])].map((batch) =>
      env.write((tx) => {
        for (const { docNo, contentHash, zstd } of batch)
          tx.put(texts, docNo, create(TextRowSchema, { contentHash, zstd }));
      }),
    ),
  );
}

async function dropTexts(env: Env, docNos: readonly number[]): Promise<void> {
  for (let at = 0; at < docNos.length; at += 256) {
    await env.write((tx) => {
      for (const docNo of docNos.slice(at, at + 256)) tx.delete(texts, docNo);
    });
  }
}
