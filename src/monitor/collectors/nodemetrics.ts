/** Collector of node agents: scrapes each, forwards its samples, and reports which answered. */
import { createDeadline } from "../../kernel/async/deadline.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { toStewardError, type StewardError } from "../../kernel/base/errors.ts";
import type { Log } from "../../kernel/base/log.ts";
import { failed, withoutAddress } from "../../kernel/client/failure.ts";
import { defineOperation } from "../capability/operation.ts";
import {
  nodeMetricsMetrics,
  nodemetricsDiscoverySuccess,
  nodemetricsDiscoveryTargets,
  nodeUp,
} from "../catalogue/node-metrics.ts";
import { createForwarder, type Forwarder } from "../nodemetrics/forward.ts";
import { ForwardedRows } from "../nodemetrics/forwarded-rows.ts";
import { ScrapeOrder } from "../nodemetrics/scrape-order.ts";
import { createScraper, type Scraper } from "../nodemetrics/scrape.ts";
import { Targets, type RoundTarget } from "../nodemetrics/targets.ts";
import { defineCollector, type Collect, type Tick } from "./collector.ts";
import { nodeMetricsSection } from "./nodemetrics/section.ts";
import { createRunningTotals } from "./running-totals.ts";

const PARALLEL = 10;
/** Of these, so many begin with agents that failed before; the rest end with them. */
const FAILED_FIRST = 2;
/** Shares of the interval: discovery may take one, and discovery and scrapes together the other. */
const DISCOVERY_SHARE = 0.4;
const RUN_SHARE = 0.9;
const MAX_TOTALS = 250_000;
/** A running total not seen for this many rounds is forgotten. */
const ROUNDS_KEPT = 5;

const scrapeNodes = defineOperation("scrapeNodeMetrics");

export const nodemetrics = defineCollector({
  section: nodeMetricsSection,
  name: "nodemetrics",
  description: "Text metrics of the agents on the network's nodes.",
  scopes: [],
  operations: [scrapeNodes],
  emits: nodeMetricsMetrics,
  select: (options) =>
    options.targets.length > 0 || options.discovery !== undefined ? options : undefined,
  timeoutMs: ({ intervalMs }) => intervalMs,
  open({ clock, scope, devices, provider, log, version, closed, report }, options): Collect {
    const totals = createRunningTotals({ capacity: MAX_TOTALS, keepRounds: ROUNDS_KEPT });
    const targets = new Targets(
      { devices, provider, log, clock, discoveryMs: DISCOVERY_SHARE * options.intervalMs },
      options,
    );
    const order = new ScrapeOrder();
    report?.({ nodeTargets: () => targets.status() });
    const scraper = createScraper(
      { clock },
      { timeoutMs: options.timeoutMs, maxResponseBytes: options.maxResponseBytes, version },
    );
    closed.addEventListener("abort", () => void scraper.close(), { once: true });
    const forwarder = createForwarder(
      { clock, scope, totals, rows: new ForwardedRows(options.maxDistinctMetrics) },
      options,
    );
    return async (tick) => {
      const endsMs = clock.monotonic() + RUN_SHARE * options.intervalMs;
      const round = await targets.round(tick.signal);
      if (options.discovery !== undefined) {
        tick.sweep.gauge(nodemetricsDiscoverySuccess, targets.status().lastOk ? 1 : 0, {});
        tick.sweep.gauge(nodemetricsDiscoveryTargets, round.length, {});
      }
      const scraping = { tick, clock, log, scraper, forwarder, order, endsMs };
      await tick.call(scrapeNodes, () => scrapeAll(round, scraping));
      totals.endRound();
    };
  },
});

interface Scraping {
  readonly tick: Tick;
  readonly clock: Clock;
  readonly log: Log;
  readonly scraper: Scraper;
  readonly forwarder: Forwarder;
  readonly order: ScrapeOrder;
  /** From the start of the run. */
  readonly endsMs: number;
}

/**
 * Scrapes with bounded concurrency until its time is up; agents without a turn count as not up.
 * Rejects with the first failure when no agent answered: without an address, since the status and
 * support bundles name no device there.
 */
async function scrapeAll(round: readonly RoundTarget[], scraping: Scraping): Promise<void> {
  const { tick, clock, log, order, endsMs } = scraping;
  using deadline = createDeadline(clock, endsMs - clock.monotonic(), tick.signal, () =>
    failed({ class: "timeout", status: 0 }, "the time of the run is up"),
  );
  const queue = order.begin(round);
  const failures: StewardError[] = [];
  const asker = async (first: "failed" | "others"): Promise<void> => {
    while (!deadline.signal.aborted) {
      const target = queue.next(first);
      if (target === undefined) return;
      const failure = await scrapeTarget(target, scraping, deadline.signal);
      order.scraped(target, failure === undefined);
      if (failure !== undefined) failures.push(failure);
    }
  };
  await Promise.all(
    Array.from({ length: Math.min(PARALLEL, round.length) }, (_, at) =>
      asker(at < FAILED_FIRST ? "failed" : "others"),
    ),
  );
  tick.signal.throwIfAborted();
  const { left } = queue;
  for (const { instance } of left) tick.sweep.gauge(nodeUp, 0, { "vpn.node": instance });
  if (left.length > 0)
    log.warn("the interval was too short to scrape all agents; the others come first next time", {
      left: left.length,
      remedy:
        "raise collectors.node_metrics.interval, lower its timeout, or select fewer devices by tags",
    });
  const [first] = failures;
  if (first !== undefined && failures.length + left.length === round.length)
    throw withoutAddress(first);
}

/** Scrapes one agent; resolves with its failure, if any. */
async function scrapeTarget(
  target: RoundTarget,
  { tick, scraper, forwarder }: Scraping,
  signal: AbortSignal,
): Promise<StewardError | undefined> {
  try {
    const text = await scraper.scrape(target, signal);
    await forwarder.forward(target, text, tick.sweep, signal);
    tick.sweep.gauge(nodeUp, 1, { "vpn.node": target.instance });
    return undefined;
  } catch (thrown) {
    tick.signal.throwIfAborted();
    tick.sweep.gauge(nodeUp, 0, { "vpn.node": target.instance });
    return toStewardError(thrown);
  }
}
