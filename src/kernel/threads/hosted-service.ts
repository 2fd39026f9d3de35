/**
 * What a service must be to run on any thread, and what the process holds of it wherever it runs.
 */
import type { MessagePort } from "node:worker_threads";
import type { DescService } from "@bufbuild/protobuf";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { Service } from "../service.ts";
import type { Component, ComponentState } from "../supervisor/component.ts";
import type { Caller, Encoding, ReplyMeta } from "./messages.ts";

/** What a service gets from the thread it runs in. */
export interface ThreadContext {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /**
   * Adds a part with a life of its own, while the service is made. All parts start after that and
   * stop in reverse.
   */
  add(component: Component): void;
  /**
   * Tells whoever listens to the topic; nothing is kept for those who come later. The bytes are
   * copied.
   */
  publish(topic: string, body: Uint8Array): void;
  /** What it was given to speak with other threads, e.g. telemetry, by name. */
  readonly ports: Readonly<Record<string, MessagePort>>;
  /**
   * Hears of new ports that take the place of those, e.g. because telemetry has started anew. One
   * handler, set while the service is made.
   */
  onPorts(handler: (ports: Readonly<Record<string, MessagePort>>) => void): void;
}

/**
 * Makes a service. Options are plain data; it keeps no state outside of what it makes, so it can be
 * made twice.
 */
export type CreateHostedService<O> = (context: ThreadContext, options: O) => Promise<Service>;

/** Where a service's code is. Importing this must not import the service. */
export interface ServiceModule<O> {
  /** Names thread, component and log lines. */
  readonly name: string;
  readonly file: URL;
  /** The export of `file` that is a `CreatePlaced<O>`. */
  readonly export: string;
  /** The services that it binds, all of them. */
  readonly descriptors: readonly DescService[];
  /** Never there: ties the options' type to the module. */
  readonly options?: O;
}

/** How a call is made. */
export interface CallOptions {
  readonly signal: AbortSignal;
  readonly encoding: Encoding;
  readonly requestId: string;
  readonly caller?: Caller;
  /** Until the answer begins; 120,000 unless said otherwise. */
  readonly deadlineMs?: number;
}

/** An answer. */
export interface ThreadReply {
  readonly meta: ReplyMeta;
  /** The whole answer, or empty when it comes in chunks or pieces. */
  readonly body: Uint8Array;
  /** The whole answer in pieces that both sides see (`WrittenJson`). */
  readonly pieces?: readonly Uint8Array<SharedArrayBuffer>[] | undefined;
  /**
   * A stream: one message a chunk, or pieces of a plain route's body. Leaving it early ends the
   * handler.
   */
  readonly chunks: AsyncIterable<Uint8Array> | undefined;
}

/** Figures of a placed service. */
export interface PlacementStatus {
  readonly on: Placement;
  readonly inFlight: number;
  readonly calls: number;
  /** Answers that nobody waited for any more. */
  readonly dropped: number;
  /** Events that a slow listener missed. */
  readonly missedEvents: number;
}

/** The thread a service runs in: main, or one of its own. */
export type Placement = "main" | "thread";

/** A service in its place: a component like any other, which answers calls while it runs. */
export interface ThreadHost extends Component {
  /** What the gateway serves. Between start and stop; throws `not_ready` otherwise. */
  service(): Service;
  /**
   * Calls `package.Service/Method` with a protobuf request, which moves to the thread. Throws the
   * handler's error, the signal's reason, `deadline`, `exhausted` above 1,024 calls, `not_ready`
   * when the thread is down or dies.
   */
  call(method: string, body: Uint8Array, options: CallOptions): Promise<ThreadReply>;
  /**
   * What the service publishes from now on; a listener that is 64 events behind misses the oldest.
   * Ends with the signal, and when the service stops or breaks.
   */
  events(topic: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /**
   * Gives a running service new ports of `HostDeps.ports`; without one that runs it does nothing.
   */
  renewPorts(): void;
  /** How its own parts stand, as far as is known. */
  states(): readonly ComponentState[];
  status(): PlacementStatus;
}
