/** Interface of a service that can run on any thread, and of its host in the process. */
import type { MessagePort } from "node:worker_threads";
import type { DescService } from "@bufbuild/protobuf";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { Service } from "../service.ts";
import type { Component, ComponentState } from "../supervisor/component.ts";
import type { Caller, Encoding, ReplyMeta } from "./calls/messages.ts";

/** The service's view of its thread. */
export interface ThreadContext {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /**
   * Adds a component while the service is created. Components start afterwards and stop in reverse
   * order.
   */
  add(component: Component): void;
  /** Publishes an event to the topic's current listeners. The bytes are copied. */
  publish(topic: string, body: Uint8Array): void;
  /** Ports to other threads by name, e.g. telemetry. */
  readonly ports: Readonly<Record<string, MessagePort>>;
  /**
   * Called with replacement ports, e.g. after telemetry restarted. One handler, set while the
   * service is created.
   */
  onPorts(handler: (ports: Readonly<Record<string, MessagePort>>) => void): void;
}

/**
 * Creates a service. Options are plain data; it keeps no global state, so it can be created twice.
 */
export type CreateHostedService<O> = (context: ThreadContext, options: O) => Promise<Service>;

/** Location of a service's code. Importing the declaration must not import the service. */
export interface ServiceModule<O> {
  /** Names thread, component and log lines. */
  readonly name: string;
  readonly file: URL;
  /** The export of `file` that is a `CreateHostedService<O>`. */
  readonly export: string;
  /** All services that it binds. */
  readonly descriptors: readonly DescService[];
  /** Never set: ties the options' type to the module. */
  readonly options?: O;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly encoding: Encoding;
  readonly requestId: string;
  readonly caller?: Caller;
  /** Until the answer begins; default 120,000. */
  readonly deadlineMs?: number;
}

export interface ThreadReply {
  readonly meta: ReplyMeta;
  /** The whole answer, or empty when it comes in chunks or pieces. */
  readonly body: Uint8Array;
  /** The whole answer as shared memory (`WrittenJson`). */
  readonly pieces?: readonly Uint8Array<SharedArrayBuffer>[] | undefined;
  /**
   * A stream: one message per chunk, or pieces of a plain route's body. Leaving it early ends the
   * handler.
   */
  readonly chunks: AsyncIterable<Uint8Array> | undefined;
}

export interface PlacementStatus {
  readonly on: Placement;
  readonly inFlight: number;
  readonly calls: number;
  /** Answers to calls that were no longer open. */
  readonly dropped: number;
  /** Events dropped for slow listeners. */
  readonly missedEvents: number;
}

/** The thread a service runs in: main, or one of its own. */
export type Placement = "main" | "thread";

/** A hosted service: a component that answers calls while it runs. */
export interface ThreadHost extends Component {
  /** For the gateway, between start and stop; throws `not_ready` otherwise. */
  service(): Service;
  /**
   * Calls `package.Service/Method` with a protobuf request, which is transferred. Throws the
   * handler's error, the signal's reason, `deadline`, `exhausted` above 1,024 calls, `not_ready`
   * when the thread is down or dies.
   */
  call(method: string, body: Uint8Array, options: CallOptions): Promise<ThreadReply>;
  /**
   * Events published from now on; a listener that is 64 events behind loses the oldest. Ends with
   * the signal, and when the service stops or breaks.
   */
  events(topic: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /**
   * Passes new ports of `HostDeps.ports` to a running service, and to a starting one as soon as it
   * has started; otherwise a no-op.
   */
  renewPorts(): void;
  /** Last known state of its components. */
  states(): readonly ComponentState[];
  status(): PlacementStatus;
}
