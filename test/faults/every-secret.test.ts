import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { unzipSync } from "fflate";
import { afterAll, expect, it, vi } from "vitest";
import { daemonSchema } from "../../src/daemon/configuration.ts";
import {
  listenAddress,
  removeTemporaryFolders,
  runSteward,
  startDaemon,
  temporaryFolder,
} from "../contract/daemon.ts";
import {
  bothNetworks,
  fillBucket,
  objectStores,
  startEstate,
  type Estate,
  type Section,
} from "../contract/monitor-estate.ts";
import { startReceiver, type Answer, type Receiver } from "../support/otlp/receiver.ts";
import { canary, filesOf, found, type Canary } from "./canaries.ts";
import { fillSecrets, secretPlaces, type Tree } from "./secret-places.ts";

afterAll(removeTemporaryFolders);

/**
 * A receiver's message is cut after 300 characters, and begins with the status of gRPC and with the
 * number of the text.
 */
const MAX_WORDS = 300 - "8 RESOURCE_EXHAUSTED: ".length - "echo-99:".length;
/** Statuses of classes that the log tells apart, none of which is sent again. */
const STATUSES = [3, 7, 8, 2];

/**
 * A receiver of OTLP that refuses each request with the next of `texts`; what was refused last
 * stays.
 */
async function startRefusing(
  texts: readonly string[],
): Promise<Receiver & { readonly used: () => number }> {
  const receiver = await startReceiver({ protocol: "grpc" });
  let used = 0;
  let refusing = true;
  Object.defineProperty(receiver, "answer", {
    get(): Answer {
      if (!refusing || used >= texts.length) return { kind: "accept" };
      used += 1;
      return {
        kind: "refuse",
        grpc: STATUSES[used % STATUSES.length] ?? 2,
        http: 400,
        words: texts[used - 1] ?? "",
      };
    },
    set() {
      refusing = false;
    },
  });
  return Object.assign(receiver, { used: () => used });
}

/** The forms in which a receiver repeats what it was sent. */
function formsOf(canaries: readonly Canary[]): string[] {
  return canaries.flatMap(({ value }) => [
    value,
    Buffer.from(`user:${value}`).toString("base64"),
    encodeURIComponent(`${value}/`),
  ]);
}

/** Texts of these forms that are not cut. */
function echoes(forms: readonly string[]): string[] {
  const texts: string[] = [];
  let text = "";
  for (const form of forms) {
    if (text.length + form.length + 1 > MAX_WORDS) {
      texts.push(text);
      text = "";
    }
    text += ` ${form}`;
  }
  return [...texts, text].map((words, number) => `echo-${number}:${words}`);
}

/** Answers everything with a refusal that repeats the headers it was sent. */
async function startEcho(): Promise<{
  readonly url: string;
  readonly server: Server;
  readonly seen: string[];
}> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.rawHeaders.join(" "));
    response
      .writeHead(403, {
        "content-type": "text/plain",
        "www-authenticate": `Bearer error="${request.headers.authorization ?? ""}"`,
      })
      .end(`refused: ${request.rawHeaders.join(" ")}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, seen };
}

/**
 * Everything on that has a secret; the secrets themselves are left out, but for those of the
 * control planes.
 */
function configuration(
  estate: Estate,
  { echo, state }: { readonly echo: string; readonly state: string },
): Tree {
  const { networks, collectors, ...others } = structuredClone(bothNetworks(estate)) as {
    networks: Tree[];
    collectors: Record<string, Tree>;
  } & Tree;
  const [hosted = {}, own = {}] = networks;
  const stores = (folder: string): Section =>
    Object.fromEntries(
      Object.entries(objectStores(estate) as Record<string, Tree>).map(
        ([name, { access_key_id: _id, secret_access_key: _key, ...feed }]) => [
          name,
          { ...feed, prefix: `${folder}${String(feed["prefix"])}` },
        ],
      ),
    );
  const quick = { retry: { base_delay: "10ms", max_delay: "20ms" } };
  const targets = [
    ...((collectors["node_metrics"]?.["targets"] ?? []) as Tree[]),
    { url: `${echo}/metrics`, instance: "echo" },
  ];
  return {
    gateway: { listen: "127.0.0.1:0" },
    state: { directory: state },
    logging: { level: "debug" },
    tracing: { enabled: true },
    dedup: { archives: [{ name: "echo", kind: "paperless", url: echo, username: "user" }] },
    otlp: { metric_interval: "300ms", protocol: "grpc", tls: { insecure: true } },
    // Without its limit: on a busy machine a scrape of all this takes longer than 8 s.
    scrape: { enabled: true, listen: "127.0.0.1:0", timeout: "0s" },
    annotations: { url: estate.dashboard.url },
    // Off: one secret for all and one for each network exclude each other.
    streaming: { routes: [{ network: "home", path: "/stream/home" }] },
    webhook: { routes: [{ network: "home" }] },
    profiling: {
      profiler: { enabled: true, server_address: echo, basic_auth_user: "user", upload_rate: "1s" },
    },
    ...others,
    networks: [
      { ...hosted, http: quick, objectstore: stores("") },
      { ...own, http: quick, objectstore: stores("home/") },
    ],
    collectors: {
      ...collectors,
      node_metrics: { ...collectors["node_metrics"], targets },
      flowlogs: { ...collectors["flowlogs"], source: "objectstore" },
      auditlogs: { ...collectors["auditlogs"], source: "objectstore" },
      k8s_audit: { enabled: true },
    },
  };
}

const PATHS = [
  "/",
  "/readyz?verbose=1",
  "/healthz",
  "/openapi.json",
  "/api/status.json",
  "/api/config.json",
  "/api/cardinality.json",
  "/api/support-bundle.zip",
  "/api/support-bundle.zip?include_devices=1",
  "/api/v1/metrics",
  "/v1/sys/health",
  "/nowhere",
  "/events",
  "/flows",
  "/api/events.json",
  "/api/flows.json",
  "/api/v1/documents/none",
  "/api/v1/jobs",
  "/api/v1/sync/status",
];

/** Every document and page, by path, as each of the tokens sees it; a bundle as its files. */
async function pages(
  url: string,
  tokens: readonly string[],
  paths: readonly string[],
): Promise<Record<string, string | Buffer>> {
  const outputs: Record<string, string | Buffer> = {};
  for (const path of paths) {
    for (const [at, token] of tokens.entries()) {
      const answer = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } });
      const bytes = Buffer.from(await answer.arrayBuffer());
      outputs[`${path} with token ${at}: ${answer.status}`] = Buffer.concat([
        Buffer.from(JSON.stringify([...answer.headers])),
        bytes,
      ]);
      if (answer.headers.get("content-type") === "application/zip")
        for (const [name, file] of Object.entries(unzipSync(bytes)))
          outputs[`${path} file ${name.replace(/^.*\//, "")}`] = Buffer.from(file);
    }
  }
  return outputs;
}

it("a secret at any place of the configuration shows in no log line, span, export, error, document, page, bundle, command or file, also when others repeat it", async () => {
  await using estate = await startEstate();
  const places = secretPlaces(daemonSchema);
  const echo = await startEcho();
  const state = temporaryFolder();
  fillBucket(estate, [{ nodeId: "n" }], []);
  const config = configuration(estate, { echo: echo.url, state });
  const canaries = fillSecrets(config, places);
  const named = new Set(canaries.map(({ where }) => where));
  // Those of the control planes are right already, so that runs go well; wrong ones are refused
  // by servers that repeat them.
  const given = ["networks.[].auth.oauth.client_secret", "networks.[].api_key"];
  expect(
    places
      .map((place) => place.join("."))
      .filter((place) => !named.has(place) && !given.includes(place)),
  ).toEqual([]);
  const { networks } = config as {
    networks: { auth: { oauth: { client_secret: string } }; api_key: string }[];
  };
  const real = [
    {
      where: "networks.[].auth.oauth.client_secret",
      value: networks[0]?.auth.oauth.client_secret ?? "",
    },
    { where: "networks.[].api_key", value: networks[1]?.api_key ?? "" },
  ];
  const all = [...canaries, ...real];
  expect(all.every(({ value }) => value.length > 12)).toBe(true);
  const texts = echoes(formsOf(all));
  const receiver = await startRefusing(texts);
  Object.assign(config["otlp"] as Tree, { endpoint: `127.0.0.1:${receiver.port}` });
  const echoed = formsOf(all).join(" ");
  estate.bucket.faults.set(
    "list",
    (response) =>
      void response
        .writeHead(403)
        .end(`<Error><Code>AccessDenied</Code><Message>${echoed}</Message></Error>`),
  );
  for (const status of [400, 401, 403, 500]) {
    estate.tailscale.faults.next(
      "users",
      {
        kind: "status",
        status,
        message: echoed,
        headers: { "www-authenticate": echoed.slice(0, 2_000) },
      },
      3,
    );
    estate.headscale.faults.next("nodes", { kind: "status", status, message: echoed }, 3);
  }
  estate.tailscale.faults.next(
    "settings",
    { kind: "redirect", location: `http://elsewhere.example/${echoed.slice(0, 500)}` },
    2,
  );
  estate.dashboard.status = 403;
  const daemon = await startDaemon({ config: JSON.stringify(config) });
  // An export for each of them, and some are tried again until their time is over.
  await vi.waitFor(() => expect(receiver.used()).toBe(texts.length), {
    timeout: 240_000,
    interval: 50,
  });
  await vi.waitFor(
    () => expect(daemon.stderr.some((line) => line.includes("AccessDenied"))).toBe(true),
    { timeout: 60_000, interval: 50 },
  );
  const sync = await fetch(`${daemon.url}/api/v1/sync`, {
    method: "POST",
    headers: { authorization: `Bearer ${(config["auth"] as { token: string }).token}` },
  });
  expect(sync.status).toBe(202);
  await vi.waitFor(() => expect(echo.seen.some((line) => line.includes("Token "))).toBe(true), {
    timeout: 60_000,
    interval: 50,
  });
  const { auth, admin, scrape } = config as unknown as {
    auth: { token: string };
    admin: { auth: { token: string } };
    scrape: { auth: { token: string } };
  };
  const outputs = await pages(daemon.url, [auth.token, admin.auth.token, "wrong"], PATHS);
  const pull = listenAddress(daemon, "metrics");
  Object.assign(outputs, await pages(`http://${pull}`, [scrape.auth.token, "wrong"], ["/metrics"]));
  expect(
    Object.keys(outputs)
      .filter((name) => name.endsWith(": 200"))
      .map((name) => name.split(" ")[0]),
  ).toEqual(
    expect.arrayContaining([
      "/",
      "/readyz?verbose=1",
      "/api/status.json",
      "/api/config.json",
      "/api/cardinality.json",
      "/api/support-bundle.zip",
      "/v1/sys/health",
      "/metrics",
    ]),
  );
  expect(
    Object.keys(outputs).filter((name) => name.startsWith("/api/support-bundle.zip file ")).length,
  ).toBeGreaterThan(3);
  await vi.waitFor(() => expect(receiver.spans().length).toBeGreaterThan(3), {
    timeout: 60_000,
    interval: 100,
  });
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  const lines = daemon.stderr.join("\n");
  // Else nothing was shown that could have been.
  expect(lines.match(/echo-\d+:/g)?.length).toBeGreaterThan(3);
  expect(lines.split("[secret]").length).toBeGreaterThan(20);
  expect(echo.seen.length).toBeGreaterThan(1);
  const file = join(temporaryFolder(), "steward.yaml");
  writeFileSync(file, JSON.stringify(config));
  for (const args of [
    ["-validate"],
    ["-validate", "-json"],
    ["-print-effective-config"],
    ["-print-effective-config", "-print-effective-config-provenance"],
    ["-preflight"],
  ]) {
    const { stdout, stderr } = await runSteward([...args, "-config", file]);
    outputs[args.join(" ")] = stdout + stderr;
  }
  Object.assign(outputs, {
    "standard output": daemon.stdout.join("\n"),
    "standard error": lines,
    exports: JSON.stringify([receiver.points(), receiver.logs(), receiver.spans()]),
    "the dashboard": JSON.stringify(estate.dashboard.marks),
    ...filesOf(state),
  });
  expect(found(all, outputs)).toEqual([]);
  await receiver.close();
  echo.server.closeAllConnections();
  echo.server.close();
});

it("a credential that was renewed while the daemon runs is as hidden as the one it began with", async () => {
  const receiver = await startReceiver({ protocol: "grpc" });
  let status = 3;
  // Longer than what is kept of a receiver's words, so that it is cut in the middle of the token.
  Object.defineProperty(receiver, "answer", {
    get: (): Answer => ({
      kind: "refuse",
      grpc: status,
      http: 400,
      words: `${"x".repeat(250)} ${String(receiver.headers["x-token"])}`,
    }),
  });
  const file = join(temporaryFolder(), "token");
  const [first, second] = [canary("the first token"), canary("the renewed token")];
  writeFileSync(file, first.value);
  const config = {
    gateway: { listen: "127.0.0.1:0" },
    state: { directory: temporaryFolder() },
    services: { dedup: false, tokens: false },
    otlp: {
      protocol: "grpc",
      endpoint: `127.0.0.1:${receiver.port}`,
      tls: { insecure: true },
      metric_interval: "100ms",
      headers: { "x-token_file": file },
      credential_reload: { enabled: true, interval: "5s" },
    },
  };
  const daemon = await startDaemon({ config: JSON.stringify(config) });
  const written = async (word: string): Promise<void> =>
    await vi.waitFor(() => expect(daemon.stderr.join("\n")).toContain(word), {
      timeout: 60_000,
      interval: 20,
    });
  await written("class=invalid");
  writeFileSync(file, second.value);
  await vi.waitFor(() => expect(receiver.headers["x-token"]).toBe(second.value), {
    timeout: 60_000,
    interval: 20,
  });
  // Another class of failure is another line.
  status = 7;
  await written("class=unauthenticated");
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  const lines = daemon.stderr.join("\n");
  for (const { value } of [first, second]) expect(lines).not.toContain(value.slice(0, 16));
  await receiver.close();
});
