/** Exports the sizes of a network's caches and sets. */
import type { Scope } from "../../kernel/telemetry/types.ts";
import { dedupEvictions, dedupHits, dedupSize, enrichCacheAge } from "../catalogue/collection.ts";
import type { DeviceCache } from "../enrich/types.ts";
import type { DedupSetStatus } from "../flows/types.ts";

/** `devices` is undefined while no collector fills it. */
export interface ReportedNetwork {
  readonly devices: Pick<DeviceCache, "ageMs"> | undefined;
  readonly dedupSets: () => readonly DedupSetStatus[];
  /** Connections of the overlap that were forgotten early. Called also after the stores have closed. */
  readonly replayEvictions: () => number;
}

/** Value of `dedup.set`. */
const REPLAY_SET = "flow_replay";

/** Registers callbacks that run before each snapshot. */
export function reportNetwork(
  scope: Scope,
  { devices, dedupSets, replayEvictions }: ReportedNetwork,
): Disposable {
  return scope.observe(() => {
    if (devices !== undefined) scope.gauge(enrichCacheAge, devices.ageMs() / 1_000, {});
    const forgotten = replayEvictions();
    if (forgotten > 0) scope.total(dedupEvictions, forgotten, { "dedup.set": REPLAY_SET });
    for (const { name, size, hits, evictions } of dedupSets()) {
      scope.gauge(dedupSize, size, { "dedup.set": name });
      scope.total(dedupHits, hits, { "dedup.set": name });
      scope.total(dedupEvictions, evictions, { "dedup.set": name });
    }
  });
}
