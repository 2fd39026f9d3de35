/** Dependencies and description of a host. */
import type { MessagePort } from "node:worker_threads";
import type { DescService } from "@bufbuild/protobuf";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { RootLog } from "../../base/log.ts";
import type { Component } from "../../supervisor/component.ts";
import type { Backoff } from "../../async/backoff.ts";
import type { ServiceCode } from "../service-instance.ts";

export interface HostDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  /** The log of the process, which also writes the service's lines. */
  readonly log: RootLog;
  /**
   * New ports for each start, e.g. `{ telemetry: telemetry.port() }`; they are transferred to the
   * service.
   */
  readonly ports?: () => Readonly<Record<string, MessagePort>>;
  /**
   * Called during a stop when all components of the service have stopped, while its thread still
   * answers on its ports, e.g. to send its last measurements.
   */
  readonly drained?: (deadlineMs: number) => Promise<unknown>;
}

export interface HostSpec {
  readonly code: ServiceCode;
  readonly descriptors: readonly DescService[];
  readonly options: unknown;
  readonly needs: readonly string[];
  readonly readiness: Component["readiness"];
  /** Maximum heap of its own thread; default V8's. */
  readonly heapMb: number | undefined;
  /** Prefixes of further environment variables for its own thread. */
  readonly variables: readonly string[];
}

/** Restart backoff of a broken service. */
export const RESTART: Backoff = { firstMs: 500, maxMs: 30_000 };

/** Default time until an answer begins. */
export const CALL_MS = 120_000;
