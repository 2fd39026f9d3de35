/**
 * State changes of one network's devices of the last 30 days: in memory, and stored in the
 * background. What a crash loses is at most the last minutes, which then count as not observed.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { Evidence } from "../checkpoints/types.ts";
import {
  dayKey,
  deviceKey,
  MAX_ID_LENGTH,
  readRows,
  SPANS_KEY,
  writeDay,
  writeDevice,
  writeSpans,
  type DayRow,
  type DeviceRow,
} from "./presence-rows.ts";
import {
  RETENTION_DAYS,
  type DevicePresence,
  type ObservedSpan,
  type PresenceCount,
  type PresenceLog,
  type PresenceState,
  type PresenceView,
  type PresentDevice,
} from "./types.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RETENTION_MS = RETENTION_DAYS * DAY_MS;
/** Devices of a network, those that are gone included. */
const MAX_DEVICES = 10_000;
/** Per device; the oldest make way. */
const MAX_CHANGES = 200;
const MAX_SPANS = 500;
/** An observation extends a span when it comes within this many intervals, and at least so long. */
const GAP_INTERVALS = 3;
const MIN_GAP_MS = 60_000;
/** How often the end of the observation is stored while nothing changes. */
const STORE_MS = 120_000;
/** Rows in one change of the store. */
const ROWS_PER_CHANGE = 100;

export interface PresenceLogDeps {
  readonly clock: Pick<Clock, "now">;
  readonly log: Log;
  readonly evidence: Evidence;
}

export interface PresenceLogOptions {
  /** How often devices are listed. */
  readonly intervalMs: number;
  /** Replaceable in tests. */
  readonly maxDevices?: number;
}

/** Reads what is stored. */
export function createPresenceLog(deps: PresenceLogDeps, options: PresenceLogOptions): PresenceLog {
  return new StoredPresence(deps, options);
}

class StoredPresence implements PresenceLog {
  readonly #deps: PresenceLogDeps;
  readonly #gapMs: number;
  readonly #maxDevices: number;
  readonly #devices: Map<string, DeviceRow>;
  readonly #days: Map<number, DayRow>;
  #spans: ObservedSpan[];
  #truncated = false;
  /** Keys whose documents differ from the stored ones. */
  readonly #changed = new Set<string>();
  #storing: Promise<void> | undefined;
  #spansStoredMs = -Infinity;
  /**
   * Devices that were gone before the current observation, the first to leave last; undefined until
   * they are needed. A scan of all devices for each new one would hold up the thread.
   */
  #gone: string[] | undefined;

  constructor(deps: PresenceLogDeps, { intervalMs, maxDevices }: PresenceLogOptions) {
    this.#deps = deps;
    this.#gapMs = Math.max(GAP_INTERVALS * intervalMs, MIN_GAP_MS);
    this.#maxDevices = maxDevices ?? MAX_DEVICES;
    const { spans, devices, days } = readRows(deps.evidence);
    this.#spans = spans;
    this.#devices = devices;
    this.#days = days;
  }

  observe(devices: readonly PresentDevice[]): void {
    const nowMs = this.#deps.clock.now();
    this.#extend(nowMs);
    const seen = new Set<string>();
    this.#truncated = false;
    this.#gone = undefined;
    for (const device of devices) {
      const id = idOf(device);
      if (id === "" || seen.has(id)) continue;
      seen.add(id);
      this.#see(id, device, nowMs);
    }
    for (const [id, row] of this.#devices) if (!seen.has(id)) this.#change(id, row, "gone", nowMs);
    this.#count(devices, nowMs);
    this.#prune(nowMs);
    this.#store();
  }

  view({
    startMs,
    endMs,
    device,
  }: {
    readonly startMs: number;
    readonly endMs: number;
    readonly device: string;
  }): PresenceView {
    const devices: DevicePresence[] = [];
    for (const [id, { name, changes }] of this.#devices) {
      if (device !== "" && device !== name && device !== id) continue;
      // The last change before the window says the state at its beginning.
      const first = changes.findLastIndex(({ atMs }) => atMs <= startMs);
      devices.push({ id, name, changes: changes.slice(Math.max(0, first)) });
    }
    const days = [...this.#days].toSorted(([a], [b]) => a - b);
    const hours = days.flatMap(([, day]) => [...day.values()]);
    return {
      devices: devices.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)),
      truncated: this.#truncated,
      observed: this.#spans
        .filter(({ fromMs, toMs }) => toMs >= startMs && fromMs <= endMs)
        .map(({ fromMs, toMs }) => ({ fromMs: Math.max(fromMs, startMs), toMs })),
      hours: hours.filter(({ atMs }) => atMs + HOUR_MS > startMs && atMs <= endMs),
      days: days.flatMap(([atMs, day]) => {
        const last = [...day.values()].at(-1);
        return last === undefined ? [] : [{ ...last, atMs }];
      }),
    };
  }

  async flush(): Promise<void> {
    await this.#storing;
    if (this.#spans.length > 0) this.#changed.add(SPANS_KEY);
    this.#store();
    await this.#storing;
  }

  #extend(nowMs: number): void {
    const last = this.#spans.at(-1);
    // After a step back of the clock the times in the future are not believed.
    if (last !== undefined && nowMs < last.toMs)
      this.#spans = this.#spans.filter(({ fromMs }) => fromMs <= nowMs);
    const open = this.#spans.at(-1);
    if (open !== undefined && nowMs - open.toMs <= this.#gapMs) {
      this.#spans[this.#spans.length - 1] = { fromMs: open.fromMs, toMs: nowMs };
      if (nowMs - this.#spansStoredMs < STORE_MS && nowMs >= this.#spansStoredMs) return;
    } else {
      this.#spans.push({ fromMs: nowMs, toMs: nowMs });
      if (this.#spans.length > MAX_SPANS) this.#spans.shift();
    }
    this.#spansStoredMs = nowMs;
    this.#changed.add(SPANS_KEY);
  }

  #see(id: string, { name, online }: PresentDevice, nowMs: number): void {
    const known = this.#devices.get(id);
    if (known === undefined && !this.#hasRoom()) {
      this.#truncated = true;
      return;
    }
    const row = known ?? { name, changes: [] };
    if (known === undefined) this.#devices.set(id, row);
    if (row.name !== name) this.#changed.add(deviceKey(id));
    row.name = name;
    this.#change(id, row, online ? "online" : "offline", nowMs);
  }

  #change(id: string, row: DeviceRow, state: PresenceState, nowMs: number): void {
    if (row.changes.at(-1)?.state === state) return;
    // A clock that was set back must not put changes out of order.
    while ((row.changes.at(-1)?.atMs ?? -Infinity) > nowMs) row.changes.pop();
    if (row.changes.at(-1)?.state === state) return;
    row.changes.push({ atMs: nowMs, state });
    if (row.changes.length > MAX_CHANGES) row.changes.shift();
    this.#changed.add(deviceKey(id));
  }

  /** At the limit the device that left first makes way. */
  #hasRoom(): boolean {
    if (this.#devices.size < this.#maxDevices) return true;
    this.#gone ??= this.#goneLastToFirst();
    for (let id = this.#gone.pop(); id !== undefined; id = this.#gone.pop()) {
      if (this.#devices.get(id)?.changes.at(-1)?.state !== "gone") continue;
      this.#remove(id);
      return true;
    }
    return false;
  }

  #goneLastToFirst(): string[] {
    return [...this.#devices]
      .flatMap(([id, { changes }]) => {
        const last = changes.at(-1);
        return last?.state === "gone" ? [{ id, atMs: last.atMs }] : [];
      })
      .toSorted((left, right) => left.atMs - right.atMs)
      .map(({ id }) => id)
      .toReversed();
  }

  #count(devices: readonly PresentDevice[], nowMs: number): void {
    const dayMs = nowMs - (nowMs % DAY_MS);
    const day: DayRow = this.#days.get(dayMs) ?? new Map<number, PresenceCount>();
    this.#days.set(dayMs, day);
    const hour = Math.floor((nowMs - dayMs) / HOUR_MS);
    const before = day.get(hour);
    const online = devices.filter((device) => device.online).length;
    if (before?.devices === devices.length && before.online === online) return;
    day.set(hour, { atMs: dayMs + hour * HOUR_MS, devices: devices.length, online });
    this.#changed.add(dayKey(dayMs));
  }

  /** Of the changes before the retention, the last one stays: it says what was at its beginning. */
  #prune(nowMs: number): void {
    const horizonMs = nowMs - RETENTION_MS;
    this.#spans = this.#spans.filter(({ toMs }) => toMs >= horizonMs);
    for (const [id, { changes }] of this.#devices) {
      const last = changes.at(-1);
      if (last?.state === "gone" && last.atMs < horizonMs) this.#remove(id);
      else while ((changes[1]?.atMs ?? Infinity) <= horizonMs) changes.shift();
    }
    for (const dayMs of this.#days.keys()) {
      if (dayMs + DAY_MS > horizonMs) continue;
      this.#days.delete(dayMs);
      this.#changed.add(dayKey(dayMs));
    }
  }

  #remove(id: string): void {
    this.#devices.delete(id);
    this.#changed.add(deviceKey(id));
  }

  /** In the background; what fails is stored with the next observation. */
  #store(): void {
    this.#storing ??= this.#storeChanged()
      .catch((error: unknown) =>
        this.#deps.log.warn("presence of devices is not stored; it is tried again", { error }),
      )
      .finally(() => (this.#storing = undefined));
  }

  async #storeChanged(): Promise<void> {
    while (this.#changed.size > 0) {
      const keys = [...this.#changed.values().take(ROWS_PER_CHANGE)];
      for (const key of keys) this.#changed.delete(key);
      try {
        await this.#deps.evidence.change(new Map(keys.map((key) => [key, this.#document(key)])));
      } catch (error) {
        for (const key of keys) this.#changed.add(key);
        throw error;
      }
    }
  }

  /** Undefined for one that is not kept any more. */
  #document(key: string): unknown {
    if (key === SPANS_KEY) return writeSpans(this.#spans);
    const device = this.#devices.get(key.slice(deviceKey("").length));
    if (key.startsWith(deviceKey(""))) return device && writeDevice(device);
    const day = this.#days.get(Date.parse(key.slice(-"2000-01-01".length)));
    return day && writeDay(day);
  }
}

function idOf({ id, nodeId }: PresentDevice): string {
  return (nodeId === "" ? id : nodeId).slice(0, MAX_ID_LENGTH);
}
