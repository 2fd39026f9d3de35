/**
 * Reads new objects of a bucket, oldest first. An object is ingested whole or not at all; an
 * unreadable one is remembered and retried; objects beyond the limits of a run are left to the
 * next.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import { toStewardError } from "../../kernel/base/errors.ts";
import type { Log } from "../../kernel/base/log.ts";
import { failureOf } from "../../kernel/client/failure.ts";
import type { Scope, Sweep } from "../../kernel/telemetry/types.ts";
import {
  objectstoreBytes,
  objectstoreDecompressedBytes,
  objectstoreExpansionLimitFailures,
  objectstoreObjects,
  objectstoreRecords,
  objectstoreRequestDuration,
  objectstoreRequests,
  objectstoreRetries,
  objectstoreSkipped,
} from "../catalogue/object-store.ts";
import type { Evidence } from "../checkpoints/types.ts";
import type { IntakeReport } from "../flows/types.ts";
import type { ObjectStoreOptions } from "../options.ts";
import type { Bucket } from "./bucket.ts";
import { setFeedGauges } from "./feed-gauges.ts";
import { FeedState, isDue, MAX_SEEN } from "./feed-state.ts";
import { continueAfter, prefixesOf, readName, type ObjectName } from "./object-keys.ts";
import { ObjectRefused, readRows, type Cost } from "./object-rows.ts";

const FUTURE_MS = 300_000;
const PAGES_OF_OBJECTS = 4;
const SECOND_MS = 1_000;

export interface FeedDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly scope: Scope;
  readonly evidence: Evidence;
  readonly bucket: Bucket;
  /** Processes the rows of one object. */
  readonly accept: (
    rows: readonly unknown[],
    signal: AbortSignal,
    object: { readonly key: string; readonly name: ObjectName },
  ) => Promise<IntakeReport>;
  /** Called per ingested object with its bytes after decompression. */
  readonly received: (bytes: number) => void;
}

/** A feed of one kind of log. */
export interface Feed {
  /**
   * One run. `list` wraps listing calls for the capability matrix. Rejects when the bucket cannot
   * be listed.
   */
  run(tick: {
    readonly nowMs: number;
    readonly signal: AbortSignal;
    readonly sweep: Pick<Sweep, "gauge">;
    readonly list: <T>(call: () => Promise<T>) => Promise<T>;
  }): Promise<void>;
}

type Tick = Parameters<Feed["run"]>[0];

interface Candidate {
  readonly key: string;
  readonly name: ObjectName;
  /** The listed prefix; undefined for a retried gap. */
  readonly prefix: string | undefined;
}

interface Listing {
  readonly fromMs: number;
  readonly candidates: readonly Candidate[];
  readonly newestMs: number | undefined;
  /** By prefix: the last key listed in this run or, without one, before; empty when there is none. */
  readonly last: ReadonlyMap<string, string>;
  /** Prefixes with more keys. */
  readonly more: ReadonlySet<string>;
}

/** `signal` names its kind: flow, audit, k8s_audit. */
export function createFeed(deps: FeedDeps, signal: string, options: ObjectStoreOptions): Feed {
  return new BucketFeed(deps, signal, options);
}

function byTime(left: Candidate, right: Candidate): number {
  return left.name.timeMs - right.name.timeMs || (left.key < right.key ? -1 : 1);
}

class BucketFeed implements Feed {
  readonly #deps: FeedDeps;
  readonly #signal: string;
  readonly #options: ObjectStoreOptions;
  readonly #state: FeedState;
  /** Start time of this run's listings. */
  #fromMs: number | undefined;
  /** Warnings that hold, so that each is logged once. */
  #isShortened = false;
  #isFull = false;

  constructor(deps: FeedDeps, signal: string, options: ObjectStoreOptions) {
    this.#deps = deps;
    this.#signal = signal;
    this.#options = options;
    this.#state = new FeedState(deps.evidence, signal, options);
  }

  async run(tick: Tick): Promise<void> {
    const listing = await this.#list(tick);
    this.#fromMs = listing.fromMs;
    const waiting = this.#inOrder(listing.candidates, tick.nowMs);
    const attempted = await this.#ingest(waiting, tick);
    const left = waiting
      .filter((each) => !attempted.has(each.key) && !this.#isSetAside(each))
      .toSorted(byTime);
    if (left.length > 0) this.#skip("per_cycle_budget", left.length);
    await this.#state.listed(this.#resumeAfter(listing, left), {
      fromMs: listing.fromMs,
      nowMs: tick.nowMs,
    });
    const { gaps, cursorMs } = this.#state;
    setFeedGauges(
      this.#deps.scope,
      tick.sweep,
      this.#signal,
      {
        backlog: left.length,
        cursorMs,
        newestMs: listing.newestMs,
        pendingOldestMs: left[0]?.name.timeMs,
        gaps: gaps.size,
        gapOldestMs:
          gaps.size === 0
            ? undefined
            : Math.min(...[...gaps.values()].map(({ sinceMs }) => sinceMs)),
        truncated: listing.more.size > 0,
      },
      tick.nowMs,
    );
  }

  /**
   * A listing resumes after its last fully processed page. A page with remaining objects is listed
   * again from the same start time, since those may be older than what was ingested. While a prefix
   * is unfinished, finished ones keep their position too: the start time stays, and `seen` does not
   * reach back to it.
   */
  #resumeAfter({ last, more }: Listing, left: readonly Candidate[]): Map<string, string> {
    const behind = new Set(left.flatMap(({ prefix }) => prefix ?? []));
    if (behind.size === 0 && more.size === 0) return new Map();
    return new Map(
      [...last].map(([prefix, key]) => [
        prefix,
        behind.has(prefix) ? (this.#state.resume.get(prefix) ?? "") : key,
      ]),
    );
  }

  async #list(tick: Tick): Promise<Listing> {
    const { prefix, layout, maxObjects } = this.#options;
    this.#warnWhenShortened();
    const fromMs = this.#state.fromMs(tick.nowMs, this.#options);
    const candidates: Candidate[] = [];
    const last = new Map<string, string>();
    const more = new Set<string>();
    // Lists that resume do not show what they have passed.
    let newestMs = this.#state.resume.size > 0 ? this.#state.cursorMs : undefined;
    for (const each of prefixesOf(
      layout === "partitioned" && prefix !== "" && !prefix.endsWith("/") ? `${prefix}/` : prefix,
      layout,
      fromMs,
      tick.nowMs,
    )) {
      const after = this.#state.resume.get(each) ?? "";
      const page = await tick.list(() =>
        this.#timed("list", () =>
          this.#deps.bucket.list(each, after, PAGES_OF_OBJECTS * maxObjects, tick.signal),
        ),
      );
      last.set(each, continueAfter(page.keys.at(-1) ?? after, layout, fromMs));
      if (page.more && page.keys.length > 0) more.add(each);
      for (const key of page.keys) {
        const name = readName(key, layout);
        if (name !== undefined && name.timeMs <= tick.nowMs + FUTURE_MS)
          newestMs = Math.max(newestMs ?? name.timeMs, name.timeMs);
        const reason = this.#reasonToSkip(key, name, fromMs, tick.nowMs);
        if (reason !== undefined) this.#skip(reason, 1);
        else if (name !== undefined && !this.#state.gaps.has(key))
          candidates.push({ key, name, prefix: each });
      }
    }
    return { fromMs, candidates, newestMs, last, more };
  }

  #reasonToSkip(
    key: string,
    name: ObjectName | undefined,
    fromMs: number,
    nowMs: number,
  ): string | undefined {
    if (name === undefined) return "unrecognized_key";
    if (name.timeMs > nowMs + FUTURE_MS) return "future_timestamp";
    if (this.#state.seen.has(key)) return "already_ingested";
    return name.timeMs < fromMs ? "before_cursor" : undefined;
  }

  /**
   * Oldest first, but of the objects set aside one comes first and the others last: each may cost as
   * much as the limits allow, and none must wait for a run without new objects.
   */
  #inOrder(listed: readonly Candidate[], nowMs: number): Candidate[] {
    const due = this.#dueGaps(nowMs);
    const [first, ...others] = due.filter((each) => this.#isSetAside(each)).toSorted(byTime);
    const usual = [...due.filter((each) => !this.#isSetAside(each)), ...listed].toSorted(byTime);
    return first === undefined ? usual : [first, ...usual, ...others];
  }

  #isSetAside({ key }: Pick<Candidate, "key">): boolean {
    return this.#state.gaps.get(key)?.quarantined === true;
  }

  #dueGaps(nowMs: number): Candidate[] {
    return [...this.#state.gaps].flatMap(([key, gap]) => {
      const name = isDue(gap, nowMs) ? readName(key, this.#options.layout) : undefined;
      return name === undefined ? [] : [{ key, name, prefix: undefined }];
    });
  }

  /** Returns the keys that were attempted; the rest is left to the next run. */
  async #ingest(waiting: readonly Candidate[], tick: Tick): Promise<ReadonlySet<string>> {
    const { object, cycle, maxObjects } = this.#options;
    const spent: Cost = { wireBytes: 0, bytes: 0, records: 0 };
    const attempted = new Set<string>();
    this.#warnWhenFull();
    for (const candidate of waiting) {
      if (attempted.size === maxObjects) break;
      if (this.#state.full && !this.#state.gaps.has(candidate.key)) continue;
      tick.signal.throwIfAborted();
      const left = {
        wireBytes: cycle.wireBytes - spent.wireBytes,
        decompressedBytes: cycle.decompressedBytes - spent.bytes,
        records: cycle.records - spent.records,
      };
      const cost: Cost = { wireBytes: 0, bytes: 0, records: 0 };
      const goOn = await this.#ingestOne(candidate, { object, cycle: left }, cost, tick);
      spent.wireBytes += cost.wireBytes;
      spent.bytes += cost.bytes;
      spent.records += cost.records;
      this.#deps.scope.add(objectstoreBytes, cost.wireBytes, {});
      this.#deps.scope.add(objectstoreDecompressedBytes, cost.bytes, {});
      if (!goOn) break;
      attempted.add(candidate.key);
    }
    return attempted;
  }

  #warnWhenFull(): void {
    const { full, gaps } = this.#state;
    if (full && !this.#isFull)
      this.#deps.log.warn(
        "too many objects of a feed cannot be read: it reads no new ones until fewer are left",
        {
          feed: this.#signal,
          unreadable: gaps.size,
          remedy:
            "replace or delete them, or raise the limits of an object that they exceed; they are tried again at a start and once a day",
        },
      );
    this.#isFull = full;
  }

  #warnWhenShortened(): void {
    const isShortened = this.#state.isShortened(this.#options);
    if (isShortened === undefined) return;
    if (isShortened && !this.#isShortened)
      this.#deps.log.warn(
        "more objects within the lookback than can be remembered: objects that appear late may be missed",
        {
          feed: this.#signal,
          remembered: MAX_SEEN,
          remedy: "shorten the lookback of the feed, or let old objects of the bucket expire",
        },
      );
    this.#isShortened = isShortened;
  }

  /** False when this run has no capacity for it. */
  async #ingestOne(
    { key, name }: Candidate,
    budget: Parameters<typeof readRows>[2],
    cost: Cost,
    tick: Tick,
  ): Promise<boolean> {
    const { scope, bucket, clock } = this.#deps;
    if (this.#state.gaps.has(key)) scope.add(objectstoreRetries, 1, {});
    try {
      const rows = await this.#timed("get", async () =>
        readRows(await bucket.read(key, tick.signal), name, budget, cost, {
          clock,
          signal: tick.signal,
        }),
      );
      const report = await this.#deps.accept(rows, tick.signal, { key, name });
      const refused = Object.values(report.refused).reduce((sum, count) => sum + count, 0);
      if (rows.length > 0 && report.accepted === 0 && refused >= rows.length) {
        this.#deps.log.warn("every record of an object was refused; it is tried again later", {
          feed: this.#signal,
          key,
          class: "undecodable_object",
          reasons: Object.keys(report.refused).join(", "),
        });
        return await this.#fail(key, name, tick.nowMs, {
          reason: "undecodable_object",
          quarantined: false,
        });
      }
      if (refused > 0) this.#skip("semantic_invalid", refused);
      await this.#state.ingested(key, name.timeMs, this.#kept(tick.nowMs));
      scope.add(objectstoreObjects, 1, {});
      scope.add(objectstoreRecords, report.accepted, {});
      this.#deps.received(cost.bytes);
      return true;
    } catch (thrown) {
      tick.signal.throwIfAborted();
      return await this.#failed(thrown, key, name, tick.nowMs);
    }
  }

  async #failed(thrown: unknown, key: string, name: ObjectName, nowMs: number): Promise<boolean> {
    if (thrown instanceof ObjectRefused) {
      if (thrown.limit !== undefined)
        this.#deps.scope.add(objectstoreExpansionLimitFailures, 1, { limit: thrown.limit });
      if (thrown.deferred) return false;
      const level = this.#isSetAside({ key }) ? "debug" : "warn";
      this.#deps.log[level]("an object cannot be read and is skipped", {
        feed: this.#signal,
        key,
        class: thrown.limit ?? "decode_error",
        why: thrown.message,
      });
      return await this.#fail(key, name, nowMs, {
        reason: thrown.limit === undefined ? "decode_error" : undefined,
        quarantined: true,
      });
    }
    if (failureOf(thrown)?.status === 404) {
      // The object was deleted after listing.
      await this.#state.ingested(key, name.timeMs, this.#kept(nowMs));
      return true;
    }
    this.#deps.log.warn("an object could not be read; it is retried later", {
      feed: this.#signal,
      key,
      error: toStewardError(thrown),
    });
    return await this.#fail(key, name, nowMs, { reason: "read_error", quarantined: false });
  }

  async #fail(
    key: string,
    name: ObjectName,
    nowMs: number,
    { reason, quarantined }: { readonly reason: string | undefined; readonly quarantined: boolean },
  ): Promise<true> {
    if (reason !== undefined) this.#skip(reason, 1);
    await this.#state.failed(key, { timeMs: name.timeMs, nowMs, quarantined });
    return true;
  }

  #kept(nowMs: number): { readonly lookbackMs: number; readonly fromMs: number } {
    return {
      lookbackMs: this.#options.lookbackMs,
      fromMs: this.#fromMs ?? this.#state.fromMs(nowMs, this.#options),
    };
  }

  #skip(reason: string, count: number): void {
    this.#deps.scope.add(objectstoreSkipped, count, { reason });
  }

  async #timed<T>(operation: "list" | "get", call: () => Promise<T>): Promise<T> {
    const { clock, scope } = this.#deps;
    const beganMs = clock.monotonic();
    let outcome = "error";
    try {
      const answer = await call();
      outcome = "success";
      return answer;
    } finally {
      scope.add(objectstoreRequests, 1, { operation, outcome });
      scope.record(objectstoreRequestDuration, (clock.monotonic() - beganMs) / SECOND_MS, {
        operation,
        outcome,
      });
    }
  }
}
