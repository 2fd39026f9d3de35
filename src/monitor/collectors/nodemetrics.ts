/** Collector of node agents: scrapes each, forwards its samples, and reports which answered. */
import { toStewardError } from "../../kernel/base/errors.ts";
import { defineOperation } from "../capability/operation.ts";
import {
  nodeMetricsMetrics,
  nodemetricsDiscoverySuccess,
  nodemetricsDiscoveryTargets,
  nodeUp,
} from "../catalogue/node-metrics.ts";
import { createForwarder, type Forwarder } from "../nodemetrics/forward.ts";
import { ForwardedRows } from "../nodemetrics/forwarded-rows.ts";
import { createScraper, type Scraper } from "../nodemetrics/scrape.ts";
import { Targets, type RoundTarget } from "../nodemetrics/targets.ts";
import { defineCollector, type Collect, type Tick } from "./collector.ts";
import { nodeMetricsSection } from "./nodemetrics/section.ts";
import { createRunningTotals } from "./running-totals.ts";

const PARALLEL = 10;
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
    const targets = new Targets({ devices, provider, log, now: () => clock.now() }, options);
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
      const round = await targets.round(tick.signal);
      if (options.discovery !== undefined) {
        tick.sweep.gauge(nodemetricsDiscoverySuccess, targets.status().lastOk ? 1 : 0, {});
        tick.sweep.gauge(nodemetricsDiscoveryTargets, round.length, {});
      }
      await tick.call(scrapeNodes, () => scrapeAll(round, { tick, scraper, forwarder }));
      totals.endRound();
    };
  },
});

interface Asking {
  readonly tick: Tick;
  readonly scraper: Scraper;
  readonly forwarder: Forwarder;
}

/** Scrapes with bounded concurrency. Rejects with the first failure when no agent answered. */
async function scrapeAll(round: readonly RoundTarget[], asking: Asking): Promise<void> {
  const waiting = round.values();
  const failures: unknown[] = [];
  let answered = 0;
  const asker = async (): Promise<void> => {
    for (const target of waiting) {
      const failure = await scrapeTarget(target, asking);
      if (failure === undefined) answered += 1;
      else failures.push(failure);
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, round.length) }, asker));
  if (answered === 0 && failures.length > 0) throw failures[0];
}

/** Scrapes one agent; resolves with its failure, if any. */
async function scrapeTarget(
  target: RoundTarget,
  { tick, scraper, forwarder }: Asking,
): Promise<unknown> {
  try {
    const text = await scraper.scrape(target, tick.signal);
    await forwarder.forward(target, text, tick.sweep, tick.signal);
    tick.sweep.gauge(nodeUp, 1, { "vpn.node": target.instance });
    return undefined;
  } catch (thrown) {
    tick.signal.throwIfAborted();
    tick.sweep.gauge(nodeUp, 0, { "vpn.node": target.instance });
    return toStewardError(thrown);
  }
}
