import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createDeadline } from "../../../src/kernel/async/deadline.ts";
import { createTelemetryWriter } from "../../../src/kernel/telemetry/writer/writer.ts";
import type { SeriesScope } from "../../../src/kernel/telemetry/writer/scope.ts";
import { nodemetrics } from "../../../src/monitor/collectors/nodemetrics.ts";
import { createRunningTotals } from "../../../src/monitor/collectors/running-totals.ts";
import { createForwarder } from "../../../src/monitor/nodemetrics/forward.ts";
import { ForwardedRows } from "../../../src/monitor/nodemetrics/forwarded-rows.ts";
import type { NodeMetricsOptions } from "../../../src/monitor/options.ts";
import type { Device } from "../../../src/monitor/providers/model.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createFakeProvider } from "./fake-provider.ts";
import { openCollector } from "./harness.ts";

const agentText = readFileSync(new URL("../nodemetrics/agent.txt", import.meta.url), "utf8");
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** An agent whose text can be changed; undefined answers 503. */
async function agent(
  text: string | undefined,
): Promise<{ url: string; say: (text: string | undefined) => void }> {
  let said = text;
  const server = createServer((_request, response) =>
    said === undefined ? response.writeHead(503).end() : response.end(said),
  );
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`,
    say: (next) => void (said = next),
  };
}

/** The URL of an agent that accepts connections and never answers. */
async function silentAgent(): Promise<string> {
  const server = createServer(() => undefined);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const quiet: NodeMetricsOptions = {
  intervalMs: 60_000,
  timeoutMs: 5_000,
  maxResponseBytes: 4_194_304,
  maxSamples: 50_000,
  maxDistinctMetrics: 2_000,
  metricAllow: [],
  metricDeny: [".*"],
  dropLabels: [],
  targets: [],
  discovery: undefined,
};
const discovery = {
  intervalMs: 1,
  maxTargets: 10,
  scheme: "http" as const,
  port: 5_252,
  path: "/metrics",
  onlineOnly: true,
  excludeExternal: true,
  includeHostLabels: false,
  includeTagsLabel: false,
  addressOrder: "ipv4" as const,
  instanceSource: "name" as const,
  includeTags: [],
  excludeTags: [],
};
const device = {
  id: "1",
  name: "alpha.example.test",
  hostname: "ALPHA",
  addresses: ["127.0.0.1"],
  tags: [],
  external: false,
  online: true,
} as unknown as Device;
const target = (
  url: string,
  instance: string,
  labels: Record<string, string> = {},
): NodeMetricsOptions["targets"][number] => ({
  url,
  instance,
  labels,
  headers: {},
  bearerToken: undefined,
  bearerTokenFile: "",
  tls: { caFile: "", certFile: "", keyFile: "", serverName: "", insecureSkipVerify: false },
});

function open(options: Partial<NodeMetricsOptions>) {
  const provider = createFakeProvider({});
  return openCollector(nodemetrics, provider, {
    collectors: { node_metrics: { ...quiet, ...options } },
  });
}

describe("The collector of node agents", () => {
  it("shows the agent's figures under names of our own, totals from the second look on", async () => {
    const { url, say } = await agent(agentText);
    const harness = open({ targets: [target(url, "alpha")] });
    await harness.run();
    expect(harness.series()).toEqual([
      'vpn.node.derp.home_region{vpn.node="alpha"} 900',
      'vpn.node.health_messages{vpn.node="alpha",vpn.health.type="warning"} 1',
      'vpn.node.up{vpn.node="alpha"} 1',
    ]);
    say(
      agentText
        .replace(
          'inbound_bytes_total{path="direct_ipv4"} 500',
          'inbound_bytes_total{path="direct_ipv4"} 700',
        )
        .replace(
          'inbound_bytes_total{path="direct_ipv6"} 0',
          'inbound_bytes_total{path="direct_ipv6"} 40',
        ),
    );
    await harness.run();
    expect(harness.series("vpn.node.io")).toEqual([
      'vpn.node.io{vpn.node="alpha",network.io.direction="receive",vpn.path="direct"} 240',
    ]);
  });

  it("goes on while some agents fail, fails when all do, and their levels leave", async () => {
    const [good, bad] = [await agent(agentText), await agent(undefined)];
    const harness = open({ targets: [target(good.url, "good"), target(bad.url, "bad")] });
    await harness.run();
    expect(harness.series("vpn.node.up")).toEqual([
      'vpn.node.up{vpn.node="bad"} 0',
      'vpn.node.up{vpn.node="good"} 1',
    ]);
    good.say(undefined);
    await expect(harness.run()).rejects.toThrow("503");
    expect(harness.series("vpn.node.up")).toEqual([
      'vpn.node.up{vpn.node="bad"} 0',
      'vpn.node.up{vpn.node="good"} 0',
    ]);
    expect(harness.states.get("scrapeNodeMetrics")).toBe("transient_failure");
    bad.say(agentText);
    await harness.run();
    expect(harness.series("vpn.node.derp")).toEqual([
      'vpn.node.derp.home_region{vpn.node="bad"} 900',
    ]);
  });

  it("finds agents among the devices, keeps them when that fails, and forgets those that are gone", async () => {
    const { url } = await agent(agentText);
    const port = Number(new URL(url).port);
    const provider = createFakeProvider({ devices: [device] });
    const harness = openCollector(nodemetrics, provider, {
      collectors: { node_metrics: { ...quiet, discovery: { ...discovery, port } } },
    });
    await harness.run();
    expect(harness.series("svc.nodemetrics")).toEqual([
      "svc.nodemetrics.discovery.success 1",
      "svc.nodemetrics.discovery.targets 1",
    ]);
    expect(harness.series("vpn.node.up")).toEqual(['vpn.node.up{vpn.node="alpha"} 1']);
    provider.answers.devices = () => {
      throw new Error("no");
    };
    await harness.clock.advance(1_000);
    await harness.run();
    expect(harness.series("svc.nodemetrics.discovery.success")).toEqual([
      "svc.nodemetrics.discovery.success 0",
    ]);
    expect(harness.series("vpn.node.up")).toHaveLength(1);
    provider.answers.devices = [];
    await harness.clock.advance(1_000);
    await harness.run();
    expect(harness.series("vpn.node")).toEqual([]);
  });

  it("logs which discovered agents have the instance of a configured one", async () => {
    const { url } = await agent(agentText);
    const lines: string[] = [];
    const log = createLog({
      level: "warn",
      format: "text",
      write: (line) => void lines.push(line),
      now: () => 0,
    });
    const harness = openCollector(nodemetrics, createFakeProvider({ devices: [device] }), {
      collectors: { node_metrics: { ...quiet, targets: [target(url, "alpha")], discovery } },
      deps: { log },
    });
    await harness.run();
    expect(harness.series("vpn.node.up")).toEqual(['vpn.node.up{vpn.node="alpha"} 1']);
    expect(lines.join("")).toMatch(/discovered agents are not scraped.*instances=alpha/);
  });

  it("scrapes agents after many silent ones, from the second run on in every run", async () => {
    const [first, last] = [await agent(agentText), await agent(agentText)];
    const silent = await silentAgent();
    const targets = [
      target(first.url, "first"),
      ...Array.from({ length: 70 }, (_, at) => target(`${silent}/${at}`, `silent ${at}`)),
      target(last.url, "last"),
    ];
    const harness = open({ targets, timeoutMs: 10_000 });
    const { clock } = harness;
    /** One run with the limit that its schedule has, until these agents' new values are there. */
    const runScheduled = async (region: number, answering: readonly string[]): Promise<void> => {
      for (const each of [first, last]) each.say(`tailscaled_home_derp_region_id ${region}\n`);
      using limit = createDeadline(clock, quiet.intervalMs, undefined, () => new Error("too long"));
      const ended = { run: false };
      const run = harness.run({ signal: limit.signal }).finally(() => (ended.run = true));
      await expect
        .poll(async () => {
          if (region > 1) await clock.advance(500);
          return harness.series("vpn.node.derp");
        })
        .toEqual(
          answering.map((name) => `vpn.node.derp.home_region{vpn.node="${name}"} ${region}`),
        );
      // In small steps: between them the sockets of cut scrapes are closed.
      while (!ended.run) await clock.advance(100);
      await run;
      expect(harness.series("vpn.node.up").filter((line) => line.endsWith(" 1"))).toHaveLength(
        answering.length,
      );
    };
    await runScheduled(1, ["first"]);
    expect(harness.series("vpn.node.up")).toHaveLength(72);
    for (let region = 2; region < 5; region += 1) await runScheduled(region, ["first", "last"]);
    expect(harness.states.get("scrapeNodeMetrics")).toBe("supported");
  });

  it("scrapes configured agents while discovery hangs", async () => {
    const { url } = await agent(agentText);
    const provider = createFakeProvider({});
    provider.answers.devices = () => new Promise<never>(() => undefined);
    const harness = openCollector(nodemetrics, provider, {
      collectors: { node_metrics: { ...quiet, targets: [target(url, "alpha")], discovery } },
    });
    const run = harness.run();
    await harness.clock.advance(0.4 * quiet.intervalMs);
    await run;
    expect(harness.series("vpn.node.up")).toEqual(['vpn.node.up{vpn.node="alpha"} 1']);
    expect(harness.series("svc.nodemetrics.discovery.success")).toEqual([
      "svc.nodemetrics.discovery.success 0",
    ]);
  });

  it("is off without agents to ask", () => {
    expect(() => open({})).toThrow("switch the collector nodemetrics off");
  });
});

describe("Forwarding an agent's metrics", () => {
  function forwarding(changes: Partial<NodeMetricsOptions> = {}) {
    const options = { ...quiet, metricDeny: [], ...changes };
    const scope = createTelemetryWriter({ clock: systemClock }).scope({
      name: "n",
      resource: {},
      constants: {},
    }) as SeriesScope;
    const forwarder = createForwarder(
      {
        clock: systemClock,
        scope,
        totals: createRunningTotals({ capacity: 1_000, keepRounds: 5 }),
        rows: new ForwardedRows(options.maxDistinctMetrics),
      },
      options,
    );
    const forward = async (text: string, labels: Record<string, string> = {}) => {
      const sweep = scope.sweep("nodemetrics");
      await forwarder.forward(
        { url: "http://a/", instance: "alpha", source: "static", configured: undefined, labels },
        text,
        sweep,
        new AbortController().signal,
      );
      sweep.commit();
    };
    const series = (): string[] =>
      [...scope.table.indexes()]
        .flatMap((index) =>
          [...index.numbers()].map((number) => {
            const values = scope.table.describe([number]).values[0];
            return `${index.row.kind} ${index.row.name}{${index.row.attributes.map((name, at) => `${name}=${String(values?.[at])}`).join(",")}} ${scope.table.columns.value[number]}`;
          }),
        )
        .toSorted();
    return { forward, series };
  }

  it("keeps the agent's names and labels, with those of the target, and nobody else says whose node it is", async () => {
    const { forward, series } = forwarding();
    await forward(
      'go_goroutines{vpn.x="1",a="2"} 3\n# TYPE t counter\nt 5\nmine{vpn_node="x",b="1"} 4\n',
      { room: "cellar", "vpn.node": "liar" },
    );
    expect(series()).toEqual(["gauge mine{b=1,room=cellar,vpn.node=alpha,vpn_node=x} 4"]);
    await forward("# TYPE t counter\nt 8\n", { room: "cellar" });
    expect(series()).toEqual(["counter t{room=cellar,vpn.node=alpha} 3"]);
  });

  it("forwards what is allowed and not denied, without dropped labels", async () => {
    const { forward, series } = forwarding({
      metricAllow: ["go_.*", "up"],
      metricDeny: ["go_gc.*"],
      dropLabels: ["pid"],
    });
    await forward('go_threads{pid="7"} 1\ngo_gc_x 2\nup 1\nupper 1\nxup 1\n');
    expect(series()).toEqual(["gauge go_threads{vpn.node=alpha} 1", "gauge up{vpn.node=alpha} 1"]);
  });

  it("forwards no target_info, which is the agent's", async () => {
    const { forward, series } = forwarding();
    await forward('# TYPE target_info gauge\ntarget_info{service_name="agent"} 1\na 1\n');
    expect(series()).toEqual(["gauge a{vpn.node=alpha} 1"]);
  });

  it("counts what a budget of names leaves out, and refuses more samples than allowed", async () => {
    const { forward, series } = forwarding({ maxDistinctMetrics: 2, maxSamples: 5 });
    await forward('a 1\nb 2\nc 3\nc{x="1"} 4\n');
    expect(series()).toEqual([
      "counter svc.nodemetrics.metric_names.dropped{reason=metric_name_budget} 2",
      "gauge a{vpn.node=alpha} 1",
      "gauge b{vpn.node=alpha} 2",
    ]);
    await expect(forward("a 1\n".repeat(6))).rejects.toThrow("more than 5 samples");
  });

  it("ends levels that an agent no longer says, and shows no NaN", async () => {
    const { forward, series } = forwarding();
    await forward("a 1\nb 2\nn NaN\n");
    await forward("b 3\n");
    expect(series()).toEqual(["gauge b{vpn.node=alpha} 3"]);
  });
});
