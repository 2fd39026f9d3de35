/**
 * `grpc.health.v1`: readiness of the process under the empty name, of each service under its name.
 * Open to everybody.
 */
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../src/gen/grpc/health/v1/health_pb.ts";
import { delay, type Clock } from "../src/kernel/base/clock.ts";
import { StewardError } from "../src/kernel/base/errors.ts";
import { bindService, type BoundService } from "../src/kernel/service.ts";

/** Answers from memory. */
export interface HealthSource {
  /** May this process take traffic? */
  ready(): boolean;
  /** Can this service work? */
  serviceReady(name: string): boolean;
  /** Full names of all services. */
  readonly services: readonly string[];
}

const LOOK_AGAIN_MS = 500;

/** A watch checks twice a second and sends changes. */
export function createHealth(source: HealthSource, clock: Clock): BoundService {
  const status = (name: string): Status => {
    if (name !== "" && !source.services.includes(name)) return Status.SERVICE_UNKNOWN;
    return (name === "" ? source.ready() : source.serviceReady(name))
      ? Status.SERVING
      : Status.NOT_SERVING;
  };
  return bindService(Health, {
    check({ service }) {
      const found = status(service);
      if (found === Status.SERVICE_UNKNOWN)
        throw new StewardError(
          "not_found",
          `there is no service ${JSON.stringify(service.slice(0, 200))}`,
          { remedy: `known are ${source.services.join(", ")}` },
        );
      return { status: found };
    },
    list: () => ({
      statuses: Object.fromEntries(
        ["", ...source.services].map((name) => [name, { status: status(name) }]),
      ),
    }),
    async *watch({ service }, { signal }) {
      for (let last: Status | undefined; ; await delay(clock, LOOK_AGAIN_MS, signal)) {
        const found = status(service);
        if (found !== last) yield { status: found };
        last = found;
      }
    },
  });
}
