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
  HouseAnswer,
  HouseField,
  HouseMessage,
  HouseQuestion,
  HouseStatus,
  MetricFacts,
} from "./house-facts.ts";
import { houseZeros } from "./house-zeros.ts";

/** The main thread answers from memory; who waits longer shows what was so before. */
const ANSWER_MS = 1_000;

/** What is known of the house. */
interface HouseView {
  readonly status: HouseStatus;
  readonly series: readonly MetricFacts[];
}

/**
 * The catalogue of everything that is not the monitor's. The same object until the house tells
 * another.
 */
export interface HouseCatalogue {
  readonly metrics: readonly AnyRow[];
  readonly records: readonly AnyLogRow[];
}

/** The house, whether it answers or not. */
export interface House {
  /** Speaks over this port from now on, until it closes. */
  attach(port: MessagePort): void;
  /**
   * Never rejects: without an answer in time it is the last one, and zeros before the first.
   * `labels` asks for label values with the series.
   */
  ask(wanted: { readonly labels: boolean }): Promise<HouseView>;
  catalogue(): HouseCatalogue;
}

/** A house without a port. */
export function createHouse(clock: Clock): House {
  return new PortHouse(clock);
}

interface Asked {
  readonly labels: boolean;
  readonly settle: () => void;
}

const fields = Object.keys(houseZeros()) as HouseField[];

class PortHouse implements House {
  readonly #clock: Clock;
  readonly #zeros = houseZeros();
  readonly #asked = new Map<number, Asked>();
  #port: MessagePort | undefined;
  #nextId = 0;
  #constants: Status | undefined;
  #catalogue: HouseCatalogue = { metrics: [], records: [] };
  #answer: Status | undefined;
  #series: readonly MetricFacts[] = [];
  #labelled: readonly MetricFacts[] | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  attach(port: MessagePort): void {
    this.#port = port;
    this.#settleAll();
    port.on("message", (message: HouseMessage) => this.#hear(message));
    port.on("close", () => {
      if (this.#port !== port) return;
      this.#port = undefined;
      this.#settleAll();
    });
    port.unref();
  }

  async ask({ labels }: { readonly labels: boolean }): Promise<HouseView> {
    const port = this.#port;
    if (port !== undefined) await this.#answered(port, labels);
    return {
      status: this.#status(),
      series: labels ? (this.#labelled ?? this.#series) : this.#series,
    };
  }

  catalogue(): HouseCatalogue {
    return this.#catalogue;
  }

  #answered(port: MessagePort, labels: boolean): Promise<void> {
    const id = this.#nextId;
    this.#nextId += 1;
    return new Promise((resolve) => {
      const settle = (): void => {
        timer[Symbol.dispose]();
        this.#asked.delete(id);
        resolve();
      };
      const timer = this.#clock.timer(this.#clock.monotonic() + ANSWER_MS, settle);
      this.#asked.set(id, { labels, settle });
      port.postMessage({ kind: "ask", id, labels } satisfies HouseQuestion);
    });
  }

  #hear(message: HouseMessage): void {
    if (message.kind === "answer") return this.#take(message);
    this.#constants = fromBinary(StatusSchema, message.status);
    this.#catalogue = { metrics: message.metrics, records: message.records };
  }

  /** A late answer is still the newest there is. */
  #take({ id, status, series }: HouseAnswer): void {
    const asked = this.#asked.get(id);
    this.#answer = fromBinary(StatusSchema, status);
    this.#series = series;
    if (asked?.labels === true) this.#labelled = series;
    asked?.settle();
  }

  #settleAll(): void {
    for (const { settle } of this.#asked.values()) settle();
  }

  /** Of each field what was answered last, else what was told at the start, else zero. */
  #status(): HouseStatus {
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
    return Object.fromEntries(entries) as unknown as HouseStatus;
  }
}
