/** What the paths of one mounted engine share. */
import { StewardError } from "../../kernel/base/errors.ts";
import type { Host } from "../logical/types.ts";
import type { EngineMetrics } from "./metrics/engine-metrics.ts";
import type { PlatformDeps } from "./platform/platform.ts";
import type { Sessions } from "./session.ts";
import type { BuildInfo } from "./types.ts";

/** Platform calls while minting, those that wait for a connection included. */
const MAX_IN_FLIGHT = 256;

/** Handed to every path. */
export interface EngineContext {
  readonly host: Host;
  readonly build: BuildInfo;
  readonly platform: PlatformDeps;
  readonly sessions: Sessions;
  readonly metrics: EngineMetrics;
  /** `base_url` may name a link-local address or a cloud's metadata service. */
  readonly allowLinkLocal: boolean;
  readonly inFlight: InFlight;
  /** Runs changes of the configuration one after the other. */
  readonly changing: <T>(change: () => Promise<T>) => Promise<T>;
}

/** Places for calls to the platform. */
export interface InFlight {
  /** To be disposed. Throws `exhausted` when all are taken. */
  enter(): Disposable;
}

/** All places are free. */
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

/** One change at a time; a failed one does not hold up the next. */
export function createSerial(): EngineContext["changing"] {
  let last: Promise<unknown> = Promise.resolve();
  return (change) => {
    const run = last.then(change);
    last = run.catch(() => undefined);
    return run;
  };
}
