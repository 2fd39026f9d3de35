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
  /** Retrying would not help; an operator must act. */
  readonly quarantined: boolean;
}

const MAX_SEEN = 5_000;
/** At this many unreadable objects the feed stops instead of forgetting one. */
const MAX_GAPS = 1_000;
const RETRY: Backoff = { firstMs: 60_000, maxMs: 3_600_000 };

/** One per feed. Each change is stored before the next one is made. */
export class FeedState {
  readonly #evidence: Evidence;
  readonly #at: string;
  readonly seen: Map<string, number> = new Map<string, number>();
  readonly gaps: Map<string, Gap> = new Map<string, Gap>();
  /** By prefix: the last key processed, while its list is unfinished. */
  readonly resume: Map<string, string> = new Map<string, string>();
  cursorMs: number | undefined;
  /** Start time of the unfinished lists: objects ingested meanwhile must not move it. */
  #scanFromMs: number | undefined;

  constructor(evidence: Evidence, signal: string, options: ObjectStoreOptions) {
    this.#evidence = evidence;
    this.#at = `objectstore/${signal}/${feedId(options)}`;
    const cursor = evidence.get(`${this.#at}/cursor`);
    this.cursorMs = typeof cursor === "number" ? cursor : undefined;
    const scanFrom = evidence.get(`${this.#at}/scan-from`);
    this.#scanFromMs = typeof scanFrom === "number" ? scanFrom : undefined;
    this.#load("seen", (key, value) => typeof value === "number" && this.seen.set(key, value));
    this.#load("gap", (key, value) => isGap(value) && this.gaps.set(key, value));
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
    const gone = this.#outdated(Math.min(cursorMs - 2 * lookbackMs, fromMs));
    for (const old of gone) changes.set(`${this.#at}/seen/${old}`, undefined);
    await this.#evidence.change(changes);
    this.cursorMs = cursorMs;
    this.gaps.delete(key);
    for (const old of gone) this.seen.delete(old);
    this.seen.set(key, timeMs);
  }

  /** Records a failed object; it is retried unless quarantined. */
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
    const waitMs = backoffMs(failures, RETRY);
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

  /** Start time of the next listing. */
  fromMs(
    nowMs: number,
    { initialLookbackMs, lookbackMs }: Pick<ObjectStoreOptions, "initialLookbackMs" | "lookbackMs">,
  ): number {
    return (
      this.#scanFromMs ??
      (this.cursorMs === undefined ? nowMs - initialLookbackMs : this.cursorMs - lookbackMs)
    );
  }

  /** Stores list positions by prefix; prefixes that are absent are finished. */
  async listed(resume: ReadonlyMap<string, string>, fromMs: number): Promise<void> {
    const changes = new Map<string, unknown>();
    for (const prefix of this.resume.keys())
      if (!resume.has(prefix)) changes.set(`${this.#at}/scan/${prefix}`, undefined);
    for (const [prefix, after] of resume)
      if (this.resume.get(prefix) !== after) changes.set(`${this.#at}/scan/${prefix}`, after);
    const scanFromMs = resume.size > 0 ? fromMs : undefined;
    if (scanFromMs !== this.#scanFromMs) changes.set(`${this.#at}/scan-from`, scanFromMs);
    if (changes.size > 0) await this.#evidence.change(changes);
    this.#scanFromMs = scanFromMs;
    this.resume.clear();
    for (const [prefix, after] of resume) this.resume.set(prefix, after);
  }

  /** Seen keys that no list shows again, and the oldest beyond the limit. */
  #outdated(beforeMs: number): string[] {
    const old = [...this.seen].filter(([, timeMs]) => timeMs < beforeMs).map(([key]) => key);
    const excess = this.seen.size - old.length - MAX_SEEN + 1;
    if (excess <= 0) return old;
    const gone = new Set(old);
    const rest = [...this.seen]
      .filter(([key]) => !gone.has(key))
      .toSorted(([, left], [, right]) => left - right);
    return [...old, ...rest.slice(0, excess).map(([key]) => key)];
  }

  #load(kind: string, keep: (key: string, value: unknown) => unknown): void {
    const prefix = `${this.#at}/${kind}/`;
    for (const [key, value] of this.#evidence.list(prefix)) keep(key.slice(prefix.length), value);
  }
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
