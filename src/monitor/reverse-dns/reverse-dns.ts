/** Reverse DNS of the process: its component, its row of the status, and its purge. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { Component } from "../../kernel/supervisor/component.ts";
import { bindService, type BoundService } from "../../kernel/service.ts";
import { ReverseDnsService } from "../../gen/steward/monitor/v1/reverse_dns_service_pb.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import { ReverseDnsCache } from "./cache.ts";
import { reportReverseDns } from "./report.ts";
import { createReverseResolver } from "./resolver.ts";
import type { ReverseDnsFigures, ReverseDnsOptions, ReverseNames } from "./types.ts";

export interface ReverseDns {
  readonly options: ReverseDnsOptions;
  readonly names: ReverseNames;
  readonly component: Component;
  purge(): number;
  figures(): ReverseDnsFigures;
}

function createReverseDns(
  { clock, log, needs }: { clock: Clock; log: Log; needs: readonly string[] },
  options: ReverseDnsOptions,
): ReverseDns {
  const cache = new ReverseDnsCache(
    { clock, log, resolver: createReverseResolver(options, { clock }) },
    options,
  );
  return {
    options,
    names: cache,
    component: {
      name: "reverse-dns",
      needs,
      readiness: "none",
      start: () => Promise.resolve(cache.start()),
      stop: () => Promise.resolve(cache.close()),
    },
    purge: () => cache.purge(),
    figures: () => cache.figures(),
  };
}

/** Adds the component and its metrics; undefined while reverse DNS is off. */
export function addReverseDns(
  deps: { clock: Clock; log: Log; needs: readonly string[]; add: (component: Component) => void },
  options: ReverseDnsOptions | undefined,
  reported: Scope | undefined,
): ReverseDns | undefined {
  if (options === undefined) return undefined;
  const reverseDns = createReverseDns({ ...deps, log: deps.log.child("reverse-dns") }, options);
  deps.add(reverseDns.component);
  if (reported !== undefined)
    reportReverseDns(reported, options.maxEntries, () => reverseDns.figures());
  return reverseDns;
}

export function createReverseDnsApi(reverseDns: ReverseDns | undefined): BoundService {
  return bindService(ReverseDnsService, {
    purgeReverseDns: () => ({
      purged: reverseDns?.purge() ?? 0,
      enabled: reverseDns !== undefined,
    }),
  });
}
