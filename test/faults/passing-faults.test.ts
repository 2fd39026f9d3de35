/**
 * A disk that fails for a while under each store of a running daemon, and under its audit: what
 * cannot be stored is refused and shown, jobs end with their reason, and within half a minute of the
 * fault's end everything works again without a restart.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../src/gen/grpc/health/v1/health_pb.ts";
import {
  type Daemon,
  removeTemporaryFolders,
  rest,
  type Rest,
  scrape,
  startDaemon,
  temporaryFolder,
} from "../contract/daemon.ts";
import { grpcUnary } from "../contract/rpc.ts";
import { vaultRequest, type VaultAnswer } from "../contract/vault.ts";
import {
  createInjector,
  ERRORS,
  type ErrorName,
  type Injector,
  noInjector,
  type Operation,
} from "./inject/injector.ts";
import { isLongRun } from "../support/long-run.ts";

if (noInjector !== undefined)
  process.stderr.write(`the tests of passing faults of a daemon are skipped: ${noInjector}\n`);

/** Until when everything works again after the fault has ended. */
const BACK_MS = 30_000;
/** Until when a fault is noticed once something is written. */
const SEEN_MS = 30_000;
const ROOT = "hvs.canary-root";
const DOCUMENTS = 60;

interface Case {
  readonly error: ErrorName;
  readonly operations: readonly Operation[];
}

const ALL: readonly Operation[] = ["data", "dsync", "flush", "size", "open"];
const WAYS: readonly (readonly Operation[])[] = [
  ["data"],
  ["flush"],
  ["dsync"],
  ALL,
  ["dsynclate"],
];
/** Each error with one way to fail; in the long run every error with every way. */
function casesOf(ways: readonly (readonly Operation[])[], first: number): Case[] {
  if (isLongRun)
    return ERRORS.flatMap((error) => ways.map((operations) => ({ error, operations })));
  return ERRORS.map((error, at) => ({
    error,
    operations: ways[(first + at) % ways.length] ?? ALL,
  }));
}

describe.skipIf(noInjector !== undefined)("a disk that fails for a while", () => {
  let injector: Injector;
  let daemon: Daemon;
  let state: string;
  let archive: string;
  let audit: string;
  let round = 0;

  beforeAll(async () => {
    injector = createInjector();
    const folder = temporaryFolder();
    state = join(folder, "state", "demo");
    archive = join(folder, "archive");
    mkdirSync(archive);
    audit = join(folder, "audit.log");
    daemon = await startDaemon({
      args: ["-demo"],
      env: { ...injector.env, STEWARD_DEMO_ROOT_TOKEN: ROOT },
      config: [
        'gateway: { listen: "127.0.0.1:0" }',
        `state: { directory: ${join(folder, "state")} }`,
        `dedup: { archives: [{ name: rounds, kind: folder, path: ${archive} }] }`,
        `tokens: { audit: [{ file_path: ${audit} }] }`,
        'scrape: { enabled: true, listen: "127.0.0.1:0" }',
        "collectors: { flowlogs: { interval: 5s }, auditlogs: { interval: 5s } }",
      ].join("\n"),
    });
    // A demo syncs by itself once it listens.
    await vi.waitFor(
      async () => expect((await ask("GET", "jobs?type=sync")).json.data).not.toEqual([]),
      {
        timeout: 60_000,
        interval: 20,
      },
    );
  });
  beforeEach(() => settled());
  afterAll(async () => {
    injector.stop();
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    // LMDB's own lines go through the log; the rest is what the demo shows at its start.
    expect(
      daemon.stderr.filter(
        (line) =>
          !/^\d{4}-\d\d-\d\dT\S+ (?:debug|info|warn|error) |^the demo's root token|^mint one: |^$/.test(
            line,
          ),
      ),
    ).toEqual([]);
    removeTemporaryFolders();
  });

  const ask = (method: string, path: string, body?: unknown): Promise<Rest> =>
    rest(daemon, method, `/api/v1/${path}`, body);
  const mint = (): Promise<VaultAnswer> =>
    vaultRequest(daemon.url, "POST", "github/token", {
      token: ROOT,
      body: { org_name: "example-org" },
    });
  const serving = async (service: string): Promise<boolean> =>
    (await grpcUnary(daemon.host, Health.method.check, { service })).status === Status.SERVING;
  /** Scrapes beforehand: figures of a store that cannot be read are left out. */
  const ready = async (): Promise<readonly [number, string]> => {
    expect(await scrape(daemon)).toContain("svc_state_size_bytes{");
    const { status, text } = await rest(daemon, "GET", "/readyz?verbose=1");
    return [status, text];
  };

  /** Waits until no job is active and everything is ready. */
  async function settled(): Promise<void> {
    await vi.waitFor(
      async () => {
        expect((await ready())[0]).toBe(200);
        const jobs = (await ask("GET", "jobs?limit=20")).json.data as readonly {
          readonly jobStatus?: string;
          readonly status: string;
        }[];
        expect(jobs.filter(({ status }) => status === "pending" || status === "running")).toEqual(
          [],
        );
      },
      { timeout: 60_000, interval: 100 },
    );
  }

  /** New documents, so that a sync has something to store. */
  function addDocuments(): void {
    round += 1;
    for (let index = 0; index < DOCUMENTS; index += 1) {
      const words = Array.from(
        { length: 80 },
        (_, at) => `word${(round * 7_919 + index * 104_729 + at * 1_299_709) % 100_003}`,
      );
      writeFileSync(join(archive, `round-${index}.txt`), `round ${round} ${words.join(" ")}\n`);
    }
  }

  async function jobOf(
    id: string,
  ): Promise<{ readonly status: string; readonly errorMessage: string | null }> {
    return (await ask("GET", `jobs/${id}`)).json.data as {
      readonly status: string;
      readonly errorMessage: string | null;
    };
  }

  /**
   * The fault begins, something is written, the fault is seen and shown; then it ends and all is
   * well within its time.
   */
  async function faulted(
    { path, error, operations }: Case & { readonly path: string },
    during: { readonly write: () => Promise<void>; readonly shown: () => Promise<void> },
  ): Promise<void> {
    const before = injector.hits();
    injector.fail(path, error, operations);
    try {
      await during.write();
      await vi.waitFor(() => expect(injector.hits()).toBeGreaterThan(before), { timeout: SEEN_MS });
      await vi.waitFor(during.shown, { timeout: SEEN_MS, interval: 100 });
    } finally {
      injector.stop();
    }
    await vi.waitFor(
      async () => expect(await ready()).toEqual([200, expect.stringMatching(/^ok\n/) as string]),
      { timeout: BACK_MS, interval: 100 },
    );
  }

  async function dedupRefuses(store: string): Promise<void> {
    const [status, text] = await ready();
    expect([status, text]).toEqual([
      503,
      expect.stringMatching(
        new RegExp(
          `^component failure: dedup: ${store}: .*(accepts no writes|no space to write|is full)`,
        ),
      ) as string,
    ]);
    expect((await rest(daemon, "GET", "/healthz")).status).toBe(200);
    expect([
      (await ask("GET", "ready")).status,
      await serving("steward.dedup.v1.SyncService"),
      await serving(""),
    ]).toEqual([503, false, false]);
    // The other services are none the worse.
    expect([(await mint()).status, await serving("steward.tokens.v1.EngineService")]).toEqual([
      200,
      true,
    ]);
  }

  async function dedupWorks(): Promise<void> {
    expect([
      (await ask("GET", "ready")).status,
      await serving("steward.dedup.v1.SyncService"),
      await serving(""),
    ]).toEqual([200, true, true]);
    await settled();
    const again = await ask("POST", "sync");
    expect([again.status, again.text]).toEqual([202, expect.anything()]);
    await vi.waitFor(
      async () =>
        expect(await jobOf(again.json.data.jobId as string)).toMatchObject({ status: "completed" }),
      { timeout: 60_000, interval: 100 },
    );
    await settled();
  }

  const onStore = casesOf(WAYS, 0).map(({ error, operations }) => [error, operations] as const);

  it.each(onStore)(
    "under the store of documents (%s at %s): the job ends, its kind may start again",
    async (error, operations) => {
      addDocuments();
      const started = await ask("POST", "sync");
      expect(started.status).toBe(202);
      const id = started.json.data.jobId as string;
      await faulted(
        { path: join(state, "dedup.mdb"), error, operations },
        {
          write: async () => void (await ask("POST", "analysis", { force: true })),
          async shown() {
            await dedupRefuses("dedup");
            expect([503, 507]).toContain((await ask("POST", "analysis")).status);
          },
        },
      );
      await vi.waitFor(
        async () => expect(["failed", "completed"]).toContain((await jobOf(id)).status),
        { timeout: BACK_MS, interval: 100 },
      );
      await dedupWorks();
    },
  );

  it.each(onStore)(
    "under the store of texts (%s at %s): the sync fails and says why",
    async (error, operations) => {
      let id = "";
      addDocuments();
      await faulted(
        { path: join(state, "dedup-text.mdb"), error, operations },
        {
          async write() {
            id = (await ask("POST", "sync")).json.data.jobId as string;
          },
          async shown() {
            await dedupRefuses("dedup-text");
            expect(await jobOf(id)).toMatchObject({
              status: "failed",
              errorMessage: expect.stringMatching(/dedup-text\.mdb|is full/) as string,
            });
          },
        },
      );
      await dedupWorks();
    },
  );

  it.each(onStore)(
    "under the store of signatures (%s at %s): the analysis fails and says why",
    async (error, operations) => {
      let id = "";
      addDocuments();
      await faulted(
        { path: join(state, "dedup-sketch.mdb"), error, operations },
        {
          async write() {
            const sync = (await ask("POST", "sync")).json.data.jobId as string;
            await vi.waitFor(async () => expect((await jobOf(sync)).status).toBe("completed"), {
              timeout: 60_000,
              interval: 50,
            });
            const analysis = await ask("POST", "analysis");
            const { currentJobId } = (await ask("GET", "analysis/status")).json.data as {
              readonly currentJobId?: string;
            };
            id =
              (analysis.status === 202 ? (analysis.json.data.jobId as string) : currentJobId) ?? "";
          },
          async shown() {
            await dedupRefuses("dedup-sketch");
            if (id !== "") expect((await jobOf(id)).status).toBe("failed");
          },
        },
      );
      await dedupWorks();
    },
  );

  it.each(onStore)(
    "under the store of tokens (%s at %s): no token is minted, and readiness says so",
    async (error, operations) => {
      expect((await mint()).status).toBe(200);
      await faulted(
        { path: join(state, "tokens.mdb"), error, operations },
        {
          write: async () => void (await mint()),
          async shown() {
            const refused = await mint();
            expect([[503, 507], refused.text]).toEqual([
              expect.arrayContaining([refused.status]),
              expect.not.stringContaining("ghs_"),
            ]);
            expect(await ready()).toEqual([
              503,
              expect.stringMatching(
                /^component failure: tokens: .*(accepts no writes|no space to write|is full)/,
              ) as string,
            ]);
            // As Vault's: initialised and unsealed.
            expect([
              (await vaultRequest(daemon.url, "GET", "sys/health")).status,
              await serving("steward.tokens.v1.EngineService"),
              await serving(""),
            ]).toEqual([200, false, false]);
            expect([
              (await ask("GET", "ready")).status,
              await serving("steward.dedup.v1.SyncService"),
            ]).toEqual([200, true]);
          },
        },
      );
      expect([(await mint()).status, await serving("steward.tokens.v1.EngineService")]).toEqual([
        200,
        true,
      ]);
    },
  );

  it.each(
    casesOf([["dsync"], ["dsynclate"], ["dsync", "open"]], 0).map(
      ({ error, operations }) => [error, operations] as const,
    ),
  )(
    "under the audit (%s at %s): nothing is done, and readiness says so until a record of its own is taken",
    async (error, operations) => {
      await faulted(
        { path: audit, error, operations },
        {
          write: async () => void (await mint()),
          async shown() {
            const refused = await mint();
            expect([[503, 507], refused.text]).toEqual([
              expect.arrayContaining([refused.status]),
              expect.stringMatching(
                /audit device file\/ .* accepts no records: its (disk|file system)/,
              ) as string,
            ]);
            expect(refused.text).not.toContain("ghs_");
            expect(await ready()).toEqual([
              503,
              expect.stringMatching(/^component failure: tokens: the audit device/) as string,
            ]);
            expect([
              (await vaultRequest(daemon.url, "GET", "sys/health")).status,
              await serving("steward.tokens.v1.EngineService"),
            ]).toEqual([200, false]);
          },
        },
      );
      expect((await mint()).status).toBe(200);
    },
  );

  it.each(onStore)(
    "under the store of checkpoints (%s at %s): the monitor is degraded, and nothing else",
    async (error, operations) => {
      await faulted(
        { path: join(state, "checkpoints.mdb"), error, operations },
        {
          write: () => Promise.resolve(),
          async shown() {
            expect(await ready()).toEqual([
              200,
              expect.stringMatching(
                /^ok\n[\s\S]*\nmonitor: degraded, .*checkpoints: .*(accepts no writes|no space to write)/,
              ) as string,
            ]);
          },
        },
      );
      await vi.waitFor(async () => expect((await ready())[1]).toMatch(/\nmonitor: ready/), {
        timeout: BACK_MS,
        interval: 100,
      });
    },
  );
});
