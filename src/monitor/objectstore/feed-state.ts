/** Persistent state of a feed: list positions, ingested objects and unreadable ones. */
import { createHash } from "node:crypto";
import type { Evidence } from "../checkpoints/types.ts";
import type { ObjectStoreOptions } from "../options.ts";
import { backoffMs, type Backoff } from "../../kernel/async/backoff.ts";

/** An object that could not be read. */
export interface Gap {
  /** Time in its name. */
  readonly timeMs: number;
  /** First failure. */
  readonly sinceMs: number;
  readonly failures: number;
  readonly retryAtMs: number;
  /** Its contents or its size were refused, so it is retried rarely. */
  readonly quarantined: boolean;
}

/** The unfinished lists of all prefixes, which may take many runs. */
interface Pass {
  /** Start time of the lists: objects ingested meanwhile must not move it. */
  readonly fromMs: number;
  /** When the pass began. */
  readonly beganMs: number;
}

export const MAX_SEEN = 5_000;
/** At this many unreadable objects the feed stops instead of forgetting one. */
const MAX_GAPS = 1_000;
const RETRY: Backoff = { firstMs: 60_000, maxMs: 3_600_000 };
const QUARANTINE_MS = 86_400_000;

type Lookback = Pick<ObjectStoreOptions, "initialLookbackMs" | "lookbackMs">;

/** One per feed. Each change is stored before the next one is made. */
export class FeedState {
  readonly #evidence: Evidence;
  readonly #at: string;
  readonly seen: Map<string, number> = new Map<string, number>();
  readonly gaps: Map<string, Gap> = new Map<string, Gap>();
  /**
   * By prefix: the last key of its processed pages, of finished prefixes too, until all are finished.
   */
  readonly resume: Map<string, string> = new Map<string, string>();
  cursorMs: number | undefined;
  #pass: Pass | undefined;
  /**
   * Up to here every object was listed. The cursor may be later: it is moved by an object of one
   * folder, while one that arrived in a folder that the pass had left is not listed yet.
   */
  #completeMs: number | undefined;
  /** Newest object evicted from `seen` for the limit: a new list must not show it again. */
  #evictedMs: number | undefined;

  constructor(evidence: Evidence, signal: string, options: ObjectStoreOptions) {
    this.#evidence = evidence;
    this.#at = `objectstore/${signal}/${feedId(options)}`;
    this.cursorMs = this.#time("cursor");
    this.#completeMs = this.#time("complete");
    const fromMs = this.#time("scan-from");
    if (fromMs !== undefined)
      // Without a stored beginning the next pass has the start time of this one again.
      this.#pass = { fromMs, beganMs: this.#time("scan-began") ?? fromMs + options.lookbackMs };
    this.#evictedMs = this.#time("evicted");
    this.#load("seen", (key, value) => typeof value === "number" && this.seen.set(key, value));
    this.#load("gap", (key, value) => isGap(value) && this.gaps.set(key, atStart(value)));
    if (this.#pass !== undefined)
      this.#load("scan", (key, value) => typeof value === "string" && this.resume.set(key, value));
  }

  get full(): boolean {
    return this.gaps.size >= MAX_GAPS;
  }

  /**
   * Records an ingested object. `fromMs`: start of the current lists; keys they may show again are
   * kept.
   */
  async ingested(
    key: string,
    timeMs: number,
    { lookbackMs, fromMs }: { readonly lookbackMs: number; readonly fromMs: number },
  ): Promise<void> {
    const changes = new Map<string, unknown>([[`${this.#at}/seen/${key}`, timeMs]]);
    const cursorMs = Math.max(this.cursorMs ?? timeMs, timeMs);
    if (cursorMs !== this.cursorMs) changes.set(`${this.#at}/cursor`, cursorMs);
    if (this.gaps.has(key)) changes.set(`${this.#at}/gap/${key}`, undefined);
    const old = this.#outdated(Math.min(cursorMs - 2 * lookbackMs, fromMs));
    const excess = this.#excess(new Set(old));
    const evictedMs = Math.max(
      ...excess.map((each) => this.seen.get(each) ?? 0),
      this.#evictedMs ?? 0,
    );
    if (excess.length > 0) changes.set(`${this.#at}/evicted`, evictedMs);
    const gone = [...old, ...excess];
    for (const each of gone) changes.set(`${this.#at}/seen/${each}`, undefined);
    await this.#evidence.change(changes);
    this.cursorMs = cursorMs;
    if (excess.length > 0) this.#evictedMs = evictedMs;
    this.gaps.delete(key);
    for (const each of gone) this.seen.delete(each);
    this.seen.set(key, timeMs);
  }

  /** Records a failed object, to be retried. */
  async failed(
    key: string,
    {
      timeMs,
      nowMs,
      quarantined,
    }: { readonly timeMs: number; readonly nowMs: number; readonly quarantined: boolean },
  ): Promise<void> {
    const known = this.gaps.get(key);
    const failures = (known?.failures ?? 0) + 1;
    const waitMs = quarantined ? QUARANTINE_MS : backoffMs(failures, RETRY);
    const gap: Gap = {
      timeMs,
      sinceMs: known?.sinceMs ?? nowMs,
      failures,
      retryAtMs: nowMs + waitMs,
      quarantined,
    };
    await this.#evidence.change(new Map([[`${this.#at}/gap/${key}`, gap]]));
    this.gaps.set(key, gap);
  }

  /** Start time of the next listing. Later than the lookback where `seen` does not reach so far. */
  fromMs(nowMs: number, options: Lookback): number {
    if (this.#pass !== undefined) return this.#pass.fromMs;
    const listMs = this.#lookBack(options);
    if (listMs === undefined)
      return Math.min(nowMs - options.initialLookbackMs, this.#completeMs ?? nowMs);
    return Math.max(listMs, (this.#evictedMs ?? 0) + 1);
  }

  /** Whether the next pass cannot look back as far as configured; undefined during a pass. */
  isShortened(options: Lookback): boolean | undefined {
    if (this.#pass !== undefined) return undefined;
    return (this.#lookBack(options) ?? Infinity) <= (this.#evictedMs ?? 0);
  }

  /** Stores list positions by prefix; none when every prefix is finished. */
  async listed(
    resume: ReadonlyMap<string, string>,
    { fromMs, nowMs }: { readonly fromMs: number; readonly nowMs: number },
  ): Promise<void> {
    const changes = new Map<string, unknown>();
    for (const prefix of this.#listsStored())
      if (!resume.has(prefix)) changes.set(`${this.#at}/scan/${prefix}`, undefined);
    for (const [prefix, after] of resume)
      if (this.resume.get(prefix) !== after) changes.set(`${this.#at}/scan/${prefix}`, after);
    const beganMs = this.#pass?.beganMs ?? nowMs;
    const pass = resume.size > 0 ? { fromMs, beganMs } : undefined;
    if (pass?.fromMs !== this.#pass?.fromMs || pass?.beganMs !== this.#pass?.beganMs) {
      changes.set(`${this.#at}/scan-from`, pass?.fromMs);
      changes.set(`${this.#at}/scan-began`, pass?.beganMs);
    }
    const completeMs = pass === undefined ? this.#completeSince(beganMs) : this.#completeMs;
    if (completeMs !== this.#completeMs) changes.set(`${this.#at}/complete`, completeMs);
    if (changes.size > 0) await this.#evidence.change(changes);
    this.#pass = pass;
    this.#completeMs = completeMs;
    this.resume.clear();
    for (const [prefix, after] of resume) this.resume.set(prefix, after);
  }

  /** Without a pass they are left over: the lists of a new one do not begin with them. */
  #listsStored(): Iterable<string> {
    if (this.#pass !== undefined) return this.resume.keys();
    const left: string[] = [];
    this.#load("scan", (prefix) => left.push(prefix));
    return left;
  }

  /** Up to where every object was listed, once a pass that began then is complete. */
  #completeSince(beganMs: number): number {
    return Math.min(this.cursorMs ?? Infinity, Math.max(beganMs, this.#completeMs ?? 0));
  }

  #lookBack({ lookbackMs }: Lookback): number | undefined {
    if (this.cursorMs === undefined) return undefined;
    return Math.min(this.cursorMs, this.#completeMs ?? this.cursorMs) - lookbackMs;
  }

  /** Seen keys that no list shows again. */
  #outdated(beforeMs: number): string[] {
    return [...this.seen].filter(([, timeMs]) => timeMs < beforeMs).map(([key]) => key);
  }

  /**
   * Seen keys beyond the limit, the oldest first. Those that the unfinished lists have passed come
   * before those that they show again: without them an object of the present page would be ingested
   * again at each run.
   */
  #excess(outdated: ReadonlySet<string>): string[] {
    const count = this.seen.size - outdated.size - MAX_SEEN + 1;
    if (count <= 0) return [];
    const sorted = [...this.seen]
      .filter(([key]) => !outdated.has(key))
      .toSorted(([, left], [, right]) => left - right);
    const excess = new Set<string>();
    for (const [key] of sorted) {
      if (excess.size === count) break;
      if (this.#isPassed(key)) excess.add(key);
    }
    for (const [key] of sorted) {
      if (excess.size === count) break;
      excess.add(key);
    }
    return [...excess];
  }

  #isPassed(key: string): boolean {
    for (const [prefix, after] of this.resume)
      if (key <= after && key.startsWith(prefix)) return true;
    return false;
  }

  #time(name: string): number | undefined {
    const value = this.#evidence.get(`${this.#at}/${name}`);
    return typeof value === "number" ? value : undefined;
  }

  #load(kind: string, keep: (key: string, value: unknown) => unknown): void {
    const prefix = `${this.#at}/${kind}/`;
    for (const [key, value] of this.#evidence.list(prefix)) keep(key.slice(prefix.length), value);
  }
}

/**
 * Also due is one whose time is further ahead than any wait: it was set by a clock that was ahead.
 */
export function isDue({ retryAtMs, quarantined }: Gap, nowMs: number): boolean {
  const longestMs = quarantined ? QUARANTINE_MS : RETRY.maxMs;
  return retryAtMs <= nowMs || retryAtMs > nowMs + longestMs;
}

/** A start may have other limits, so objects that were set aside are due at once. */
function atStart(gap: Gap): Gap {
  return gap.quarantined ? { ...gap, retryAtMs: 0 } : gap;
}

function isGap(value: unknown): value is Gap {
  const gap = value as Partial<Gap> | null | undefined;
  return (
    typeof gap?.timeMs === "number" &&
    typeof gap.sinceMs === "number" &&
    typeof gap.failures === "number" &&
    typeof gap.retryAtMs === "number" &&
    typeof gap.quarantined === "boolean"
  );
}

/** A different bucket, prefix or layout is a different feed. */
function feedId({ endpoint, bucket, prefix, layout }: ObjectStoreOptions): string {
  return createHash("sha256")
    .update([endpoint, bucket, prefix, layout].join("\0"))
    .digest("hex")
    .slice(0, 16);
}
