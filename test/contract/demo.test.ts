/**
 * The demo as somebody sees it who has just started it: what it shows, and that its own advice
 * leads back to a demo.
 */
import { writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { folderConfig, smallArchive, writeFiles } from "./corpus.ts";
import {
  type Daemon,
  removeTemporaryFolders,
  rest,
  runSteward,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";

const SOON = { timeout: 60_000, interval: 100 };
const ROOT = { "x-vault-token": "demo" };
const DAY_MS = 86_400_000;

let demo: Daemon;

function startDemo(env: Readonly<Record<string, string>> = {}): Promise<Daemon> {
  return startDaemon({
    args: ["-demo"],
    env: {
      STEWARD_STATE__DIRECTORY: temporaryFolder(),
      STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
      STEWARD_DEMO_ROOT_TOKEN: "demo",
      ...env,
    },
  });
}

async function statusOf(daemon: Daemon): Promise<any> {
  const { status, json } = await rest(daemon, "GET", "/api/status.json");
  expect(status).toBe(200);
  return json;
}

/** The lines of one family from the pull endpoint that the start names. */
async function samplesOf(daemon: Daemon, family: string): Promise<string[]> {
  const shown = (): string | undefined =>
    daemon.stderr.join("\n").match(/curl -s (http:\/\/127\.0\.0\.1:\d+\/metrics)/)?.[1];
  // The endpoint opens after the start line.
  const address = await vi.waitFor(() => {
    expect(shown()).toBeDefined();
    return shown();
  }, SOON);
  const text = await (await fetch(address ?? "")).text();
  return text
    .split("\n")
    .filter((line) => line.startsWith(`${family}{`) || line.startsWith(`${family} `));
}

async function squat(port = 0): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer().listen(port, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, server };
}

/** Splits a printed command into its variables and words. */
function parsed(command: string): { env: Record<string, string>; words: string[] } {
  const words = command.split(" ");
  const first = words.findIndex((word) => !/^STEWARD_\w+=/.test(word));
  return {
    env: Object.fromEntries(
      words
        .slice(0, first)
        .map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]),
    ),
    words: words.slice(first),
  };
}

beforeAll(async () => {
  demo = await startDemo();
});
afterAll(async () => {
  await demo.stop();
  removeTemporaryFolders();
});

describe("the running demo", () => {
  it("has a device that is offline", async () => {
    await vi.waitFor(
      async () =>
        expect(await samplesOf(demo, "vpn_device_online_ratio")).toContainEqual(
          expect.stringMatching(/host_name="git-14".* 0$/),
        ),
      SOON,
    );
  });

  it("shows of its devices who is connected, since when, what expires, which version and routes, and whose they are", async () => {
    // Some come and go: 25 at most.
    await vi.waitFor(
      async () => expect((await statusOf(demo)).devices.length).toBeGreaterThan(20),
      SOON,
    );
    const { devices } = await statusOf(demo);
    const named = (hostname: string): any =>
      devices.find((each: any) => each.hostname === hostname);
    expect(named("git-14")).toMatchObject({
      online: false,
      last_seen: expect.any(String),
      user: expect.stringContaining("@"),
    });
    const leftMs = Date.parse(named("dennis-laptop-12").key_expires_at) - Date.now();
    expect([leftMs > 0, leftMs <= 3 * DAY_MS]).toEqual([true, true]);
    // A device that another network shares does not tell its version.
    expect(
      devices.every(
        (each: any) =>
          (each.external || /^1\.\d+/.test(each.client_version)) &&
          typeof each.online === "boolean" &&
          each.user !== "",
      ),
    ).toBe(true);
    expect(devices.some((each: any) => each.update_available === true)).toBe(true);
    expect(
      devices.some(
        (each: any) => each.enabled_routes?.length > 0 && each.advertised_routes?.length > 0,
      ),
    ).toBe(true);
    expect(devices.some((each: any) => each.key_expiry_disabled === true)).toBe(true);
  });

  it("has a device whose key expires within three days", async () => {
    await vi.waitFor(async () => {
      const [line = ""] = (await samplesOf(demo, "vpn_device_key_expiry_seconds")).filter((each) =>
        each.includes('host_name="dennis-laptop-12"'),
      );
      const leftMs = Number(line.split(" ").at(-1)) * 1000 - Date.now();
      expect(leftMs).toBeGreaterThan(0);
      expect(leftMs).toBeLessThanOrEqual(3 * DAY_MS);
    }, SOON);
  });

  it("is degraded by one failing collector, whose reason says cause, scope and that it is simulated", async () => {
    await vi.waitFor(
      async () =>
        expect((await statusOf(demo)).collectors.every((each: any) => each.has_run)).toBe(true),
      SOON,
    );
    const status = await statusOf(demo);
    expect(status.health).toBe("degraded");
    expect(status.health_reasons).toEqual([
      expect.stringMatching(
        /^collector "contacts": last run failed: the credential lacks the permission \(status 403\).*, simulated by the demo$/,
      ),
    ]);
    expect(
      status.collectors
        .filter((each: any) => !each.last_success)
        .map((each: any) => [each.name, each.last_error]),
    ).toEqual([
      [
        "contacts",
        expect.stringMatching(
          /contacts: the credential lacks the permission \(status 403\) .*, simulated by the demo$/,
        ),
      ],
    ]);
    expect(status.capability_matrix.filter((each: any) => each.actionable)).toEqual([
      expect.objectContaining({
        collector: "contacts",
        state: "scope_denied",
        scope_status: "insufficient",
        missing_scopes: ["account_settings:read"],
      }),
    ]);
    // The operator's terminal says beforehand that this is no accident.
    expect(demo.stderr.join("\n")).toMatch(
      /some failures are simulated.* failing_collector=contacts missing_scope=account_settings:read offline_device=git-14 device_with_expiring_key=dennis-laptop-12/,
    );
    // The thread of the monitor reports its state once a second.
    await expect.poll(async () => (await rest(demo, "GET", "/readyz")).status).toBe(200);
  });

  it("has leases of several permission sets and a refused mint", async () => {
    await vi.waitFor(
      async () =>
        expect(await samplesOf(demo, "svc_tokens_mints_total")).toContain(
          'svc_tokens_mints_total{mount="github/",outcome="denied"} 1',
        ),
      SOON,
    );
    expect(await samplesOf(demo, "svc_tokens_mints_total")).toContain(
      'svc_tokens_mints_total{mount="github/",outcome="ok"} 3',
    );
    expect(await samplesOf(demo, "svc_tokens_leases")).toContain(
      'svc_tokens_leases{state="held"} 3',
    );
    for (const name of ["ci", "deploy", "issues"]) {
      const { status, json } = await rest(
        demo,
        "LIST",
        `/v1/sys/leases/lookup/github/token/${name}`,
        undefined,
        ROOT,
      );
      expect([name, status, json?.data?.keys?.length]).toEqual([name, 200, 1]);
    }
    expect(
      (await rest(demo, "LIST", "/v1/github/permissionsets", undefined, ROOT)).json.data.keys,
    ).toEqual(["ci", "deploy", "issues"]);
  });

  it("has series, and says at which free port of this machine they are pulled", async () => {
    await vi.waitFor(
      async () => expect((await statusOf(demo)).cardinality.total).toBeGreaterThan(500),
      SOON,
    );
    const { metrics_serving: serving, advisories } = await statusOf(demo);
    expect(serving).toMatchObject({
      enabled: true,
      config: { listen: expect.stringMatching(/^127\.0\.0\.1:[1-9]\d*$/) as string },
    });
    expect(demo.stderr.join("\n")).toContain(`curl -s http://${serving.config.listen}/metrics`);
    // Nothing to advise of a configuration that nobody wrote.
    expect(advisories).toEqual([]);
  });

  it("starts again on its state with leases of its own, asks no proxy of the environment, and ends well", async () => {
    const { port } = await squat();
    const proxy = `http://127.0.0.1:${port}`;
    const state = temporaryFolder();
    for (const _ of [1, 2]) {
      const daemon = await startDemo({
        STEWARD_STATE__DIRECTORY: state,
        HTTP_PROXY: proxy,
        http_proxy: proxy,
        HTTPS_PROXY: proxy,
      });
      await vi.waitFor(
        async () =>
          expect(await samplesOf(daemon, "svc_tokens_leases")).toContain(
            'svc_tokens_leases{state="held"} 3',
          ),
        SOON,
      );
      expect(await daemon.stop()).toEqual({ code: 0, signal: null });
      expect(daemon.stderr.join("\n")).not.toMatch(/ error |stopped minting/);
    }
  });
});

describe("the demo beside settings of its user", () => {
  it("asks no model of theirs, sends nothing to a receiver of other programs, and reads no Paperless-ngx", async () => {
    const { port, server } = await squat();
    let connections = 0;
    server.on("connection", () => (connections += 1));
    const theirs = temporaryFolder();
    writeFileSync(join(theirs, "letter.txt"), "Dear reader, this letter is mine.");
    const config = JSON.stringify({
      gateway: { listen: "127.0.0.1:0" },
      state: { directory: temporaryFolder() },
      services: { monitor: false, tokens: false },
      dedup: {
        archives: [
          { name: "mine", kind: "folder", path: theirs },
          { name: "office", kind: "paperless", url: `http://127.0.0.1:${port}`, token: "t" },
        ],
        ai: { openai: { base_url: `http://127.0.0.1:${port}/v1` } },
      },
    });
    const daemon = await startDaemon({
      config,
      args: ["-demo"],
      env: {
        AI_OPENAI_API_KEY: "sk-of-another-program",
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      },
    });
    try {
      await expect
        .poll(
          async () => (await rest(daemon, "GET", "/api/v1/ai/stats")).json.data.totalProcessed,
          {
            timeout: 60_000,
          },
        )
        .toBe(40);
      // What is configured on purpose holds: the folder's document is the 261st.
      expect((await rest(daemon, "GET", "/api/v1/documents")).json.meta.total).toBe(261);
      expect(daemon.stderr.join("\n")).toContain(
        "only the configured folders and files of yours are read",
      );
    } finally {
      // What is left to export goes out now.
      await daemon.stop();
    }
    expect(connections).toBe(0);
  });
});

describe("a taken port", () => {
  it("of the gateway names the command that starts the demo beside it, and that command does", async () => {
    const { port } = await squat();
    const state = temporaryFolder();
    const failed = await startDaemon({
      args: ["-demo"],
      env: { STEWARD_STATE__DIRECTORY: state, STEWARD_GATEWAY__LISTEN: `127.0.0.1:${port}` },
    }).then(
      () => "it started",
      (error: Error) => error.message,
    );
    const command = /start the demo on another port: (.*)$/m.exec(failed)?.[1] ?? "";
    const { env, words } = parsed(command);
    expect(env).toEqual({
      STEWARD_STATE__DIRECTORY: state,
      STEWARD_GATEWAY__LISTEN: `127.0.0.1:${port + 1}`,
    });
    expect([words[0], words.slice(1)]).toEqual([
      expect.stringMatching(/(^|\/)steward$/),
      ["-demo"],
    ]);
    const daemon = await startDaemon({
      args: words.slice(1),
      env: { ...env, STEWARD_GATEWAY__LISTEN: "127.0.0.1:0" },
    });
    expect((await rest(daemon, "GET", "/api/v1/health")).json.data).toMatchObject({ demo: true });
    await daemon.stop();
  });

  it("of the pull endpoint does not stop the demo", async () => {
    const { port } = await squat();
    const daemon = await startDemo({ STEWARD_SCRAPE__LISTEN: `127.0.0.1:${port}` });
    expect((await rest(daemon, "GET", "/v1/sys/health")).status).toBe(200);
    await vi.waitFor(
      async () =>
        expect((await statusOf(daemon)).health_reasons).toContainEqual(
          expect.stringMatching(new RegExp(`^component metrics: .*127\\.0\\.0\\.1:${port}`)),
        ),
      SOON,
    );
    expect(daemon.stderr.join("\n")).not.toContain(`curl -s http://127.0.0.1:${port}`);
    await vi.waitFor(
      async () => expect((await rest(daemon, "GET", "/readyz")).status).toBe(200),
      SOON,
    );
    await daemon.stop();
  });
});

describe("what would lose the demo", () => {
  it("is not advised to a second demo on the same state: its command starts one beside the first", async () => {
    const state = temporaryFolder();
    const first = await startDemo({ STEWARD_STATE__DIRECTORY: state });
    const failed = await startDemo({ STEWARD_STATE__DIRECTORY: state }).then(
      () => "it started",
      (error: Error) => error.message,
    );
    await first.stop();
    const { env, words } = parsed(/start another demo beside it: (.*)$/m.exec(failed)?.[1] ?? "");
    expect(env).toEqual({
      STEWARD_STATE__DIRECTORY: `${state}-2`,
      STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
    });
    expect(words.slice(1)).toEqual(["-demo"]);
  });

  it("keeps no demo variable without a warning where there is no demo", async () => {
    const state = temporaryFolder();
    const folder = temporaryFolder();
    writeFiles(folder, smallArchive);
    const config = folderConfig(state, folder);
    const daemon = await startDaemon({ config, env: { STEWARD_DEMO_ROOT_TOKEN: "demo" } });
    expect(daemon.stderr.join("\n")).toMatch(
      /WARNING STEWARD_DEMO_ROOT_TOKEN: is ignored: this is no demo, because \S+ is configured — start with -demo, or unset it\./,
    );
    expect((await statusOf(daemon)).advisories).toContainEqual(
      expect.objectContaining({
        message: expect.stringContaining("STEWARD_DEMO_ROOT_TOKEN") as string,
      }),
    );
    await daemon.stop();
    const validated = await runSteward(["-validate"], {
      env: { STEWARD_DEMO_ROOT_TOKEN: "demo", STEWARD_DEMO: "false" },
    });
    expect(validated).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        "STEWARD_DEMO_ROOT_TOKEN: is ignored: this is no demo, because STEWARD_DEMO is false",
      ) as string,
    });
  });
});
