/** What a host is made of, on whichever thread the service runs. */
import type { MessagePort } from "node:worker_threads";
import type { DescService } from "@bufbuild/protobuf";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { RootLog } from "../base/log.ts";
import type { Backoff, Component } from "../supervisor/component.ts";
import type { ResidentCode } from "./resident.ts";

/** What a host works with. */
export interface HostDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  /** The log of the process: it also writes the lines of the service, wherever that runs. */
  readonly log: RootLog;
  /** New ports for each start, e.g. `{ telemetry: telemetry.port() }`; they move to the service. */
  readonly ports?: () => Readonly<Record<string, MessagePort>>;
  /**
   * Called in a stop when all parts of the service have stopped, while its thread still answers on
   * its ports, e.g. so that its last measurements are sent.
   */
  readonly drained?: (deadlineMs: number) => Promise<unknown>;
}

/** What it hosts. */
export interface HostSpec {
  readonly code: ResidentCode;
  readonly descriptors: readonly DescService[];
  readonly options: unknown;
  readonly needs: readonly string[];
  readonly readiness: Component["readiness"];
  /** Largest heap of a thread of its own; V8's default unless given. */
  readonly heapMb: number | undefined;
  /** Beginnings of further variables that a thread of its own may see. */
  readonly variables: readonly string[];
}

/** How a service that broke is started again. */
export const RESTART: Backoff = { firstMs: 500, maxMs: 30_000 };

/** Until an answer begins, unless the caller says otherwise. */
export const CALL_MS = 120_000;
