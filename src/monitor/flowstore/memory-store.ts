/**
 * The traffic of one network in memory: sums per minute within the retention, of the oldest minutes
 * perhaps only totals, and the newest single connections.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import { AccessPolicy } from "../policy/access-policy.ts";
import type { FlowStoreOptions } from "../options.ts";
import {
  addToBucket,
  BUCKET_MS,
  createBucket,
  isReduced,
  reduceToTotals,
  type Bucket,
} from "./bucket.ts";
import type { FlowCapacity } from "./capacity.ts";
import type { EntryBudget, Reducible } from "./entry-budget.ts";
import { matcher } from "./filter.ts";
import type { FlowPart, FlowQuery, FlowSelection, FlowStore, FlowWindow } from "./flow-store.ts";
import { isBefore, RecentFlows } from "./recent-flows.ts";
import type { FlowObservation, FlowRefusal, FlowStoreStatus } from "./types.ts";

export interface FlowStoreDeps {
  readonly clock: Pick<Clock, "now">;
  /** Numbers of arrival, shared by the stores of all networks. */
  readonly nextSeq: () => number;
  /** Of each network. */
  readonly limits: FlowCapacity;
  /** Shared by the stores of all networks. */
  readonly budget: EntryBudget;
}

/** Takes no memory for traffic that has not arrived. */
export function createMemoryStore(
  deps: FlowStoreDeps,
  network: string,
  options: FlowStoreOptions,
): FlowStore {
  return new MemoryFlowStore(deps, network, options);
}

class MemoryFlowStore implements FlowStore, Reducible {
  readonly #deps: FlowStoreDeps;
  readonly #options: FlowStoreOptions;
  /** By the begin of the minute, unordered. */
  readonly #buckets = new Map<number, Bucket>();
  readonly #recent: RecentFlows;
  readonly policy = new AccessPolicy();
  network: string;
  #observations = 0;
  #truncated = 0;
  #expiredMs = Number.NEGATIVE_INFINITY;

  constructor(deps: FlowStoreDeps, network: string, options: FlowStoreOptions) {
    this.#deps = deps;
    this.network = network;
    this.#options = options;
    this.#recent = new RecentFlows(deps.limits.recent);
    deps.budget.join(this);
  }

  named(network: string): void {
    this.network = network;
  }

  record(observation: FlowObservation): FlowRefusal | undefined {
    const nowMs = this.#deps.clock.now();
    const timeMs = observation.timeMs ?? nowMs;
    if (timeMs < nowMs - this.#options.retentionMs) return "expired";
    if (timeMs > nowMs + this.#options.maxFutureSkewMs) return "future";
    this.#expire(nowMs);
    this.#observations += 1;
    this.#sum(this.#bucketAt(timeMs), observation);
    const seq = this.#deps.nextSeq();
    if (this.#recent.takes(timeMs)) this.#recent.add({ ...observation, timeMs, seq });
    return undefined;
  }

  status(): FlowStoreStatus {
    this.#expire(this.#deps.clock.now());
    const begins = [...this.#buckets.keys()];
    return {
      buckets: begins.length,
      capacity: Math.ceil(this.#options.retentionMs / BUCKET_MS),
      observations: this.#observations,
      truncated: this.#truncated,
      times:
        begins.length === 0
          ? undefined
          : { earliestMs: Math.min(...begins), latestMs: Math.max(...begins) },
      backend: {
        kind: "memory",
        path: undefined,
        error: undefined,
        queued: 0,
        queueDrops: 0,
        rows: 0,
        sizeBytes: 0,
      },
    };
  }

  parts({ startMs, endMs }: FlowWindow): readonly FlowPart[] {
    this.#expire(this.#deps.clock.now());
    return [...this.#buckets]
      .filter(([beginMs]) => beginMs + BUCKET_MS > startMs && beginMs <= endMs)
      .toSorted(([left], [right]) => left - right)
      .map(([beginMs, { tables, totals, truncated }]) => ({
        tables,
        minutes: [[beginMs, totals] as const],
        truncated,
      }));
  }

  /** Looks at every connection at once: some thousand. */
  select({ filter, startMs, endMs, limit, before }: FlowQuery): Promise<FlowSelection> {
    const matches = matcher(filter);
    const { flows, isFull } = this.#recent;
    const selected = flows
      .filter((flow) => flow.timeMs >= startMs && flow.timeMs <= endMs && matches(flow))
      .toReversed();
    const older =
      before === undefined ? selected : selected.filter((flow) => isBefore(flow, before));
    return Promise.resolve({
      rows: older.slice(0, limit + 1),
      matched: selected.length,
      retained: flows.length,
      isFull,
    });
  }

  oldestMs(): number | undefined {
    let oldestMs: number | undefined;
    for (const [beginMs, bucket] of this.#buckets)
      if (beginMs < (oldestMs ?? Number.POSITIVE_INFINITY) && !isReduced(bucket))
        oldestMs = beginMs;
    return oldestMs;
  }

  reduceOldest(): number {
    const bucket = this.#buckets.get(this.oldestMs() ?? Number.NaN);
    if (bucket === undefined) return 0;
    const { entries } = bucket;
    this.#truncated += bucket.totals.flows - bucket.truncated;
    reduceToTotals(bucket);
    return entries;
  }

  #sum(bucket: Bucket, observation: FlowObservation): void {
    const before = bucket.entries;
    if (!addToBucket(bucket, observation)) this.#truncated += 1;
    this.#deps.budget.take(bucket.entries - before);
  }

  #bucketAt(timeMs: number): Bucket {
    const beginMs = Math.floor(timeMs / BUCKET_MS) * BUCKET_MS;
    const known = this.#buckets.get(beginMs);
    if (known !== undefined) return known;
    const bucket = createBucket(this.#deps.limits);
    this.#buckets.set(beginMs, bucket);
    return bucket;
  }

  /** A minute goes as a whole, once its end is beyond the retention. At most once a second. */
  #expire(nowMs: number): void {
    if (Math.abs(nowMs - this.#expiredMs) < 1_000) return;
    this.#expiredMs = nowMs;
    const oldestMs = nowMs - this.#options.retentionMs;
    for (const [beginMs, bucket] of this.#buckets) {
      if (beginMs + BUCKET_MS > oldestMs) continue;
      this.#buckets.delete(beginMs);
      this.#deps.budget.free(bucket.entries);
    }
    this.#recent.expire(oldestMs);
  }
}
