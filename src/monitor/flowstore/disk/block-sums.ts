/** Sums of the connections of a block, so that long windows need not read single connections. */
import type { FlowCapacity } from "../capacity.ts";
import { addToBucket, BUCKET_MS, createBucket, flowTables, type FlowTable } from "../bucket.ts";
import type { FlowPart } from "../flow-store.ts";
import { Sum, SumTable, type Counts } from "../sums.ts";
import type { StoredFlow } from "../types.ts";
import { BLOCK_ROWS } from "./flow-block.ts";

/**
 * A connection adds two entries to a table at most, so that nothing is merged into `__other__` but
 * tags, of which it may have many.
 */
const MAX_ENTRIES = 2 * BLOCK_ROWS;
const limits: FlowCapacity = {
  pairs: MAX_ENTRIES,
  nodes: MAX_ENTRIES,
  ports: MAX_ENTRIES,
  labels: MAX_ENTRIES,
  cells: MAX_ENTRIES,
  peerPaths: MAX_ENTRIES,
  unexplained: MAX_ENTRIES,
  rules: MAX_ENTRIES,
  recent: 0,
};

type StoredCounts = readonly [
  txBytes: number,
  rxBytes: number,
  txPackets: number,
  rxPackets: number,
  flows: number,
];

/** The sums as JSON. */
interface StoredSums {
  readonly truncated: number;
  /** By their begin, milliseconds since 1970. */
  readonly minutes: readonly (readonly [beginMs: number, counts: StoredCounts])[];
  readonly tables: Readonly<
    Record<
      FlowTable,
      readonly (readonly [names: readonly string[], first: StoredCounts, second: StoredCounts])[]
    >
  >;
}

export class BlockSums implements FlowPart {
  readonly #bucket = createBucket(limits);
  readonly #minutes = new Map<number, Sum>();

  get tables(): FlowPart["tables"] {
    return this.#bucket.tables;
  }

  get minutes(): ReadonlyMap<number, Counts> {
    return this.#minutes;
  }

  get truncated(): number {
    return this.#bucket.truncated;
  }

  add(flow: StoredFlow): void {
    addToBucket(this.#bucket, flow);
    const beginMs = Math.floor(flow.timeMs / BUCKET_MS) * BUCKET_MS;
    let minute = this.#minutes.get(beginMs);
    if (minute === undefined) this.#minutes.set(beginMs, (minute = new Sum()));
    minute.addConnection(flow);
  }

  encode(): string {
    const { tables, truncated } = this.#bucket;
    const stored: StoredSums = {
      truncated,
      minutes: [...this.#minutes].map(([beginMs, counts]) => [beginMs, storedOf(counts)]),
      tables: Object.fromEntries(
        flowTables.map((name) => [
          name,
          [...tables[name].entries()].map(([, { names, first, second }]) => [
            names,
            storedOf(first),
            storedOf(second),
          ]),
        ]),
      ) as unknown as StoredSums["tables"],
    };
    return JSON.stringify(stored);
  }
}

/** Of text that `encode` made. */
export function decodeSums(json: string): FlowPart {
  const { tables, minutes, truncated } = JSON.parse(json) as StoredSums;
  return {
    truncated,
    minutes: minutes.map(([beginMs, counts]) => [beginMs, countsOf(counts)]),
    tables: Object.fromEntries(
      flowTables.map((name) => {
        const table = new SumTable(Number.POSITIVE_INFINITY);
        for (const [names, first, second] of tables[name]) {
          table.add(names, "first", countsOf(first));
          table.add(names, "second", countsOf(second));
        }
        return [name, table];
      }),
    ) as Record<FlowTable, SumTable>,
  };
}

function storedOf(counts: Counts): StoredCounts {
  return [counts.txBytes, counts.rxBytes, counts.txPackets, counts.rxPackets, counts.flows];
}

function countsOf([txBytes, rxBytes, txPackets, rxPackets, flows]: StoredCounts): Counts {
  return { txBytes, rxBytes, txPackets, rxPackets, flows };
}
