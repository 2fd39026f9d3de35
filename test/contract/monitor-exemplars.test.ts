/**
 * Exemplars of the running daemon: what a scraper, Prometheus and a receiver of OTLP get, and
 * nothing while tracing is off.
 */
import { spawnSync } from "node:child_process";
import { afterAll, expect, it, vi } from "vitest";
import { parseExposition, type Sample } from "../kernel/telemetry/exposition-parser.ts";
import { runPrometheus } from "../support/otlp/prometheus.ts";
import type { ReceivedExemplar, ReceivedSpan } from "../support/otlp/decode.ts";
import { startReceiver, type Receiver } from "../support/otlp/receiver.ts";
import {
  listenPort,
  removeTemporaryFolders,
  scrape,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";
import { bothNetworks, startEstate, type Estate } from "./monitor-estate.ts";

afterAll(removeTemporaryFolders);

const prometheus = spawnSync("prometheus", ["--version"]).status === 0;
if (!prometheus)
  process.stderr.write(
    "skipped: prometheus is not on this machine, so exemplars were not stored by it\n",
  );

const HISTOGRAMS = [
  "svc_api_duration_seconds_bucket",
  "svc_scrape_duration_histogram_seconds_bucket",
] as const;

function start(estate: Estate, receiver: Receiver, enabled: boolean): Promise<Daemon> {
  const { protocol, port, endpoint } = receiver;
  const target =
    protocol === "grpc"
      ? { protocol, endpoint: `127.0.0.1:${port}`, tls: { insecure: true } }
      : { protocol, endpoint };
  return startDaemon({
    config: JSON.stringify({
      gateway: { listen: "127.0.0.1:0" },
      state: { directory: temporaryFolder() },
      services: { dedup: false, tokens: false },
      scrape: { enabled: true, listen: "127.0.0.1:0", timeout: "60s" },
      ...bothNetworks(estate),
      tracing: { enabled },
      otlp: {
        ...target,
        metric_interval: "2s",
        // No span may be dropped on a busy machine: each exemplar's is looked for.
        timeout: "60s",
        batch: { traces: { export_interval: "100ms", max_queue_size: 100_000 } },
      },
    }),
  });
}

const buckets = (text: string, name: string): readonly Sample[] =>
  parseExposition(text).samples.filter((sample) => sample.name === name);

/** The span that an exemplar names, among those that were exported. */
function spanOf(
  receiver: Receiver,
  { trace_id: traceId, span_id: spanId }: Readonly<Record<string, string>>,
): ReceivedSpan | undefined {
  return receiver.spans().find((span) => span.traceId === traceId && span.spanId === spanId);
}

it("runs of collectors and calls name the span of the latest in each bucket, in OpenMetrics, Prometheus and OTLP; plain text and a daemon that does not trace name none", async () => {
  await using estate = await startEstate();
  const [receiver, untracedReceiver] = [
    await startReceiver({ protocol: "grpc" }),
    await startReceiver({ protocol: "http" }),
  ];
  const [daemon, untraced] = await Promise.all([
    start(estate, receiver, true),
    start(estate, untracedReceiver, false),
  ]);
  let open = "";
  await vi.waitFor(
    async () => {
      open = await scrape(daemon, { accept: "application/openmetrics-text" });
      for (const name of HISTOGRAMS) {
        for (const network of ["corp.test", "home"])
          expect(
            buckets(open, name).filter(
              ({ labels, exemplar }) => labels["vpn_network"] === network && exemplar,
            ).length,
            `${name} ${network}`,
          ).toBeGreaterThan(0);
      }
    },
    { timeout: 60_000, interval: 200 },
  );
  const [calls, runs] = HISTOGRAMS.map((name) =>
    buckets(open, name).filter(({ exemplar }) => exemplar !== undefined),
  );
  await vi.waitFor(
    () => {
      for (const { exemplar } of [...(calls ?? []), ...(runs ?? [])])
        expect(spanOf(receiver, exemplar?.labels ?? {})).toBeDefined();
    },
    { timeout: 120_000, interval: 500 },
  );
  for (const { labels, exemplar } of calls ?? []) {
    const span = spanOf(receiver, exemplar?.labels ?? {});
    expect(span?.name).toBe(`${labels["svc_provider"]}.api ${labels["endpoint"]}`);
    expect(span?.attributes).toMatchObject({
      endpoint: labels["endpoint"],
      "vpn.network": labels["vpn_network"],
    });
    expect(exemplar?.value).toBeLessThanOrEqual(Number(labels["le"]?.replace("+Inf", "Infinity")));
    expect((exemplar?.seconds ?? 0) * 1_000).toBeCloseTo(span?.endMs ?? 0, -3);
  }
  for (const { labels, exemplar } of runs ?? [])
    expect(spanOf(receiver, exemplar?.labels ?? {})?.name).toBe(
      `scrape ${labels["vpn_collector"]}`,
    );
  await vi.waitFor(
    () => {
      const sent = receiver
        .points()
        .flatMap(({ metric, exemplars = [] }) =>
          exemplars.map((each: ReceivedExemplar) => ({ metric, ...each })),
        );
      expect([...new Set(sent.map(({ metric }) => metric))].toSorted()).toEqual([
        "svc.api.duration",
        "svc.scrape.duration.histogram",
      ]);
      const spans = new Set(receiver.spans().map(({ traceId, spanId }) => `${traceId}/${spanId}`));
      expect(sent.filter(({ traceId, spanId }) => !spans.has(`${traceId}/${spanId}`))).toEqual([]);
    },
    // The receiver is in this process: looking too often would keep it from receiving.
    { timeout: 120_000, interval: 1_000 },
  );
  expect(
    open
      .split("\n")
      .filter((line) => line.includes(" # {") && !HISTOGRAMS.some((name) => line.startsWith(name))),
  ).toEqual([]);
  expect(await scrape(daemon, { accept: "text/plain" })).not.toContain(" # {");
  if (prometheus) {
    await using server = await runPrometheus(listenPort(daemon, "metrics"), ["/metrics"]);
    const stored = await server.exemplars("svc_scrape_duration_histogram_seconds_bucket");
    for (const { labels, series } of stored)
      await vi.waitFor(
        () => expect(spanOf(receiver, labels)?.name).toBe(`scrape ${series["vpn_collector"]}`),
        { timeout: 60_000, interval: 100 },
      );
    expect((await server.query("up == 1", 1)).map(({ value }) => value)).toEqual([1]);
  }
  await vi.waitFor(
    () =>
      expect(untracedReceiver.points().some(({ metric }) => metric === "svc.api.duration")).toBe(
        true,
      ),
    { timeout: 60_000, interval: 100 },
  );
  const plain = await scrape(untraced, { accept: "application/openmetrics-text" });
  expect(buckets(plain, "svc_api_duration_seconds_bucket").length).toBeGreaterThan(0);
  expect(plain).not.toContain(" # {");
  expect(untracedReceiver.points().filter(({ exemplars }) => exemplars !== undefined)).toEqual([]);
  expect(await Promise.all([daemon.stop(), untraced.stop()])).toEqual([
    { code: 0, signal: null },
    { code: 0, signal: null },
  ]);
  await Promise.all([receiver.close(), untracedReceiver.close()]);
});
