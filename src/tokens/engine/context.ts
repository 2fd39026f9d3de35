/** State shared by the paths of one mounted engine. */
import { StewardError } from "../../kernel/base/errors.ts";
import type { Host } from "../logical/types.ts";
import type { EngineMetrics } from "./metrics/engine-metrics.ts";
import type { PlatformDeps } from "./platform/platform.ts";
import type { Sessions } from "./session.ts";
import type { BuildInfo } from "./types.ts";

/** Concurrent mint calls, those waiting for a connection included. */
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
  /** Serializes changes of the configuration. */
  readonly changing: <T>(change: () => Promise<T>) => Promise<T>;
}

/** Bounds concurrent calls to the platform. */
export interface InFlight {
  /** Dispose the result to release. Throws `exhausted` at the limit. */
  enter(): Disposable;
}

export function createInFlight(): InFlight {
  let taken = 0;
  return {
    enter() {
      if (taken >= MAX_IN_FLIGHT)
        throw new StewardError(
          "exhausted",
          `${taken} requests to the platform are in flight; retry later`,
          { rule: "in_flight", retryAfterMs: 1_000 },
        );
      taken += 1;
      return {
        [Symbol.dispose]: () => {
          taken -= 1;
        },
      };
    },
  };
}

/** Runs changes one at a time; a failed one does not block the next. */
export function createSerial(): EngineContext["changing"] {
  let last: Promise<unknown> = Promise.resolve();
  return (change) => {
    const run = last.then(change);
    last = run.catch(() => undefined);
    return run;
  };
}
