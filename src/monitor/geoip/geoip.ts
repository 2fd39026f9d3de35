/** The geo databases of the process: their component, downloads and figures. */
import type { Clock } from "../../kernel/base/clock.ts";
import { toStewardError } from "../../kernel/base/errors.ts";
import type { Log } from "../../kernel/base/log.ts";
import { backoffMs } from "../../kernel/async/backoff.ts";
import type { Component } from "../../kernel/supervisor/component.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import { download } from "./download.ts";
import { GeoPlaces } from "./places.ts";
import { reportGeoip } from "./report.ts";
import type {
  DownloadResult,
  GeoDownloadOptions,
  GeoipFigures,
  GeoipOptions,
  Places,
} from "./types.ts";

const FIRST_RETRY_MS = 900_000;

export interface Geoip {
  readonly options: GeoipOptions;
  readonly places: Places;
  readonly component: Component;
  figures(): GeoipFigures;
}

export interface GeoipDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly needs: readonly string[];
}

/** Loads what is installed before it counts as started; downloads in the background. */
function createGeoip({ clock, log, version, needs }: GeoipDeps, options: GeoipOptions): Geoip {
  const places = new GeoPlaces(log, options.paths);
  const downloads = new Map<string, Record<DownloadResult, number>>(
    options.download?.editions.map((edition) => [
      edition,
      { updated: 0, unmodified: 0, failure: 0 },
    ]),
  );
  let running = new AbortController();
  const timers = new Map<string, Disposable>();
  const tasks = new Map<string, Promise<void>>();
  const after = (name: string, ms: number, run: (signal: AbortSignal) => Promise<void>): void => {
    const { signal } = running;
    timers.get(name)?.[Symbol.dispose]();
    timers.set(
      name,
      clock.timer(clock.monotonic() + ms, () => {
        if (!signal.aborted) tasks.set(name, run(signal));
      }),
    );
  };

  async function keepReloading(signal: AbortSignal): Promise<void> {
    await places.reload(signal);
    if (!signal.aborted) after("reload", options.reloadIntervalMs, keepReloading);
  }

  /** False where it failed. */
  async function fetchEdition(
    wanted: GeoDownloadOptions,
    edition: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const counts = downloads.get(edition);
    try {
      const result = await download({ clock, version }, wanted, edition, signal);
      if (counts !== undefined) counts[result] += 1;
      if (result === "updated") log.info("geo database downloaded", { edition });
      return true;
    } catch (error) {
      if (signal.aborted) return true;
      if (counts !== undefined) counts.failure += 1;
      log.warn("the download of a geo database failed", { edition, error: toStewardError(error) });
      return false;
    }
  }

  let failures = 0;
  async function keepDownloading(signal: AbortSignal): Promise<void> {
    const wanted = options.download;
    if (wanted === undefined) return;
    let failed = false;
    for (const edition of wanted.editions)
      failed = !(await fetchEdition(wanted, edition, signal)) || failed;
    await places.reload(signal);
    if (signal.aborted) return;
    failures = failed ? failures + 1 : 0;
    const retry = { firstMs: FIRST_RETRY_MS, maxMs: wanted.intervalMs };
    after("download", failed ? backoffMs(failures, retry) : wanted.intervalMs, keepDownloading);
  }

  return {
    options,
    places,
    component: {
      name: "geoip",
      needs,
      readiness: "none",
      async start(signal) {
        running = new AbortController();
        await places.reload(signal);
        after("reload", options.reloadIntervalMs, keepReloading);
        tasks.set("download", keepDownloading(running.signal));
      },
      async stop() {
        running.abort();
        for (const timer of timers.values()) timer[Symbol.dispose]();
        timers.clear();
        await Promise.all(tasks.values());
      },
    },
    figures: () => ({
      databases: places.totals(),
      skipped: places.skipped,
      reloadFailures: places.reloadFailures,
      downloads,
    }),
  };
}

/** Adds the component and its metrics; undefined while it is off. */
export function addGeoip(
  deps: Pick<GeoipDeps, "clock" | "log"> & {
    readonly needs: readonly string[];
    readonly add: (component: Component) => void;
  },
  options: GeoipOptions | undefined,
  version: string,
  scope: Scope,
): Geoip | undefined {
  if (options === undefined) return undefined;
  const geoip = createGeoip({ ...deps, version, log: deps.log.child("geoip") }, options);
  deps.add(geoip.component);
  reportGeoip(scope, () => geoip.figures());
  return geoip;
}
