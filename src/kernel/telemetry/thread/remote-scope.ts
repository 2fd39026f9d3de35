/**
 * A scope as seen by the telemetry thread: labels by series number, and snapshots on demand. The
 * labels of an ended number are dropped, and its end acknowledged, only when no held snapshot was
 * taken while the series lived.
 */
import type { Columns, WireRow, WireValues, WriterMessage, WriterReply } from "../messages.ts";
import { NO_ROW } from "../series/columns.ts";
import { exemplarReader, type Exemplar, type ExemplarReader } from "../series/exemplars.ts";
import { Interner } from "../series/interner.ts";
import type { Attributes, AttributeValue } from "../types.ts";
import type { Fence } from "../../base/fence.ts";
import { late, waitFor } from "../../async/wait.ts";
import { systemClock } from "../../base/clock.ts";

/** The rows of one writer by number. */
export type RowTable = Map<number, WireRow>;

/** A reference-counted snapshot. */
export interface HeldSnapshot {
  readonly columns: Columns;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  /** Numbers of live series by row number. */
  series(): ReadonlyMap<number, readonly number[]>;
  /** The exemplar of a bucket, by its cell in the slab. */
  exemplar(cell: number): Exemplar | undefined;
  /** Must be called once by every holder. */
  release(): void;
}

/**
 * The labels of a series: its attributes, including the scope's constants, and their exposition
 * text.
 */
export interface Labelled {
  readonly attributes: Attributes;
  /** `a="1",b="2"`, built on first use. */
  labels: string | undefined;
}

type ScopeMessage = Extract<WriterMessage, { type: "scope" }>;
type LabelsMessage = Extract<WriterMessage, { type: "labels" }>;
type SnapshotMessage = Extract<WriterMessage, { type: "snapshot" }>;

const OVERFLOW: Attributes = { "otel.metric.overflow": true };

/** The part of a writer that its scopes use. */
export interface ScopeWriter {
  readonly rows: RowTable;
  readonly reply: (reply: WriterReply) => void;
  /** While it is closed, the scope's series, records and spans stay in the process. */
  readonly fence?: Fence | undefined;
}

/** One scope of one writer. */
export class RemoteScope {
  readonly name: string;
  readonly resource: Attributes;
  readonly logResource: Attributes;
  readonly constants: Attributes;
  readonly rows: RowTable;
  readonly #number: number;
  readonly #reply: (reply: WriterReply) => void;
  readonly #fence: Fence | undefined;
  readonly #named: (Labelled | undefined)[] = [];
  readonly #held = new Set<Shared>();
  readonly #interner = new Interner();
  /**
   * The last labels: metrics of an entity with the same values arrive one after the other and share
   * them.
   */
  #last: {
    readonly names: readonly string[];
    readonly values: WireValues;
    readonly labelled: Labelled;
  } = { names: [], values: [], labelled: { attributes: {}, labels: undefined } };
  #retiring: { readonly seq: number; readonly ended: readonly number[] }[] = [];
  #waiting: PromiseWithResolvers<Shared> | undefined;
  #lastSeq = -1;
  #closed = false;

  constructor(message: ScopeMessage, { rows, reply, fence }: ScopeWriter) {
    this.name = message.name;
    this.resource = message.resource;
    this.logResource = message.logResource;
    this.constants = message.constants;
    this.rows = rows;
    this.#number = message.scope;
    this.#reply = reply;
    this.#fence = fence;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Whether what it holds may leave the process. */
  get mayLeave(): boolean {
    return this.#fence?.isOpen() ?? true;
  }

  /** The attributes of a live series, including the scope's constants. */
  attributesOf(number: number): Attributes | undefined {
    return this.#named[number]?.attributes;
  }

  /** The labels of a live series, shared by all metrics of the entity. */
  labelledOf(number: number): Labelled | undefined {
    return this.#named[number];
  }

  receiveLabels(message: LabelsMessage): void {
    this.#lastSeq = message.seq;
    for (const [index, number] of message.started.entries()) {
      this.#named[number] = this.#name(
        this.rows.get(message.rows[index] ?? -1),
        message.values[index] ?? [],
      );
    }
    if (message.ended.length === 0) return;
    this.#retiring.push({ seq: message.seq, ended: message.ended });
    this.#retire();
  }

  receiveSnapshot(message: SnapshotMessage): void {
    const shared = new Shared(message, this.#lastSeq, () => this.#retire());
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (!waiting) return;
    this.#held.add(shared);
    waiting.resolve(shared);
  }

  /**
   * A snapshot taken from now on; undefined on timeout. At most one is requested at a time:
   * concurrent callers share it, so that a slow writer is not flooded with requests. Undefined too
   * while nothing of it may leave, also when it was asked for before.
   */
  async snapshot(timeoutMs: number): Promise<HeldSnapshot | undefined> {
    if (this.#closed || !this.mayLeave) return undefined;
    if (!this.#waiting) {
      this.#waiting = Promise.withResolvers();
      this.#reply({ type: "snapshot?", scope: this.#number });
    }
    const shared = await waitFor(this.#waiting.promise, { clock: systemClock, timeoutMs });
    return shared === late || !this.mayLeave ? undefined : shared?.hold();
  }

  /** The writer closed it or is gone. */
  close(): void {
    this.#closed = true;
  }

  #name(row: WireRow | undefined, values: WireValues): Labelled {
    if (values === "overflow")
      return { attributes: { ...OVERFLOW, ...this.constants }, labels: undefined };
    const names = row?.attributes ?? [];
    if (values === this.#last.values && sameNames(names, this.#last.names))
      return this.#last.labelled;
    const attributes: Record<string, AttributeValue> = {};
    for (const [index, name] of names.entries()) {
      const value = values[index];
      if (value !== null && value !== undefined) attributes[name] = this.#interner.intern(value);
    }
    const labelled: Labelled = {
      attributes: Object.assign(attributes, this.constants),
      labels: undefined,
    };
    this.#last = { names, values, labelled };
    return labelled;
  }

  /** Drops the labels that no held snapshot needs. */
  #retire(): void {
    let oldest = Number.POSITIVE_INFINITY;
    for (const shared of this.#held) {
      if (shared.holders === 0) this.#held.delete(shared);
      else oldest = Math.min(oldest, shared.seq);
    }
    const ready = this.#retiring.filter((message) => message.seq <= oldest);
    if (ready.length === 0) return;
    this.#retiring = this.#retiring.filter((message) => message.seq > oldest);
    for (const number of ready.flatMap((message) => message.ended)) this.#named[number] = undefined;
    this.#reply({ type: "ack", scope: this.#number, seq: ready.at(-1)?.seq ?? -1 });
  }
}

/** One snapshot and its number of readers. */
class Shared {
  readonly columns: Columns;
  readonly atMs: number;
  readonly seq: number;
  holders = 0;
  readonly #released: () => void;
  #series: Map<number, number[]> | undefined;
  #exemplars: ExemplarReader | undefined;

  constructor(message: SnapshotMessage, seq: number, released: () => void) {
    this.columns = message.columns;
    this.atMs = message.atMs;
    this.seq = seq;
    this.#released = released;
  }

  hold(): HeldSnapshot {
    this.holders += 1;
    let held = true;
    return {
      columns: this.columns,
      atMs: this.atMs,
      series: () => (this.#series ??= byRow(this.columns.row)),
      exemplar: (cell) => (this.#exemplars ??= exemplarReader(this.columns.exemplars))(cell),
      release: () => {
        if (!held) return;
        held = false;
        this.holders -= 1;
        if (this.holders === 0) this.#released();
      },
    };
  }
}

function sameNames(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((name, at) => name === right[at]);
}

function byRow(rows: Uint32Array): Map<number, number[]> {
  const series = new Map<number, number[]>();
  for (let number = 0; number < rows.length; number++) {
    const row = rows[number] ?? NO_ROW;
    if (row === NO_ROW) continue;
    const list = series.get(row);
    if (list) list.push(number);
    else series.set(row, [number]);
  }
  return series;
}
