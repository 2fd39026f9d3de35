/**
 * How many documents, groups and leases there were, by hour and day, for 30 days: in memory, and
 * stored at each change. What a crash loses is at most a minute.
 */
import { create } from "@bufbuild/protobuf";
import {
  CountsDayRowSchema,
  CountsHourSchema,
  type CountsHour,
} from "../../gen/steward/state/v1/counts_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { toStewardError } from "../../kernel/base/errors.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { Env, StateFactory } from "../../kernel/state/types.ts";
import { STORE_START_MS, type Component } from "../../kernel/supervisor/component.ts";
import type { ServiceCountFacts, ServiceCountsView } from "../../monitor/presence/types.ts";
import { RETENTION_DAYS } from "../../monitor/presence/types.ts";
import { every, type Repeating } from "../../monitor/status/samplers/every.ts";
import { countDays, historyStore } from "./count-tables.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SAMPLE_MS = 60_000;
/** Hours shown: the window of pages. */
const SHOWN_MS = DAY_MS;

/** Counts of now; what is off or does not answer is undefined. */
export type Counts = Omit<ServiceCountFacts, "atMs">;

export interface CountHistoryDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly state: Pick<StateFactory, "open">;
  /** Must not reject. */
  readonly counts: () => Promise<Counts>;
  /** Components whose counts are taken. */
  readonly needs: readonly string[];
}

export interface CountHistory {
  readonly component: Component;
  /** The last 24 hours, and the days that are kept. */
  view(): ServiceCountsView;
}

/** Without its store, which may be damaged, counts are kept in memory only. */
export function createCountHistory(deps: CountHistoryDeps): CountHistory {
  const history = new StoredCounts(deps);
  return {
    component: {
      name: "history",
      needs: deps.needs,
      readiness: "none",
      startTimeoutMs: STORE_START_MS,
      start: (signal) => history.start(signal),
      stop: () => history.stop(),
    },
    view: () => history.view(),
  };
}

type Day = Map<number, CountsHour>;

class StoredCounts {
  readonly #deps: CountHistoryDeps;
  readonly #days = new Map<number, Day>();
  readonly #schedule: Repeating;
  #env: Env | undefined;
  #sampling: Promise<void> | undefined;

  constructor(deps: CountHistoryDeps) {
    this.#deps = deps;
    this.#schedule = every(
      deps.clock,
      () => SAMPLE_MS,
      () => void (this.#sampling ??= this.#sample().finally(() => (this.#sampling = undefined))),
    );
  }

  async start(signal: AbortSignal): Promise<void> {
    const { log, state } = this.#deps;
    try {
      const env = await state.open(historyStore, signal);
      this.#env = env;
      env.read((view) => {
        for (const [dayMs, { hours }] of view.range(countDays))
          this.#days.set(dayMs, new Map(hours.map((hour) => [hour.hour, hour])));
      });
    } catch (thrown) {
      signal.throwIfAborted();
      log.warn("counts of documents, groups and leases are kept in memory only", {
        error: toStewardError(thrown),
      });
    }
    this.#schedule.start();
  }

  async stop(): Promise<void> {
    this.#schedule.stop();
    await this.#sampling;
    await this.#env?.close();
    this.#env = undefined;
  }

  view(): ServiceCountsView {
    const startMs = this.#deps.clock.now() - SHOWN_MS;
    const days = [...this.#days].toSorted(([a], [b]) => a - b);
    return {
      hours: days
        .flatMap(([dayMs, day]) => [...day.values()].map((hour) => factsOf(hour, dayMs)))
        .map(({ hour, ...facts }) => ({ ...facts, atMs: facts.atMs + hour * HOUR_MS }))
        .filter(({ atMs }) => atMs + HOUR_MS > startMs),
      days: days.flatMap(([dayMs, day]) => {
        const last = [...day.values()].at(-1);
        if (last === undefined) return [];
        const { hour: _, ...facts } = factsOf(last, dayMs);
        return [facts];
      }),
    };
  }

  async #sample(): Promise<void> {
    const { clock, counts, log } = this.#deps;
    const taken = await counts();
    const nowMs = clock.now();
    const dayMs = nowMs - (nowMs % DAY_MS);
    const day: Day = this.#days.get(dayMs) ?? new Map<number, CountsHour>();
    const hour = create(CountsHourSchema, {
      hour: Math.floor((nowMs - dayMs) / HOUR_MS),
      ...taken,
    });
    if (isSame(day.get(hour.hour), hour)) return;
    day.set(hour.hour, hour);
    this.#days.set(dayMs, day);
    const gone = [...this.#days.keys()].filter((each) => each < dayMs - RETENTION_DAYS * DAY_MS);
    for (const each of gone) this.#days.delete(each);
    try {
      await this.#env?.write((tx) => {
        tx.put(countDays, dayMs, create(CountsDayRowSchema, { hours: [...day.values()] }));
        for (const each of gone) tx.delete(countDays, each);
      });
    } catch (error) {
      log.debug("cannot store the counts of this hour; the next ones are", { error });
    }
  }
}

function factsOf({ hour, documents, groups, leases }: CountsHour, atMs: number) {
  return { hour, atMs, documents, groups, leases };
}

function isSame(a: CountsHour | undefined, b: CountsHour): boolean {
  return (
    a !== undefined && a.documents === b.documents && a.groups === b.groups && a.leases === b.leases
  );
}
