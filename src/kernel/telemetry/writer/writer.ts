/**
 * A thread's side of telemetry: its scopes, and the port over which labels, snapshots and log
 * records go to the telemetry thread. Without a port measurements are kept and nothing is sent.
 */
import type { MessagePort } from "node:worker_threads";
import type { Clock } from "../../base/clock.ts";
import { assert } from "../../base/errors.ts";
import type { LogFields as BaseLogFields, LogLine } from "../../base/log.ts";
import { defaultLogLimits, recordOfLine, recordOfRow, traceOf } from "./log-record.ts";
import type { LogLimits, LogRecord } from "./log-record.ts";
import { LogEncoder } from "./encoded-logs.ts";
import type { Columns, WireRow, WriterFigures, WriterMessage, WriterReply } from "../messages.ts";
import type { TraceIds, WireSpan, AnyRow, Scope, ScopeSpec } from "../types.ts";
import {
  LABELS_PER_MESSAGE,
  LOGS_PER_MESSAGE,
  QUEUE_CAPACITY,
  SPANS_PER_MESSAGE,
} from "../messages.ts";
import { listBatch, Outbox } from "./outbox.ts";
import type { Batch, OutboxStatus } from "./outbox.ts";
import { SeriesScope } from "./scope.ts";
import type { CeilingLimits } from "../series/ceiling.ts";
import { Ceiling } from "../series/ceiling.ts";
import type { LabelChanges } from "../series/series-table.ts";
import { noOtherWriters } from "../status.ts";
import { nextTurn } from "../../async/turns.ts";

export interface WriterOptions {
  readonly clock: Clock;
  /** Limit on series and label bytes over all scopes of this thread. */
  readonly ceiling?: CeilingLimits;
  /**
   * Capacity for waiting log records, with and without a port; before `attach` none are kept by
   * default.
   */
  readonly logs?: { readonly capacity: number; readonly limits: LogLimits };
  /** The same for spans. */
  readonly spans?: { readonly capacity: number };
  /** `trace_id` and `span_id` of the active span, for catalogue records and exemplars. */
  readonly related?: () => BaseLogFields;
  /**
   * Sends its figures with each snapshot of its first scope; set for every writer but the host's
   * own.
   */
  readonly sendsFigures?: boolean;
}

interface WriterStatus {
  readonly series: number;
  readonly labelBytes: number;
  readonly ceilingReached: boolean;
  readonly logs: OutboxStatus;
  readonly spans: OutboxStatus;
}

/** Creates scopes in its own thread. */
export interface TelemetryWriter {
  /** Throws when a scope of that name is open. */
  scope(spec: ScopeSpec): Scope;
  /** Uses this port until it closes. `logs` and `spans`: whether those are exported. */
  attach(port: MessagePort, wanted: { readonly logs: boolean; readonly spans?: boolean }): void;
  /** Ships a log line under the first scope. */
  line(line: LogLine): void;
  /** Ships a finished span under the first scope. */
  span(make: () => Omit<WireSpan, "scope">): void;
  /**
   * Sends the waiting records and spans, then the mark: whoever receives it has received everything
   * written before.
   */
  mark(mark: number): void;
  status(): WriterStatus;
}

/** The process's scope. Carries what belongs to no scope. */
const FIRST_SCOPE = 0;

/** Creates a writer without a port. */
export function createTelemetryWriter(options: WriterOptions): TelemetryWriter {
  return new PortWriter(options);
}

interface WriterScope {
  readonly number: number;
  readonly scope: SeriesScope;
  /** Labels messages not yet acknowledged, oldest first. */
  readonly unacknowledged: { readonly seq: number; readonly ended: readonly number[] }[];
  /** False while the series live at the attachment are still being sent. */
  labelsSent: boolean;
  /** A snapshot was requested meanwhile. */
  snapshotPending: boolean;
}

class PortWriter implements TelemetryWriter {
  readonly #clock: Clock;
  readonly #ceiling: Ceiling;
  readonly #logs: Outbox<LogRecord>;
  readonly #spans: Outbox<WireSpan>;
  readonly #limits: LogLimits;
  readonly #rows = new Map<AnyRow, number>();
  readonly #scopes = new Map<string, WriterScope>();
  readonly #sendsFigures: boolean;
  readonly #trace: (() => TraceIds | undefined) | undefined;
  readonly #wanted: { readonly logs: boolean; readonly spans: boolean };
  #port: MessagePort | undefined;
  #rowsSent = 0;
  #nextScope = 0;
  #nextSeq = 0;

  constructor(options: WriterOptions) {
    this.#clock = options.clock;
    this.#sendsFigures = options.sendsFigures ?? false;
    const { related } = options;
    this.#trace = related && (() => traceOf(related()));
    this.#ceiling = new Ceiling(options.ceiling);
    const { clock, logs, spans } = options;
    this.#limits = logs?.limits ?? defaultLogLimits;
    this.#logs = new Outbox({
      clock,
      capacity: logs?.capacity ?? QUEUE_CAPACITY,
      perMessage: LOGS_PER_MESSAGE,
      batch: () => this.#logBatch(),
    });
    this.#spans = new Outbox({
      clock,
      capacity: spans?.capacity ?? QUEUE_CAPACITY,
      perMessage: SPANS_PER_MESSAGE,
      batch: () => listBatch((ended) => this.#post({ type: "spans", spans: ended })),
    });
    this.#wanted = { logs: logs !== undefined, spans: spans !== undefined };
    this.#logs.want(logs !== undefined);
    this.#spans.want(spans !== undefined);
  }

  scope(spec: ScopeSpec): Scope {
    assert(!this.#scopes.has(spec.name), `telemetry scope ${spec.name} is open once`);
    const number = this.#nextScope;
    this.#nextScope += 1;
    const scope: SeriesScope = new SeriesScope(spec, {
      clock: this.#clock,
      ceiling: this.#ceiling,
      rowNumber: (row) => this.#rowNumber(row),
      due: () => this.#sendChanges(entry),
      log: (row, make) =>
        this.#logs.add(() => {
          const fields = make();
          return (
            fields &&
            recordOfRow(number, row, fields, {
              nowMs: this.#clock.now(),
              limits: this.#limits,
              trace: this.#trace?.(),
            })
          );
        }),
      span: (make) => this.#spans.add(() => ({ ...make(), scope: number })),
      closed: () => this.#close(entry),
      ...(this.#trace ? { trace: this.#trace } : {}),
    });
    const entry: WriterScope = {
      number,
      scope,
      unacknowledged: [],
      labelsSent: true,
      snapshotPending: false,
    };
    this.#scopes.set(spec.name, entry);
    if (this.#port) {
      scope.table.attach();
      this.#sendScope(entry);
    }
    return scope;
  }

  attach(port: MessagePort, wanted: { readonly logs: boolean; readonly spans?: boolean }): void {
    this.#detach();
    this.#port = port;
    this.#rowsSent = 0;
    port.on("message", (reply: WriterReply) => this.#handleReply(port, reply));
    port.on("close", () => {
      if (this.#port === port) this.#detach();
    });
    port.unref();
    for (const entry of this.#scopes.values()) {
      const alive = entry.scope.table.attach();
      this.#sendScope(entry);
      entry.labelsSent = alive.length === 0;
      if (!entry.labelsSent) void this.#sendAllLabels(port, entry, alive);
    }
    this.#logs.want(wanted.logs);
    this.#logs.open();
    this.#spans.want(wanted.spans ?? false);
    this.#spans.open();
  }

  line(line: LogLine): void {
    this.#logs.add(() => recordOfLine(FIRST_SCOPE, line, this.#limits));
  }

  span(make: () => Omit<WireSpan, "scope">): void {
    this.#spans.add(() => ({ ...make(), scope: FIRST_SCOPE }));
  }

  mark(mark: number): void {
    this.#logs.flush();
    this.#spans.flush();
    this.#post({ type: "mark", mark });
  }

  status(): WriterStatus {
    const { series, labelBytes, reached } = this.#ceiling;
    return {
      series,
      labelBytes,
      ceilingReached: reached,
      logs: this.#logs.status(),
      spans: this.#spans.status(),
    };
  }

  #detach(): void {
    this.#port = undefined;
    this.#logs.close();
    this.#spans.close();
    for (const entry of this.#scopes.values()) {
      entry.scope.table.detach(entry.unacknowledged.splice(0).flatMap((message) => message.ended));
      entry.labelsSent = true;
      entry.snapshotPending = false;
    }
  }

  #close(entry: WriterScope): void {
    this.#sendChanges(entry);
    this.#logs.flush();
    this.#post({ type: "closed", scope: entry.number });
    this.#scopes.delete(entry.scope.name);
  }

  #handleReply(port: MessagePort, reply: WriterReply): void {
    if (port !== this.#port) return;
    if (reply.type === "logs-ack") return this.#logs.acknowledge(reply.records);
    if (reply.type === "spans-ack") return this.#spans.acknowledge(reply.spans);
    const entry = this.#scopeOf(reply.scope);
    if (!entry) return;
    if (reply.type === "ack") return this.#acknowledge(entry, reply.seq);
    if (entry.labelsSent) this.#answerSnapshot(entry);
    else entry.snapshotPending = true;
  }

  #acknowledge(entry: WriterScope, seq: number): void {
    while ((entry.unacknowledged[0]?.seq ?? Number.POSITIVE_INFINITY) <= seq) {
      for (const number of entry.unacknowledged.shift()?.ended ?? [])
        entry.scope.table.columns.release(number);
    }
  }

  #answerSnapshot(entry: WriterScope): void {
    entry.snapshotPending = false;
    if (this.#sendsFigures && entry.number === FIRST_SCOPE)
      this.#post({ type: "figures", figures: this.#figures() });
    const columns = entry.scope.snapshot(() => this.#sendChanges(entry));
    this.#port?.postMessage(
      {
        type: "snapshot",
        scope: entry.number,
        atMs: this.#clock.now(),
        columns,
      } satisfies WriterMessage,
      buffersOf(columns),
    );
  }

  /**
   * Sends the series that were live before the port came, one message per turn, so that the thread
   * can serve in between.
   */
  async #sendAllLabels(
    port: MessagePort,
    entry: WriterScope,
    alive: readonly number[],
  ): Promise<void> {
    for (let from = 0; from < alive.length && this.#port === port; from += LABELS_PER_MESSAGE) {
      this.#sendLabels(entry, {
        ...entry.scope.table.describe(alive.slice(from, from + LABELS_PER_MESSAGE)),
        ended: [],
      });
      await nextTurn();
    }
    if (this.#port !== port) return;
    entry.labelsSent = true;
    if (entry.snapshotPending) this.#answerSnapshot(entry);
  }

  #sendChanges(entry: WriterScope): void {
    if (!this.#port) return;
    const changes = entry.scope.table.drain();
    if (changes) this.#sendLabels(entry, changes);
  }

  #sendLabels(entry: WriterScope, changes: LabelChanges): void {
    this.#sendRows();
    const seq = this.#nextSeq;
    this.#nextSeq += 1;
    if (changes.ended.length > 0) entry.unacknowledged.push({ seq, ended: changes.ended });
    this.#post({ type: "labels", scope: entry.number, seq, ...changes });
  }

  #sendScope({ number, scope: { spec } }: WriterScope): void {
    this.#post({
      type: "scope",
      scope: number,
      name: spec.name,
      resource: spec.resource,
      logResource: { ...spec.resource, ...spec.logResource },
      constants: spec.constants,
    });
  }

  #figures(): WriterFigures {
    const shared = [...this.#scopes.values()].filter(
      ({ scope }) => Object.keys(scope.spec.constants).length === 0,
    );
    const series = shared.flatMap(({ scope }) =>
      scope.cardinality().metrics.map(({ name, group, series: live, overflowing }) => ({
        name,
        group,
        series: live,
        overflowing,
      })),
    );
    const figuresOf = (outbox: Pick<Outbox<unknown>, "status">, wanted: boolean): OutboxStatus =>
      wanted ? outbox.status() : noOtherWriters.logs;
    return {
      logs: figuresOf(this.#logs, this.#wanted.logs),
      spans: figuresOf(this.#spans, this.#wanted.spans),
      series,
    };
  }

  #rowNumber(row: AnyRow): number {
    const known = this.#rows.get(row);
    if (known !== undefined) return known;
    const number = this.#rows.size;
    this.#rows.set(row, number);
    return number;
  }

  #sendRows(): void {
    if (this.#rowsSent === this.#rows.size) return;
    const rows = [...this.#rows].slice(this.#rowsSent).map(([row, number]) => wireRow(row, number));
    this.#rowsSent = this.#rows.size;
    this.#post({ type: "rows", rows });
  }

  /** Records are encoded at once: as objects they would outlive collections of young garbage. */
  #logBatch(): Batch<LogRecord> {
    const encoder = new LogEncoder({
      now: () => this.#clock.now(),
      constantsOf: (scope) => this.#scopeOf(scope)?.scope.spec.constants ?? {},
    });
    return {
      get size() {
        return encoder.size;
      },
      add: (record) => encoder.add(record),
      post: () => {
        const records = encoder.finish();
        this.#port?.postMessage({ type: "logs", records } satisfies WriterMessage, [
          records.bytes.buffer,
        ]);
      },
    };
  }

  #scopeOf(number: number): WriterScope | undefined {
    return [...this.#scopes.values()].find((each) => each.number === number);
  }

  #post(message: WriterMessage): void {
    this.#port?.postMessage(message);
  }
}

function buffersOf({ row, value, start, slab, exemplars }: Columns): ArrayBuffer[] {
  return [
    row.buffer,
    value.buffer,
    start.buffer,
    slab.buffer,
    ...(exemplars ? [exemplars.buffer] : []),
  ];
}

function wireRow(row: AnyRow, number: number): WireRow {
  const { name, kind, unit, attributes, help, bounds, verbatim } = row;
  return { number, name, kind, unit, attributes, help, bounds, verbatim };
}
