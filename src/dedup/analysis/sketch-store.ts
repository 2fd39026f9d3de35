/**
 * Storage of finished blocks between analyses, of signatures, verdicts and joins: in memory, or
 * in an environment that can be rebuilt.
 */
import { StewardError } from "../../kernel/base/errors.ts";
import { numberKey, tupleKey } from "../../kernel/state/keys.ts";
import { defineTable } from "../../kernel/state/table.ts";
import type { AnyTable, Env, Snapshot, Table } from "../../kernel/state/types.ts";
import { bytesCodec } from "../../kernel/state/values.ts";
import { readBlock } from "../../../workers/block.ts";
import { fingerprintOfJoin } from "./join-block.ts";
import { fingerprintOfVerdicts } from "./verdict-block.ts";

/** A stored block. Its id is never used again. */
interface StoredBlock {
  readonly id: number;
  readonly buffer: ArrayBuffer;
}

/** Blocks by id. One analysis at a time uses it. */
export interface SketchStore {
  /** Whether blocks stay for another analysis, so that it pays to keep them dense. */
  readonly lasting: boolean;
  /**
   * Every whole block made with these parameters, oldest first; all others are deleted on the way.
   */
  load(fingerprint: Uint8Array): AsyncIterable<StoredBlock>;
  /** Every whole block, also beside an analysis: deletes nothing and leaves out what is damaged. */
  peek(): AsyncIterable<ArrayBuffer>;
  /** One block. Throws `not_found` or `corrupt`. */
  read(id: number): Promise<ArrayBuffer>;
  /** Resolves with the id when the block is durable. */
  save(buffer: ArrayBuffer): Promise<number>;
  drop(ids: readonly number[]): Promise<void>;
}

/**
 * A store that ends with the process. Its blocks are the very buffers given; with `once` a block is
 * forgotten when it was loaded, so that signatures are in memory once.
 */
export function createMemorySketchStore({ once = false } = {}): SketchStore {
  const blocks = new Map<number, ArrayBuffer>();
  let last = 0;
  return {
    lasting: !once,
    async *load(fingerprint) {
      for (const [id, buffer] of blocks) {
        const known = isMadeWith(signatures, buffer, fingerprint);
        if (once || !known) blocks.delete(id);
        if (known) yield { id, buffer };
      }
    },
    async *peek() {
      yield* blocks.values();
    },
    read: async (id) => await Promise.resolve(blocks.get(id) ?? missing(id)),
    save(buffer) {
      last += 1;
      blocks.set(last, buffer);
      return Promise.resolve(last);
    },
    drop(ids) {
      for (const id of ids) blocks.delete(id);
      return Promise.resolve();
    },
  };
}

/** A write stays well below the 1 MiB that an environment takes. */
const PART_BYTES = 512 * 1_024;
/** More than 5,000,000 texts need. */
const MAX_BLOCKS = 1_000_000;

/** The tables of one kind of block, and how to tell with which parameters one was made. */
interface BlockKind {
  /** Length in bytes of a block, by id; there only when all its parts are. */
  readonly heads: Table<number, Uint8Array>;
  /** Bytes of blocks by (id, part). */
  readonly parts: Table<[number, number], Uint8Array>;
  /** Throws for what is no block of this kind. */
  fingerprintOf(buffer: ArrayBuffer): Uint8Array;
}

function blockKind(name: string, fingerprintOf: BlockKind["fingerprintOf"]): BlockKind {
  return {
    heads: defineTable({
      name: `${name}_heads`,
      key: numberKey,
      value: bytesCodec,
      limit: { rows: MAX_BLOCKS },
    }),
    parts: defineTable({
      name: `${name}_parts`,
      key: tupleKey<[number, number]>(),
      value: bytesCodec,
      limit: { rows: MAX_BLOCKS * 16 },
    }),
    fingerprintOf,
  };
}

const signatures = blockKind("block", (buffer) => readBlock(buffer).fingerprint);
const verdicts = blockKind("verdict", fingerprintOfVerdicts);
const joins = blockKind("join", fingerprintOfJoin);

/** The tables of the environment `dedup-sketch`, which is derived. */
export const sketchTables: readonly AnyTable[] = [
  signatures.heads,
  signatures.parts,
  verdicts.heads,
  verdicts.parts,
  joins.heads,
  joins.parts,
];

/** Raised with the shape of these tables; what a block looks like has a version of its own. */
export const SKETCH_SCHEMA = 2;

/** The store of signatures in an open environment with `sketchTables`. */
export function createEnvSketchStore(env: Env): SketchStore {
  return createBlockStore(env, signatures);
}

/** The store of verdicts in the same environment. */
export function createEnvVerdictStore(env: Env): SketchStore {
  return createBlockStore(env, verdicts);
}

/** The store of the record of the last join in the same environment. */
export function createEnvJoinStore(env: Env): SketchStore {
  return createBlockStore(env, joins);
}

/** A block is its parts, then its head: without the head it never was. */
function createBlockStore(env: Env, kind: BlockKind): SketchStore {
  const { heads: blockHeads, parts: blockParts } = kind;
  let last: number | undefined;

  async function read(id: number): Promise<ArrayBuffer> {
    return env.read((snapshot) => assemble(snapshot, kind, id));
  }

  async function drop(ids: readonly number[]): Promise<void> {
    for (const id of ids) {
      await env.write((tx) => {
        tx.delete(blockHeads, id);
        for (const key of partKeys(tx, kind, id)) tx.delete(blockParts, key);
      });
    }
  }

  return {
    lasting: true,
    read,
    drop,
    async *peek() {
      for (const id of env.read((snapshot) =>
        [...snapshot.range(blockHeads)].map(([key]) => key),
      )) {
        const buffer = await read(id).catch(() => undefined);
        if (buffer !== undefined) yield buffer;
      }
    },
    async *load(fingerprint) {
      await drop(env.read((snapshot) => headless(snapshot, kind)));
      for (const id of env.read((snapshot) =>
        [...snapshot.range(blockHeads)].map(([key]) => key),
      )) {
        const buffer = await read(id).catch((error: unknown) => unlessCorrupt(error));
        if (buffer && isMadeWith(kind, buffer, fingerprint)) yield { id, buffer };
        else await drop([id]);
      }
    },
    async save(buffer) {
      last = (last ?? env.read((snapshot) => lastId(snapshot, kind))) + 1;
      const id = last;
      for (let part = 0; part * PART_BYTES < buffer.byteLength; part += 1) {
        const at = part * PART_BYTES;
        await env.write((tx) =>
          tx.put(
            blockParts,
            [id, part],
            new Uint8Array(buffer, at, Math.min(PART_BYTES, buffer.byteLength - at)),
          ),
        );
      }
      await env.write((tx) =>
        tx.put(blockHeads, id, new Uint8Array(Uint32Array.of(buffer.byteLength).buffer)),
      );
      return id;
    },
  };
}

function isMadeWith(kind: BlockKind, buffer: ArrayBuffer, fingerprint: Uint8Array): boolean {
  try {
    return Buffer.compare(kind.fingerprintOf(buffer), fingerprint) === 0;
  } catch {
    // A block that cannot be read is one that has to be made again, like one made with other
    // parameters.
    return false;
  }
}

function assemble(snapshot: Snapshot, kind: BlockKind, id: number): ArrayBuffer {
  const head = snapshot.get(kind.heads, id) ?? missing(id);
  const length = new DataView(head.buffer, head.byteOffset, head.byteLength).getUint32(0, true);
  // Most blocks have one part, which is a copy already.
  const only = length <= PART_BYTES ? snapshot.get(kind.parts, [id, 0]) : undefined;
  if (only?.length === length) return ownBuffer(only);
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const [, part] of snapshot.range(kind.parts, { prefix: [id] })) {
    if (at + part.length > bytes.length)
      throw new StewardError("corrupt", `block ${id} is longer than its head says`);
    bytes.set(part, at);
    at += part.length;
  }
  if (at !== bytes.length)
    throw new StewardError("corrupt", `block ${id} is shorter than its head says`);
  return bytes.buffer;
}

/** The buffer of bytes that are all of it. */
function ownBuffer(bytes: Uint8Array): ArrayBuffer {
  const { buffer } = bytes;
  return buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length
    ? buffer
    : new Uint8Array(bytes).buffer;
}

/** Ids of parts that a crash left without a head. */
function headless(snapshot: Snapshot, kind: BlockKind): number[] {
  const ids = new Set<number>();
  for (const [[id]] of snapshot.range(kind.parts, { start: [lastHead(snapshot, kind) + 1] }))
    ids.add(id);
  return [...ids];
}

function lastHead(snapshot: Snapshot, kind: BlockKind): number {
  for (const [id] of snapshot.range(kind.heads, { reverse: true, limit: 1 })) return id;
  return 0;
}

function lastId(snapshot: Snapshot, kind: BlockKind): number {
  for (const [[id]] of snapshot.range(kind.parts, { reverse: true, limit: 1 }))
    return Math.max(id, lastHead(snapshot, kind));
  return lastHead(snapshot, kind);
}

function partKeys(snapshot: Snapshot, kind: BlockKind, id: number): [number, number][] {
  return [...snapshot.range(kind.parts, { prefix: [id] })].map(([key]) => key);
}

function unlessCorrupt(error: unknown): undefined {
  if (error instanceof StewardError && error.code === "corrupt") return undefined;
  throw error;
}

function missing(id: number): never {
  throw new StewardError("not_found", `there is no block ${id}`);
}
