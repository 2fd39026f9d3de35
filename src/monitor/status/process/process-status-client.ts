/** Requests the process's part of the status from the main thread over a message port. */
import { fromBinary, isFieldSet } from "@bufbuild/protobuf";
import type { MessagePort } from "node:worker_threads";
import { StatusSchema, type Status } from "../../../gen/steward/monitor/v1/status_pb.ts";
import type { Clock } from "../../../kernel/base/clock.ts";
import type { AnyLogRow, AnyRow } from "../../../kernel/telemetry/types.ts";
import type { ServiceCountsView } from "../../presence/types.ts";
import type {
  CountsRequest,
  ProcessStatusReply,
  ProcessField,
  ProcessStatusMessage,
  ProcessStatusRequest,
  ProcessStatus,
  MetricFacts,
} from "./process-status.ts";
import { emptyProcessStatus } from "./empty-process-status.ts";

/**
 * Longest wait for a reply; then the last known values are shown. The main thread replies from
 * memory, and itself waits no longer than 3 s for a status that it puts into a page.
 */
const ANSWER_MS = 2_500;

interface ProcessView {
  readonly status: ProcessStatus;
  readonly series: readonly MetricFacts[];
}

/** Catalogue of the process and the other services. The same object until it changes. */
export interface ProcessCatalogue {
  readonly metrics: readonly AnyRow[];
  readonly records: readonly AnyLogRow[];
}

export interface ProcessStatusClient {
  /** Uses this port until it closes. */
  attach(port: MessagePort): void;
  /**
   * Never rejects: without a timely reply it resolves with the last one, or zeros before the first.
   * `labels` requests label values too.
   */
  request(wanted: { readonly labels: boolean }): Promise<ProcessView>;
  catalogue(): ProcessCatalogue;
  /** Never rejects: without a timely reply it resolves with the last ones. */
  counts(): Promise<ServiceCountsView>;
}

/** Starts without a port. */
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
  #counts: ServiceCountsView = { hours: [], days: [] };
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

  async request({ labels }: { readonly labels: boolean }): Promise<ProcessView> {
    const port = this.#port;
    if (port !== undefined)
      await this.#answered(labels, (id) =>
        port.postMessage({ kind: "ask", id, labels } satisfies ProcessStatusRequest),
      );
    return {
      status: this.#status(),
      series: labels ? (this.#labelled ?? this.#series) : this.#series,
    };
  }

  async counts(): Promise<ServiceCountsView> {
    const port = this.#port;
    if (port !== undefined)
      await this.#answered(false, (id) =>
        port.postMessage({ kind: "counts", id } satisfies CountsRequest),
      );
    return this.#counts;
  }

  catalogue(): ProcessCatalogue {
    return this.#catalogue;
  }

  #answered(labels: boolean, ask: (id: number) => void): Promise<void> {
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
      ask(id);
    });
  }

  #hear(message: ProcessStatusMessage): void {
    if (message.kind === "answer") return this.#take(message);
    if (message.kind === "counted") {
      this.#counts = message.counts;
      return this.#pending.get(message.id)?.settle();
    }
    this.#constants = fromBinary(StatusSchema, message.status);
    this.#catalogue = { metrics: message.metrics, records: message.records };
  }

  /** A late reply is still the newest. */
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

  /** Each field comes from the last reply, else from the constants, else zero. */
  #status(): ProcessStatus {
    const entries = fields.map(
      (name) =>
        [
          name,
          ([this.#answer, this.#constants].find(
            (part) => part !== undefined && isFieldSet(part, StatusSchema.field[name]),
          ) ?? this.#zeros)[name],
        ] as const,
    );
    return Object.fromEntries(entries) as unknown as ProcessStatus;
  }
}
