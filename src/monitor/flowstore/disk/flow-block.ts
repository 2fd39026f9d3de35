/**
 * Connections of one hour by columns, as they are stored: texts by number in a dictionary of their
 * column, times from the begin of the hour, numbers of arrival from the first.
 */
import type { Turns } from "../../../kernel/async/turns.ts";
import type { Clause } from "../filter.ts";
import type { FlowWindow } from "../flow-store.ts";
import type { StoredFlow } from "../types.ts";

export const HOUR_MS = 3_600_000;
export const BLOCK_ROWS = 4_096;
/**
 * Characters of the dictionaries at which a block ends early. Its sums repeat them several times,
 * and a block is written whole.
 */
const MAX_CHARACTERS = 2 ** 19;

const textNames = [
  "trafficType",
  "transport",
  "srcAddr",
  "dstAddr",
  "srcNode",
  "dstNode",
  "dstPort",
  "dstService",
  "srcUser",
  "dstUser",
  "srcTags",
  "dstTags",
  "srcOs",
  "dstOs",
  "reporterNodeId",
  "reporterTrust",
  "reporterConsistency",
  "path",
  "derpRegion",
  "verdict",
  "policyVersion",
] as const satisfies readonly (keyof StoredFlow)[];
const numberNames = [
  "rule",
  "txBytes",
  "rxBytes",
  "txPackets",
  "rxPackets",
] as const satisfies readonly (keyof StoredFlow)[];

type TextName = (typeof textNames)[number];
type NumberName = (typeof numberNames)[number];

/** A block as JSON. */
interface Columns {
  readonly firstSeq: number;
  readonly times: number[];
  readonly seqs: number[];
  readonly reversed: number[];
  readonly numbers: Readonly<Record<NumberName, number[]>>;
  readonly texts: Readonly<Record<TextName, TextColumn>>;
}

interface TextColumn {
  readonly values: string[];
  /** The value of each row. */
  readonly at: number[];
}

/** Which connections of a block are meant. */
export interface BlockQuery extends FlowWindow {
  /** Later arrivals are not. */
  readonly uptoSeq: number;
  readonly clauses: readonly Clause[];
}

export class FlowBlock {
  readonly #hour: number;
  readonly #columns: Columns;
  /** Numbers of the values of each text column; filled when the first row is added. */
  readonly #known = new Map<TextName, Map<string, number>>();
  #characters = 0;

  private constructor(hour: number, columns: Columns) {
    this.#hour = hour;
    this.#columns = columns;
    for (const { values } of Object.values(columns.texts))
      for (const value of values) this.#characters += value.length;
  }

  /** An empty block; the row that comes first has the lowest number of arrival. */
  static empty(hour: number, firstSeq: number): FlowBlock {
    const column = (): TextColumn => ({ values: [], at: [] });
    return new FlowBlock(hour, {
      firstSeq,
      times: [],
      seqs: [],
      reversed: [],
      numbers: recordOf(numberNames, () => []),
      texts: recordOf(textNames, column),
    });
  }

  /** Of bytes that `encode` made and that passed their checksum. */
  static decode(hour: number, json: string): FlowBlock {
    return new FlowBlock(hour, JSON.parse(json) as Columns);
  }

  encode(): string {
    return JSON.stringify(this.#columns);
  }

  get size(): number {
    return this.#columns.times.length;
  }

  get isFull(): boolean {
    return this.size >= BLOCK_ROWS || this.#characters >= MAX_CHARACTERS;
  }

  add(flow: StoredFlow): void {
    const { firstSeq, times, seqs, reversed, numbers, texts } = this.#columns;
    times.push(flow.timeMs - this.#hour * HOUR_MS);
    seqs.push(flow.seq - firstSeq);
    reversed.push(Number(flow.reversed));
    for (const name of numberNames) numbers[name].push(flow[name]);
    for (const name of textNames) texts[name].at.push(this.#numberOf(name, flow[name]));
  }

  row(index: number): StoredFlow {
    const { reversed, numbers, texts } = this.#columns;
    const flow: Partial<Record<keyof StoredFlow, unknown>> = {
      timeMs: this.timeMs(index),
      seq: this.seq(index),
      reversed: reversed[index] === 1,
    };
    for (const name of numberNames) flow[name] = numbers[name][index];
    for (const name of textNames) {
      const { values, at } = texts[name];
      flow[name] = values[at[index] ?? 0] ?? "";
    }
    return flow as unknown as StoredFlow;
  }

  timeMs(index: number): number {
    return this.#hour * HOUR_MS + (this.#columns.times[index] ?? 0);
  }

  seq(index: number): number {
    return this.#columns.firstSeq + (this.#columns.seqs[index] ?? 0);
  }

  /** Indexes of the rows that are meant. A filter reads the dictionaries once. */
  find({ startMs, endMs, uptoSeq, clauses }: BlockQuery): number[] {
    const tests = clauses.map((clause) => this.#testOf(clause));
    if (tests.includes(undefined)) return [];
    const found: number[] = [];
    for (let index = 0; index < this.size; index += 1) {
      const timeMs = this.timeMs(index);
      if (timeMs < startMs || timeMs > endMs || this.seq(index) > uptoSeq) continue;
      if (tests.every((test) => test?.(index))) found.push(index);
    }
    return found;
  }

  /** Undefined when no row passes. */
  #testOf({ texts, test }: Clause): ((index: number) => boolean) | undefined {
    const columns = texts
      .map((name) => {
        const { values, at } = this.#columns.texts[name];
        return { at, passes: values.map(test) };
      })
      .filter(({ passes }) => passes.includes(true));
    if (columns.length === 0) return undefined;
    return (index) => columns.some(({ at, passes }) => passes[at[index] ?? 0] === true);
  }

  #numberOf(name: TextName, value: string): number {
    const { values } = this.#columns.texts[name];
    let known = this.#known.get(name);
    if (known === undefined) {
      known = new Map(values.map((each, index) => [each, index]));
      this.#known.set(name, known);
    }
    const number = known.get(value);
    if (number !== undefined) return number;
    known.set(value, values.length);
    this.#characters += value.length;
    return values.push(value) - 1;
  }
}

/** Calls for each of the rows, yielding to other work. Rejects with the signal's reason. */
export async function eachRow(
  { block, indexes }: { readonly block: FlowBlock; readonly indexes: Iterable<number> },
  { turns, signal }: { readonly turns: Turns; readonly signal?: AbortSignal | undefined },
  use: (flow: StoredFlow) => void,
): Promise<void> {
  for (const index of indexes) {
    if (turns.over) await turns.give(signal);
    use(block.row(index));
  }
}

function recordOf<K extends string, V>(names: readonly K[], make: () => V): Record<K, V> {
  return Object.fromEntries(names.map((name) => [name, make()])) as Record<K, V>;
}
