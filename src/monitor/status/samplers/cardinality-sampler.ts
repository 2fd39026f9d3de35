/**
 * Samples the series of all scopes once per report interval. The page shows the last interval's
 * count, so rows are built once per interval.
 */
import type { CardinalityInfo } from "../../../gen/steward/monitor/v1/cardinality_pb.ts";
import type { Clock } from "../../../kernel/base/clock.ts";
import { toStewardError } from "../../../kernel/base/errors.ts";
import type { Log } from "../../../kernel/base/log.ts";
import { CardinalityHistory } from "../../../kernel/telemetry/series/cardinality-history.ts";
import type { CardinalityInfo as ScopeCardinality } from "../../../kernel/telemetry/types.ts";
import {
  cardinalityInfo,
  unavailableCardinality,
  type CardinalityDeps,
} from "../rows/cardinality-rows.ts";
import { every } from "./every.ts";
import type { MetricFacts } from "../process/process-status.ts";
import { mergeFacts, scopeFacts } from "./series-facts.ts";
import { Turns } from "../../../kernel/async/turns.ts";

export interface SampledDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Series of this thread that belong to no network. */
  readonly own: () => readonly ScopeCardinality[];
  /** Series by configured network name. */
  readonly networks: () => ReadonlyMap<string, ScopeCardinality>;
  /** Series of the main thread, with label values. */
  readonly processStatus: () => Promise<readonly MetricFacts[]>;
  /** Settings for building rows. */
  readonly rows: () => CardinalityDeps;
  readonly intervalMs: number;
  /** Without self-observability nothing is sampled. */
  readonly enabled: boolean;
}

export interface CardinalitySampler {
  /** Counts at once; rows appear after the first interval. */
  start(): void;
  stop(): void;
  /** Of the whole process. The same object until the next sample. */
  whole(): CardinalityInfo;
  network(id: string): CardinalityInfo;
  /** Resolves when the running sample is complete. */
  settled(): Promise<void>;
}

/** Has no data before its start. */
export function createCardinalitySampler(deps: SampledDeps): CardinalitySampler {
  const sampler = new Sampler(deps);
  const schedule = every(
    deps.clock,
    () => deps.intervalMs,
    () => sampler.look(),
  );
  return {
    start() {
      if (deps.enabled) schedule.start();
    },
    stop: () => schedule.stop(),
    whole: () => sampler.whole(),
    network: (id) => sampler.network(id),
    settled: () => sampler.looking,
  };
}

class Sampler {
  readonly #deps: SampledDeps;
  readonly #history: CardinalityHistory = new CardinalityHistory();
  #looks = 0;
  #running = false;
  #whole: CardinalityInfo | undefined;
  #networks = new Map<string, CardinalityInfo>();
  #none: CardinalityInfo | undefined;
  looking: Promise<void> = Promise.resolve();

  constructor(deps: SampledDeps) {
    this.#deps = deps;
  }

  whole(): CardinalityInfo {
    return this.#whole ?? this.#unavailable();
  }

  network(id: string): CardinalityInfo {
    return this.#networks.get(id) ?? this.#unavailable();
  }

  /** Skipped while another sample is running, e.g. because the main thread does not reply. */
  look(): void {
    if (this.#running) return;
    this.#running = true;
    this.looking = this.#look()
      .catch((error: unknown) =>
        this.#deps.log.error("counting series for the status page failed", {
          error: toStewardError(error),
        }),
      )
      .finally(() => (this.#running = false));
  }

  async #look(): Promise<void> {
    const { own, networks, processStatus, rows } = this.#deps;
    const turns = new Turns();
    const processSeries = await processStatus();
    const ofNetworks = networks();
    const infos = [...own(), ...ofNetworks.values()];
    this.#history.sample([...infos, asInfo(processSeries)]);
    const growth = this.#history.view();
    this.#looks += 1;
    if (this.#looks === 1 || growth.totals.at(-1) === 0) {
      this.#whole = unavailableCardinality(rows().thresholds, growth.totals);
      return;
    }
    const facts: MetricFacts[] = [];
    for (const info of infos) facts.push(...(await scopeFacts(info, turns)));
    this.#whole = await cardinalityInfo(
      rows(),
      await mergeFacts([...facts, ...processSeries], turns),
      growth,
      turns,
    );
    const found = new Map<string, CardinalityInfo>();
    for (const [id, info] of ofNetworks) {
      const merged = await mergeFacts(await scopeFacts(info, turns), turns);
      if (merged.length > 0) found.set(id, await cardinalityInfo(rows(), merged, undefined, turns));
    }
    this.#networks = found;
  }

  #unavailable(): CardinalityInfo {
    return (this.#none ??= unavailableCardinality(this.#deps.rows().thresholds));
  }
}

/** Converts the main thread's series to the shape of a scope's. */
function asInfo(facts: readonly MetricFacts[]): ScopeCardinality {
  return {
    series: 0,
    limitPerMetric: 0,
    refused: { limit: 0, suppressed: 0, invalid: 0, overflowed: 0 },
    metrics: facts.map(({ name, series, overflowing }) => ({
      name,
      group: "",
      series,
      overflowing,
      labels: () => [],
    })),
  };
}
