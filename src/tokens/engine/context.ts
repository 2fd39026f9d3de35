/** State shared by the paths of one mounted engine. */
import { StewardError } from "../../kernel/base/errors.ts";
import type { Host } from "../logical/types.ts";
import type { EngineMetrics } from "./metrics/engine-metrics.ts";
import type { Headroom } from "./platform/headroom.ts";
import type { PlatformDeps } from "./platform/platform.ts";
import type { Sessions } from "./session.ts";
import type { BuildInfo } from "./types.ts";
import { createSemaphore } from "../../kernel/async/semaphore.ts";
import type { Serial } from "../../kernel/async/serial.ts";

/** The rule of the error beyond the limit. */
export const IN_FLIGHT = "in_flight";

/** Concurrent mint calls with their lookups, those waiting for a connection included. */
const MAX_IN_FLIGHT = 256;

export interface EngineContext {
  readonly host: Host;
  readonly build: BuildInfo;
  readonly platform: PlatformDeps;
  readonly sessions: Sessions;
  readonly metrics: EngineMetrics;
  /** Whether `base_url` may name a link-local address or a cloud metadata service. */
  readonly allowLinkLocal: boolean;
  readonly inFlight: InFlight;
  /** Undefined where nobody wants to know. */
  readonly headroom: Headroom | undefined;
  /** Serializes changes of the configuration. */
  readonly changing: Serial;
}

/** Bounds concurrent calls to the platform. */
export interface InFlight {
  /** Dispose the result to release. Throws `exhausted` at the limit. */
  enter(): Disposable;
}

export function createInFlight(): InFlight {
  const calls = createSemaphore(MAX_IN_FLIGHT);
  return {
    enter() {
      const slot = calls.tryAcquire();
      if (slot !== undefined) return slot;
      throw new StewardError(
        "exhausted",
        `${calls.held} requests to the platform are in flight; retry later`,
        { rule: IN_FLIGHT, retryAfterMs: 1_000 },
      );
    },
  };
}
