/**
 * The thread's end of the port to the house: what it told once, and what it answers when it is
 * asked.
 */
import { fromBinary, isFieldSet } from "@bufbuild/protobuf";
import type { MessagePort } from "node:worker_threads";
import { StatusSchema, type Status } from "../../gen/steward/monitor/v1/status_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { AnyLogRow, AnyRow } from "../../kernel/telemetry/types.ts";
import type {
  ProcessStatusReply,
  ProcessField,
  ProcessStatusMessage,
  ProcessStatusRequest,
  ProcessStatus,
  MetricFacts,
} from "./process-status.ts";
import { emptyProcessStatus } from "./empty-process-status.ts";

/** The main thread answers from memory; who waits longer shows what was so before. */
const ANSWER_MS = 1_000;

/** What is known of the house. */
interface ProcessView {
  readonly status: ProcessStatus;
  readonly series: readonly MetricFacts[];
}

/**
 * The catalogue of everything that is not the monitor's. The same object until the house tells
 * another.
 */
export interface ProcessCatalogue {
  readonly metrics: readonly AnyRow[];
  readonly records: readonly AnyLogRow[];
}

/** The house, whether it answers or not. */
export interface ProcessStatusClient {
  /** Speaks over this port from now on, until it closes. */
  attach(port: MessagePort): void;
  /**
   * Never rejects: without an answer in time it is the last one, and zeros before the first.
   * `labels` asks for label values with the series.
   */
  ask(wanted: { readonly labels: boolean }): Promise<ProcessView>;
  catalogue(): ProcessCatalogue;
}

/** A house without a port. */
export function createProcessStatusClient(clock: Clock): ProcessStatusClient {
  return new PortClient(clock);
}

interface PendingRequest {
  readonly labels: boolean;
  readonly settle: () => void;
}

const fields = Object.keys(emptyProcessStatus()) as ProcessField[];

class PortClient implements ProcessStatusClient {
  readonly #clock: Clock;
  readonly #zeros = emptyProcessStatus();
  readonly #pending = new Map<number, PendingRequest>();
  #port: MessagePort | undefined;
  #nextId = 0;
  #constants: Status | undefined;
  #catalogue: ProcessCatalogue = { metrics: [], records: [] };
  #answer: Status | undefined;
  #series: readonly MetricFacts[] = [];
  #labelled: readonly MetricFacts[] | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  attach(port: MessagePort): void {
    this.#port = port;
    this.#settleAll();
    port.on("message", (message: ProcessStatusMessage) => this.#hear(message));
    port.on("close", () => {
      if (this.#port !== port) return;
      this.#port = undefined;
      this.#settleAll();
    });
    port.unref();
  }

  async ask({ labels }: { readonly labels: boolean }): Promise<ProcessView> {
    const port = this.#port;
    if (port !== undefined) await this.#answered(port, labels);
    return {
      status: this.#status(),
      series: labels ? (this.#labelled ?? this.#series) : this.#series,
    };
  }

  catalogue(): ProcessCatalogue {
    return this.#catalogue;
  }

  #answered(port: MessagePort, labels: boolean): Promise<void> {
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve) => {
      const settle = (): void => {
        timer[Symbol.dispose]();
        this.#pending.delete(id);
        resolve();
      };
      const timer = this.#clock.timer(this.#clock.monotonic() + ANSWER_MS, settle);
      this.#pending.set(id, { labels, settle });
      port.postMessage({ kind: "ask", id, labels } satisfies ProcessStatusRequest);
    });
  }

  #hear(message: ProcessStatusMessage): void {
    if (message.kind === "answer") return this.#take(message);
    this.#constants = fromBinary(StatusSchema, message.status);
    this.#catalogue = { metrics: message.metrics, records: message.records };
  }

  /** A late answer is still the newest there is. */
  #take({ id, status, series }: ProcessStatusReply): void {
    const pending = this.#pending.get(id);
    this.#answer = fromBinary(StatusSchema, status);
    this.#series = series;
    if (pending?.labels === true) this.#labelled = series;
    pending?.settle();
  }

  #settleAll(): void {
    for (const { settle } of this.#pending.values()) settle();
  }

  /** Of each field what was answered last, else what was told at the start, else zero. */
  #status(): ProcessStatus {
    const entries = fields.map(
      (name) =>
        [
          name,
          (
            [this.#answer, this.#constants].find(
              (part) => part !== undefined && isFieldSet(part, StatusSchema.field[name]),
            ) ?? this.#zeros
          )[name],
        ] as const,
    );
    return Object.fromEntries(entries) as unknown as ProcessStatus;
  }
}
