/**
 * Rows of the table in docs/readiness.md that need a service's own state: what closes which probe.
 * The others are named there with their tests.
 */
import { readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../src/gen/grpc/health/v1/health_pb.ts";
import { smallArchive, writeFiles } from "./corpus.ts";
import {
  type Daemon,
  removeTemporaryFolders,
  rest,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";
import { grpcUnary } from "./rpc.ts";
import { vaultRequest } from "./vault.ts";
import { createInjector, noInjector } from "../faults/inject/injector.ts";

afterAll(removeTemporaryFolders);

/**
 * `/healthz`, `/readyz`, `/api/v1/ready`, `/v1/sys/health`; then gRPC health of the process, of
 * documents and of tokens.
 */
async function probes(daemon: Daemon): Promise<readonly (number | boolean)[]> {
  const serving = async (service: string): Promise<boolean> =>
    (await grpcUnary(daemon.host, Health.method.check, { service })).status === Status.SERVING;
  return [
    (await rest(daemon, "GET", "/healthz")).status,
    (await rest(daemon, "GET", "/readyz")).status,
    (await rest(daemon, "GET", "/api/v1/ready")).status,
    (await vaultRequest(daemon.url, "GET", "sys/health")).status,
    await serving(""),
    await serving("steward.dedup.v1.SyncService"),
    await serving("steward.tokens.v1.EngineService"),
  ];
}

async function component(daemon: Daemon, name: string): Promise<string | undefined> {
  return (await rest(daemon, "GET", "/readyz?verbose=1")).text
    .split("\n")
    .find((line) => line.startsWith(`${name}: `));
}

async function page(daemon: Daemon): Promise<string> {
  return (await rest(daemon, "GET", "/")).text;
}

/** The headline of the status page. */
async function pageVerdict(daemon: Daemon): Promise<string | undefined> {
  return /class="verdict">.*?<strong>(.*?)<\/strong>/.exec(await page(daemon))?.[1];
}

const WELL = [200, 200, 200, 200, true, true, true];

async function start(
  more = "",
  env: Readonly<Record<string, string>> = {},
): Promise<{
  readonly daemon: Daemon;
  readonly papers: string;
  readonly state: string;
  readonly root: string;
}> {
  const papers = join(temporaryFolder(), "papers");
  const state = temporaryFolder();
  writeFiles(papers, smallArchive);
  const daemon = await startDaemon({
    config: `gateway: { listen: "127.0.0.1:0" }\nstate: { directory: ${state} }\ndedup: { archives: [{ name: papers, kind: folder, path: ${papers} }] }\n${more}`,
    env,
  });
  onTestFinished(async () => void (await daemon.stop()));
  const root =
    daemon.stderr
      .map((line) => /root token[^:]*: (\S+)/.exec(line)?.[1])
      .find((found) => found !== undefined) ?? "";
  return { daemon, papers, state, root };
}

describe("the probes", () => {
  it("of a daemon that is well", async () => {
    const { daemon } = await start();
    expect(await probes(daemon)).toEqual(WELL);
    expect([await component(daemon, "dedup"), await component(daemon, "tokens")]).toEqual([
      "dedup: ready",
      "tokens: ready",
    ]);
  });

  it("of an archive that is away: only the document service is not ready", async () => {
    const { daemon, papers } = await start();
    expect(await pageVerdict(daemon)).toBe("Healthy");
    renameSync(papers, `${papers}-away`);
    // A check is kept for ten seconds.
    await vi.waitFor(
      async () => expect(await probes(daemon)).toEqual([200, 200, 503, 200, true, true, true]),
      { timeout: 60_000, interval: 200 },
    );
    expect(await component(daemon, "dedup")).toBe(
      "dedup: degraded, an archive cannot be read: not found",
    );
    expect(await pageVerdict(daemon)).toBe("Degraded");
    const remedy = `archive "papers": mount ${papers} and let Steward's user read it, or correct dedup.archives[0].path`;
    expect(await page(daemon)).toContain(remedy.replaceAll('"', "&quot;").replaceAll("'", "&#39;"));
    await vi.waitFor(
      async () =>
        expect((await rest(daemon, "GET", "/api/status.json")).json).toMatchObject({
          health: "degraded",
          health_reasons: ["component dedup: an archive cannot be read: not found"],
          services: { dedup: "degraded" },
          health_problems: [
            {
              part: "dedup",
              reason: "component dedup: an archive cannot be read: not found",
              remedy,
              link: "/api/v1/ready",
            },
          ],
        }),
      { timeout: 60_000 },
    );
    // What anybody may read names neither the archive nor its path.
    expect((await rest(daemon, "GET", "/readyz?verbose=1")).text).not.toContain("papers");
    renameSync(`${papers}-away`, papers);
    await vi.waitFor(
      async () =>
        expect([await pageVerdict(daemon), await component(daemon, "dedup")]).toEqual([
          "Healthy",
          "dedup: ready",
        ]),
      { timeout: 60_000, interval: 200 },
    );
  });

  it("of a sealed store of tokens: only its own are closed, and its component is degraded", async () => {
    const { daemon, state, root } = await start();
    expect((await vaultRequest(daemon.url, "PUT", "sys/seal", { token: root })).status).toBe(204);
    expect(await probes(daemon)).toEqual([200, 200, 200, 503, true, true, false]);
    expect(await component(daemon, "tokens")).toMatch(/^tokens: degraded, sealed/);
    expect(await pageVerdict(daemon)).toBe("Degraded");
    expect(await page(daemon)).toMatch(
      /sealed by sys\/seal: give the key to sys\/unseal.*Live leases<\/dt><dd>–<.*Mounts<\/dt><dd>–<.*Irrevocable<\/dt><dd>–</,
    );
    expect(
      (
        await vaultRequest(daemon.url, "PUT", "sys/unseal", {
          body: { key: readFileSync(join(state, "tokens.key"), "utf8") },
        })
      ).status,
    ).toBe(200);
    expect(await probes(daemon)).toEqual(WELL);
    expect(await component(daemon, "tokens")).toBe("tokens: ready");
  });

  it.skipIf(noInjector !== undefined)(
    "of one audit device of two that takes no records: all are open, and the component is degraded until it does",
    async () => {
      const injector = createInjector();
      const folder = temporaryFolder();
      const { daemon, root } = await start(
        `tokens: { audit: [{ file_path: ${join(folder, "one.log")} }, { file_path: ${join(folder, "two.log")} }] }`,
        injector.env,
      );
      injector.fail(join(folder, "two.log"), "EIO", ["dsync"]);
      expect((await vaultRequest(daemon.url, "GET", "sys/mounts", { token: root })).status).toBe(
        200,
      );
      expect([await probes(daemon), await component(daemon, "tokens")]).toEqual([
        WELL,
        expect.stringMatching(
          /^tokens: degraded, the audit device file-2\/ .* accepts no records: its disk reports input\/output errors/,
        ),
      ]);
      injector.stop();
      await vi.waitFor(
        async () => expect(await component(daemon, "tokens")).toBe("tokens: ready"),
        { timeout: 60_000 },
      );
    },
  );
});
