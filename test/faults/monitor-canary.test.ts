import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import {
  removeTemporaryFolders,
  rest,
  runSteward,
  startDaemon,
  temporaryFolder,
} from "../contract/daemon.ts";
import {
  bothNetworks,
  fillBucket,
  objectStores,
  startEstate,
  type Section,
} from "../contract/monitor-estate.ts";
import { startReceiver } from "../support/otlp/receiver.ts";
import { privacySchema } from "../../src/monitor/config/privacy-keys.ts";
import { canary, filesOf, found } from "./canaries.ts";

afterAll(removeTemporaryFolders);

const of = {
  client: canary("networks[].auth.oauth.client_secret"),
  headscale: canary("networks[].api_key"),
  access: canary("networks[].objectstore.*.access_key_id"),
  secretAccess: canary("networks[].objectstore.*.secret_access_key"),
  session: canary("networks[].objectstore.*.session_token"),
  bearer: canary("collectors.node_metrics.targets[].bearer_token"),
  header: canary("collectors.node_metrics.targets[].headers"),
  dashboard: canary("annotations.token"),
  scrape: canary("scrape.auth.token"),
  otlp: canary("otlp.headers"),
  echoed: canary("what an upstream's error says"),
  unused: canary("vpn.auth.apikey"),
};
const canaries = Object.values(of);

it("of the monitor's configuration shows in no log line, metric, record, page, command or file, also when upstreams fail and repeat it", async () => {
  await using estate = await startEstate({
    secrets: { client: of.client.value, headscaleKey: of.headscale.value },
  });
  const receiver = await startReceiver({ protocol: "http" });
  const state = temporaryFolder();
  fillBucket(estate, [{ nodeId: "n" }], []);
  const { networks, collectors, ...others } = bothNetworks(estate);
  const [first = {}, second = {}] = networks as Section[];
  const {
    node_metrics = {},
    flowlogs,
    auditlogs,
    ...further
  } = collectors as Record<string, Section>;
  const targets = (node_metrics["targets"] as Section[]).map((target) => ({
    ...target,
    bearer_token: of.bearer.value,
    headers: { "x-key": of.header.value },
  }));
  const stores = (folder: string) =>
    Object.fromEntries(
      Object.entries(objectStores(estate) as Record<string, Section>).map(([name, feed]) => [
        name,
        {
          ...feed,
          prefix: `${folder}${String(feed["prefix"])}`,
          access_key_id: of.access.value,
          secret_access_key: of.secretAccess.value,
          session_token: of.session.value,
        },
      ]),
    );
  const quick = { retry: { base_delay: "10ms", max_delay: "20ms" } };
  const config = {
    gateway: { listen: "127.0.0.1:0" },
    state: { directory: state },
    services: { dedup: false, tokens: false },
    logging: { level: "debug", format: "json" },
    tracing: { enabled: true },
    otlp: {
      endpoint: receiver.endpoint,
      metric_interval: "300ms",
      headers: { authorization: `Bearer ${of.otlp.value}` },
    },
    scrape: {
      enabled: true,
      listen: "127.0.0.1:0",
      timeout: "0s",
      auth: { token: of.scrape.value },
    },
    annotations: { url: estate.dashboard.url, token: of.dashboard.value },
    ...others,
    vpn: { ...(others["vpn"] as Section), auth: { apikey: of.unused.value } },
    networks: [
      { ...first, http: quick, objectstore: stores("") },
      { ...second, http: quick, objectstore: stores("home/") },
    ],
    collectors: {
      ...further,
      node_metrics: { ...node_metrics, targets },
      flowlogs: { ...flowlogs, source: "objectstore" },
      auditlogs: { ...auditlogs, source: "objectstore" },
      k8s_audit: { enabled: true },
    },
  };
  const text = JSON.stringify(config);
  expect(
    canaries.filter(({ value }) => value !== of.echoed.value && !text.includes(value)),
  ).toEqual([]);
  const daemon = await startDaemon({ config: text });
  const good = (): Set<unknown> =>
    new Set(
      receiver
        .points()
        .filter(({ metric, value }) => metric === "svc.scrape.success" && value === 1)
        .map(
          ({ attributes }) =>
            `${String(attributes["vpn.network"])} ${String(attributes["vpn.collector"])}`,
        ),
    );
  await vi.waitFor(() => expect(good().size).toBeGreaterThan(20), {
    timeout: 60_000,
    interval: 50,
  });
  // Credentials that are refused, by answers that repeat what they were sent.
  for (const status of [400, 401, 403, 500]) {
    estate.tailscale.faults.next(
      "users",
      {
        kind: "status",
        status,
        message: `no: ${of.echoed.value} ${of.client.value}`,
        headers: { "www-authenticate": `Bearer error="${of.echoed.value}"` },
      },
      3,
    );
    estate.headscale.faults.next(
      "nodes",
      { kind: "status", status, message: `no: ${of.headscale.value} ${of.echoed.value}` },
      3,
    );
  }
  estate.tailscale.faults.next("keys", { kind: "html" }, 5);
  estate.bucket.faults.set(
    "get",
    (response) =>
      void response
        .writeHead(403)
        .end(
          `<Error><Code>AccessDenied</Code><Message>${of.access.value} ${of.echoed.value}</Message></Error>`,
        ),
  );
  // With objects that it has not read yet.
  fillBucket(estate, [{ nodeId: "later" }], []);
  estate.tailscale.estate.revokeTokens();
  const failed = (): number =>
    receiver.points().filter(({ metric, value }) => metric === "svc.scrape.errors" && value > 0)
      .length;
  await vi.waitFor(() => expect(failed()).toBeGreaterThan(1), { timeout: 60_000, interval: 50 });
  await vi.waitFor(
    () =>
      expect(daemon.stderr.filter((line) => line.includes("AccessDenied")).length).toBeGreaterThan(
        1,
      ),
    { timeout: 60_000, interval: 50 },
  );
  const address = daemon.stderr
    .map(
      (line) => /"address":"(127\.0\.0\.1:\d+)"/.exec(line.includes('"metrics"') ? line : "")?.[1],
    )
    .find((each) => each !== undefined);
  const refused = await fetch(`http://${address}/metrics`, {
    headers: { authorization: "Bearer wrong" },
  });
  const pulled = await fetch(`http://${address}/metrics`, {
    headers: { authorization: `Bearer ${of.scrape.value}` },
  });
  expect([refused.status, pulled.status]).toEqual([401, 200]);
  const outputs: Record<string, string | Buffer> = {
    "a refused pull": await refused.text(),
    "the exposition": await pulled.text(),
  };
  for (const path of ["/", "/readyz?verbose=1", "/healthz", "/openapi.json"])
    outputs[path] = (await rest(daemon, "GET", path)).text;
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  const file = join(temporaryFolder(), "steward.yaml");
  writeFileSync(file, text);
  for (const args of [["-validate"], ["-validate", "-json"], ["-print-effective-config"]]) {
    const { stdout, stderr } = await runSteward([...args, "-config", file]);
    outputs[args.join(" ")] = stdout + stderr;
  }
  const told = { points: receiver.points(), logs: receiver.logs(), spans: receiver.spans() };
  Object.assign(outputs, {
    "standard output": daemon.stdout.join("\n"),
    "standard error": daemon.stderr.join("\n"),
    telemetry: JSON.stringify(told),
    "the dashboard": JSON.stringify(estate.dashboard.marks),
    ...filesOf(state),
  });
  expect(Object.keys(outputs).some((name) => name.includes("checkpoints"))).toBe(true);
  expect(found(canaries, outputs)).toEqual([]);
  await receiver.close();
});

it("of names shows in nothing that is exported while pii_filter hides all, also when the control planes are dead", async () => {
  const receiver = await startReceiver({ protocol: "http" });
  const names = ["first", "second"].map((each) => canary(`networks[].name ${each}`));
  const path = canary("networks[].url");
  const daemon = await startDaemon({
    config: JSON.stringify({
      gateway: { listen: "127.0.0.1:0" },
      state: { directory: temporaryFolder() },
      services: { dedup: false, tokens: false },
      logging: { level: "debug", format: "json" },
      tracing: { enabled: true },
      otlp: {
        endpoint: receiver.endpoint,
        metric_interval: "300ms",
        batch: { logs: { export_interval: "20ms" } },
      },
      pii_filter: Object.fromEntries(
        privacySchema.map(({ path }) => [path.slice("pii_filter.".length), false]),
      ),
      version_checks: { devices: { enabled: false } },
      networks: names.map(({ value: name }, index) => ({
        name,
        url: `http://127.0.0.1:1${index === 0 ? "" : `/${path.value}`}`,
        auth: { method: "apikey", apikey: "tskey-api-none" },
        http: { retry: { base_delay: "10ms", max_delay: "20ms" } },
      })),
    }),
  });
  const failures = (lines: readonly string[]): number =>
    lines.filter((line) => line.includes("collector failed")).length;
  await vi.waitFor(
    () => expect(failures(receiver.logs().map(({ body }) => body))).toBeGreaterThan(10),
    { timeout: 60_000, interval: 50 },
  );
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  const standardError = daemon.stderr.join("\n");
  for (const { value } of [path, ...names]) expect(standardError).toContain(value);
  const outputs = {
    "log records": JSON.stringify(receiver.logs()),
    metrics: JSON.stringify(receiver.points()),
    spans: JSON.stringify(receiver.spans()),
  };
  expect(found([path, ...names], outputs)).toEqual([]);
  expect(outputs["log records"]).not.toMatch(/(?<![\d.])127\.0\.0\.1/);
  await receiver.close();
});
