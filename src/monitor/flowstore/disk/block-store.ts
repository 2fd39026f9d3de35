/**
 * Blocks of connections in an open environment. What is known of each block is kept in memory; the
 * last block of an hour is written anew until it is full.
 */
import { create } from "@bufbuild/protobuf";
import { zstdDecompressSync } from "node:zlib";
import { FlowBlockRowSchema } from "../../../gen/steward/state/v1/flows_pb.ts";
import { Turns } from "../../../kernel/async/turns.ts";
import { toStewardError } from "../../../kernel/base/errors.ts";
import type { Env } from "../../../kernel/state/types.ts";
import type { FlowPart, FlowWindow } from "../flow-store.ts";
import type { StoredFlow } from "../types.ts";
import { BlockSums, decodeSums } from "./block-sums.ts";
import { eachRow, FlowBlock, HOUR_MS } from "./flow-block.ts";
import {
  MINUTE_MS,
  packedBlock,
  type PackedBlock,
  type StoredBlock,
  type Unfinished,
} from "./packed-block.ts";
import { blocks, rows, sums, type BlockKey } from "./tables.ts";

const SCAN = { sliceMs: 5 };
/** Unfinished blocks that are kept decoded: those of the hours that are written to. */
const MAX_UNFINISHED = 8;
/** Blocks removed in one change. */
const REMOVED_AT_ONCE = 64;
/** Bytes of a change of several blocks, as `TableLimit.changeBytes` asks for. */
const MAX_CHANGE_BYTES = 2 ** 20;

export class BlockStore {
  readonly #env: Pick<Env, "read" | "write" | "scan">;
  /** By hour, in the order of their numbers. */
  readonly #hours = new Map<number, StoredBlock[]>();
  /** By hour, the one used last at the end. */
  readonly #unfinished = new Map<number, Unfinished>();
  #rows = 0;
  #minutes = 0;
  #lastSeq = 0;

  private constructor(env: Pick<Env, "read" | "write" | "scan">) {
    this.#env = env;
  }

  /** Throws `corrupt`, or the signal's reason. */
  static async open(
    env: Pick<Env, "read" | "write" | "scan">,
    signal: AbortSignal,
  ): Promise<BlockStore> {
    const store = new BlockStore(env);
    await env.scan(
      blocks,
      (batch) => {
        for (const [[hour, number], row] of batch)
          store.#keep({
            hour,
            number,
            rows: row.rows,
            startMs: row.firstMs,
            endMs: row.lastMs,
            lastSeq: row.lastSeq,
            minutes: row.minutes,
          });
      },
      { ...SCAN, signal },
    );
    return store;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Minutes with connections. */
  get minutes(): number {
    return this.#minutes;
  }

  /** Number of the latest arrival. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Begin of the first and the last minute; undefined when there is none. */
  times(): { readonly earliestMs: number; readonly latestMs: number } | undefined {
    if (this.#hours.size === 0) return undefined;
    const hours = [...this.#hours.keys()].toSorted((left, right) => left - right);
    const minutesOf = (hour = 0): number[] =>
      (this.#hours.get(hour) ?? []).flatMap(({ minutes }) => minutes);
    const [first = 0, last = 0] = [hours[0], hours.at(-1)];
    return {
      earliestMs: first * HOUR_MS + Math.min(...minutesOf(first)) * MINUTE_MS,
      latestMs: last * HOUR_MS + Math.max(...minutesOf(last)) * MINUTE_MS,
    };
  }

  /** Those with connections in the window, the newest hour first. Does not change. */
  within({ startMs, endMs }: FlowWindow): readonly StoredBlock[] {
    return [...this.#hours.keys()]
      .filter((hour) => hour * HOUR_MS <= endMs && (hour + 1) * HOUR_MS > startMs)
      .toSorted((left, right) => right - left)
      .flatMap((hour) => this.#hours.get(hour) ?? [])
      .filter((block) => block.startMs <= endMs && block.endMs >= startMs);
  }

  /**
   * Sums of a block's connections in the window, of arrivals up to a number; undefined once it was
   * removed. Reads single connections only where the sums say more.
   */
  async part(
    { hour, number }: StoredBlock,
    { startMs, endMs, uptoSeq }: FlowWindow & { readonly uptoSeq: number },
    { turns, signal }: { readonly turns: Turns; readonly signal: AbortSignal },
  ): Promise<FlowPart | undefined> {
    const key: BlockKey = [hour, number];
    const found = this.#env.read((view) => {
      const block = view.get(blocks, key);
      const isWhole =
        block !== undefined &&
        block.firstMs >= startMs &&
        block.lastMs <= endMs &&
        block.lastSeq <= uptoSeq;
      return { isWhole, bytes: view.get(isWhole ? sums : rows, key) };
    });
    if (found.bytes === undefined) return undefined;
    if (found.isWhole) return decodeSums(unpacked(found.bytes));
    const block = FlowBlock.decode(hour, unpacked(found.bytes));
    const part = new BlockSums();
    const indexes = block.find({ startMs, endMs, uptoSeq, clauses: [] });
    await eachRow({ block, indexes }, { turns, signal }, (flow) => part.add(flow));
    return part;
  }

  /** Undefined once it was removed. It may have later arrivals than were known. */
  read({ hour, number }: StoredBlock): FlowBlock | undefined {
    const bytes = this.#env.read((view) => view.get(rows, [hour, number]));
    return bytes && FlowBlock.decode(hour, unpacked(bytes));
  }

  /**
   * Stores the first of the flows, as many as fit in one change, at least one; resolves with their
   * number once they are durable. Rejects as `Env.write` does, and none of them is stored then. One
   * call at a time. Their numbers of arrival ascend and are above all stored ones.
   */
  async append(flows: readonly StoredFlow[]): Promise<number> {
    try {
      for (let count = flows.length; ; count = Math.ceil(count / 2)) {
        const changed = await this.#added(flows.slice(0, count));
        const packed = await Promise.all(changed.map(packedBlock));
        const bytes = packed.reduce((sum, block) => sum + block.bytes, 0);
        // A single block is always taken: nothing smaller can be written.
        if (packed.length <= 1 || bytes <= MAX_CHANGE_BYTES) {
          await this.#write(packed);
          return count;
        }
        this.#unfinished.clear();
      }
    } catch (error) {
      // The decoded blocks have connections that are not stored.
      this.#unfinished.clear();
      throw error;
    }
  }

  /** Removes blocks; resolves when none of them can come back. Not during an append. */
  async remove(removed: readonly StoredBlock[]): Promise<void> {
    for (let from = 0; from < removed.length; from += REMOVED_AT_ONCE) {
      const some = removed.slice(from, from + REMOVED_AT_ONCE);
      await this.#env.write((tx) => {
        for (const { hour, number } of some) {
          tx.delete(blocks, [hour, number]);
          tx.delete(rows, [hour, number]);
          tx.delete(sums, [hour, number]);
        }
      });
      for (const block of some) this.#forget(block);
    }
  }

  async #write(packed: readonly PackedBlock[]): Promise<void> {
    await this.#env.write((tx) => {
      for (const { stored, rowBytes, sumBytes } of packed) {
        const key: BlockKey = [stored.hour, stored.number];
        tx.put(
          blocks,
          key,
          create(FlowBlockRowSchema, {
            rows: stored.rows,
            firstMs: stored.startMs,
            lastMs: stored.endMs,
            lastSeq: stored.lastSeq,
            minutes: [...stored.minutes],
          }),
        );
        tx.put(rows, key, rowBytes);
        tx.put(sums, key, sumBytes);
      }
    });
    for (const { stored } of packed) this.#keep(stored);
  }

  /** The blocks that change, with the connections added. */
  async #added(flows: readonly StoredFlow[]): Promise<Unfinished[]> {
    const turns = new Turns();
    const byHour = Map.groupBy(flows, ({ timeMs }) => Math.floor(timeMs / HOUR_MS));
    const changed = new Set<Unfinished>();
    for (const [hour, some] of byHour) {
      let open = await this.#open(hour, some[0]?.seq ?? 0, turns);
      for (const flow of some) {
        if (turns.over) await turns.give();
        if (open.block.isFull) open = emptyAfter(open.number, hour, flow.seq);
        open.block.add(flow);
        open.sums.add(flow);
        changed.add(open);
      }
      this.#unfinished.delete(hour);
      this.#unfinished.set(hour, open);
    }
    for (const hour of this.#unfinished.keys()) {
      if (this.#unfinished.size <= MAX_UNFINISHED) break;
      this.#unfinished.delete(hour);
    }
    return [...changed];
  }

  /** The last block of the hour, which may be full; a new one where that is damaged. */
  async #open(hour: number, firstSeq: number, turns: Turns): Promise<Unfinished> {
    const known = this.#unfinished.get(hour);
    if (known !== undefined) return known;
    const last = this.#hours.get(hour)?.at(-1);
    if (last === undefined) return emptyAfter(-1, hour, firstSeq);
    const block = this.#readable(last);
    if (block === undefined) return emptyAfter(last.number, hour, firstSeq);
    const read = new BlockSums();
    const indexes = Array.from({ length: block.size }, (_, index) => index);
    await eachRow({ block, indexes }, { turns }, (flow) => read.add(flow));
    return { hour, number: last.number, block, sums: read };
  }

  /** Undefined where it is damaged: whoever asks for its connections is told, new ones need not wait. */
  #readable(stored: StoredBlock): FlowBlock | undefined {
    try {
      return this.read(stored);
    } catch (thrown) {
      if (toStewardError(thrown).code === "corrupt") return undefined;
      throw thrown;
    }
  }

  #keep(stored: StoredBlock): void {
    const { hour, number } = stored;
    const known = this.#hours.get(hour) ?? [];
    const before = minutesIn(known);
    const others = known.filter((block) => block.number !== number);
    const kept = [...others, stored].toSorted((left, right) => left.number - right.number);
    this.#hours.set(hour, kept);
    this.#minutes += minutesIn(kept) - before;
    this.#rows += rowsIn(kept) - rowsIn(known);
    this.#lastSeq = Math.max(this.#lastSeq, stored.lastSeq);
  }

  #forget({ hour, number }: StoredBlock): void {
    const known = this.#hours.get(hour) ?? [];
    const kept = known.filter((block) => block.number !== number);
    this.#minutes += minutesIn(kept) - minutesIn(known);
    this.#rows += rowsIn(kept) - rowsIn(known);
    if (kept.length === 0) this.#hours.delete(hour);
    else this.#hours.set(hour, kept);
    this.#unfinished.delete(hour);
  }
}

function emptyAfter(number: number, hour: number, firstSeq: number): Unfinished {
  const block = FlowBlock.empty(hour, firstSeq);
  return { hour, number: number + 1, block, sums: new BlockSums() };
}

function minutesIn(stored: readonly StoredBlock[]): number {
  return new Set(stored.flatMap(({ minutes }) => minutes)).size;
}

function rowsIn(stored: readonly StoredBlock[]): number {
  return stored.reduce((sum, { rows: count }) => sum + count, 0);
}

function unpacked(bytes: Uint8Array): string {
  return zstdDecompressSync(bytes).toString();
}
