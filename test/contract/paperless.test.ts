/** The running daemon beside a simulated Paperless-ngx, with the limits as shipped. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startPaperless } from "../../src/demo/paperless/paperless.ts";
import type { Paperless } from "../../src/demo/paperless/paperless.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { silent } from "../demo/control-plane/support.ts";
import { createHeldClock, HELD } from "./ai-estate.ts";
import {
  type Daemon,
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";

afterAll(removeTemporaryFolders);

const DOCUMENTS = 60;

/** Forty invented words, the same for the same number. */
function textOf(number: number): string {
  let state = number;
  const word = (): string => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return `word${(state >>> 8) % 5_000}`;
  };
  return Array.from({ length: 40 }, word).join(" ");
}

async function startArchive(clock = systemClock): Promise<Paperless> {
  return await startPaperless({
    clock,
    ids: systemIds,
    log: silent,
    fill(estate) {
      for (const name of ["inbox", "tax"]) estate.addReference("tags", { name });
      estate.addReference("correspondents", { name: "Northwind" });
      for (let number = 1; number <= DOCUMENTS; number++)
        estate.add({
          title: `Paper ${number}`,
          // The last ten are copies of the first ten.
          content: textOf(number > DOCUMENTS - 10 ? number - (DOCUMENTS - 10) : number),
          tags: [1],
          correspondent: 1,
        });
    },
  });
}

function tokenOf(sim: Paperless): string {
  return sim.estate.users[0]?.token.use((value) => value) ?? "";
}

/** The token is in a file of its own. */
function configOf(sim: Paperless, state: string, more = ""): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "token"), tokenOf(sim), { mode: 0o600 });
  return `gateway: {listen: "127.0.0.1:0"}
state: {directory: ${state}}
services: {monitor: false, tokens: false}
dedup:
  archives:
    - {name: papers, kind: paperless, url: "${sim.url}", token_file: ${join(folder, "token")}}
${more}`;
}

async function listOf(daemon: Daemon, query = ""): Promise<any[]> {
  return (await rest(daemon, "GET", `/api/v1/documents?limit=100${query}`)).json.data;
}

async function jobsOf(daemon: Daemon, type: string): Promise<any[]> {
  return (await rest(daemon, "GET", `/api/v1/jobs?type=${type}`)).json.data;
}

/** Waits for the analysis that a sync started. */
async function analysed(daemon: Daemon): Promise<void> {
  for (const job of await jobsOf(daemon, "analysis"))
    await (await fetch(`${daemon.url}/api/v1/jobs/${job.id}/progress`)).text();
}

describe("a Paperless-ngx as archive", () => {
  let sim: Paperless;
  let daemon: Daemon;

  beforeAll(async () => {
    sim = await startArchive();
    daemon = await startDaemon({ config: configOf(sim, temporaryFolder()) });
  });
  afterAll(async () => {
    await daemon.stop();
    await sim.stop();
  });

  it("is synced whole, analysed, and grouped", async () => {
    const job = await runJob(daemon, "/api/v1/sync");
    expect(job).toMatchObject({ status: "completed", result: { totalFetched: DOCUMENTS } });
    expect(job.result).toMatchObject({ inserted: DOCUMENTS, failed: 0, syncType: "full" });
    const documents = await listOf(daemon);
    expect(documents.length).toBe(DOCUMENTS);
    expect(documents.find(({ paperlessId }) => paperlessId === 7)).toMatchObject({
      title: "Paper 7",
      correspondent: "Northwind",
      tags: ["inbox"],
    });
    await analysed(daemon);
    const groups = (await rest(daemon, "GET", "/api/v1/duplicates?limit=100")).json;
    expect(groups.meta.total).toBe(10);
  });

  it("costs one request for the list when nothing changed", async () => {
    const before = sim.requests()["documents"] ?? 0;
    const job = await runJob(daemon, "/api/v1/sync");
    expect(job.result).toMatchObject({ syncType: "incremental", skipped: DOCUMENTS, updated: 0 });
    expect((sim.requests()["documents"] ?? 0) - before).toBe(1);
  });

  it("takes over renamed labels and starts no analysis for them", async () => {
    await analysed(daemon);
    const analyses = (await jobsOf(daemon, "analysis")).length;
    sim.estate.renameReference("tags", 1, "in-tray");
    sim.estate.renameReference("correspondents", 1, "Northwind Water");
    const job = await runJob(daemon, "/api/v1/sync");
    expect(job.result).toMatchObject({ updated: DOCUMENTS, inserted: 0, reconciled: 0 });
    const documents = await listOf(daemon);
    expect(new Set(documents.flatMap(({ tags }) => tags))).toEqual(new Set(["in-tray"]));
    expect(new Set(documents.map(({ correspondent }) => correspondent))).toEqual(
      new Set(["Northwind Water"]),
    );
    expect(documents.filter(({ processingStatus }) => processingStatus === "pending")).toEqual([]);
    expect((await jobsOf(daemon, "analysis")).length).toBe(analyses);
  });

  it("takes over new, changed and deleted documents", async () => {
    sim.estate.add({ title: "New paper", content: textOf(5) });
    sim.estate.edit(20, { title: "Renamed paper" });
    sim.estate.edit(21, { content: textOf(900) });
    sim.estate.trash(30);
    const job = await runJob(daemon, "/api/v1/sync");
    expect(job.result).toMatchObject({ inserted: 1, updated: 2, reconciled: 1 });
    const titles = (await listOf(daemon)).map(({ title }) => title);
    expect(titles).toContain("Renamed paper");
    expect(titles).toContain("New paper");
    expect(titles).not.toContain("Paper 30");
    await analysed(daemon);
    expect((await rest(daemon, "GET", "/api/v1/duplicates?limit=100")).json.meta.total).toBe(10);
  });

  it("takes over a text that differs in its case and white space alone, and compares it no more", async () => {
    const document = (await listOf(daemon)).find(({ paperlessId }) => paperlessId === 22);
    const content = textOf(22).toUpperCase().replaceAll(" ", "  ");
    sim.estate.edit(22, { content });
    const analyses = (await jobsOf(daemon, "analysis")).length;
    expect((await runJob(daemon, "/api/v1/sync")).result).toMatchObject({ updated: 1 });
    const stored = await rest(daemon, "GET", `/api/v1/documents/${document.id}/content`);
    expect(stored.json.data.fullText).toBe(content);
    expect((await jobsOf(daemon, "analysis")).length).toBe(analyses);
  });

  it("never misses what changes while a sync runs", async () => {
    sim.faults.next("documents", {
      kind: "change",
      change: (body) => {
        sim.estate.edit(40, { content: textOf(901) });
        return body;
      },
    });
    await runJob(daemon, "/api/v1/sync");
    const job = await runJob(daemon, "/api/v1/sync");
    expect(job.result).toMatchObject({ updated: 1 });
    await analysed(daemon);
  });

  it("fails with a sentence and a remedy, keeps everything, and recovers", async () => {
    sim.faults.next("documents", { kind: "status", status: 401 });
    const failed = await runJob(daemon, "/api/v1/sync");
    expect(failed).toMatchObject({
      status: "failed",
      errorMessage: expect.stringContaining(
        "archive papers: the credential was rejected",
      ) as string,
    });
    expect((await listOf(daemon)).length).toBe(DOCUMENTS);
    sim.faults.next("documents", { kind: "limited", retryAfterS: 1 });
    expect((await runJob(daemon, "/api/v1/sync")).status).toBe("completed");
  });

  it("is ready although a proxy refuses HEAD, and is synced although one request fails", async () => {
    sim.faults.next("unknown", { kind: "status", status: 501 }, Number.POSITIVE_INFINITY);
    sim.faults.next("tags", { kind: "status", status: 503 });
    const probes = sim.requests()["unknown"] ?? 0;
    expect(await runJob(daemon, "/api/v1/sync")).toMatchObject({ status: "completed" });
    await expect
      .poll(
        async () => {
          expect((await rest(daemon, "GET", "/api/v1/ready")).status).toBe(200);
          return sim.requests()["unknown"] ?? 0;
        },
        { timeout: 60_000, interval: 500 },
      )
      .toBeGreaterThan(probes);
    // The answer that the last probe brings is remembered, and asked for here.
    expect((await rest(daemon, "GET", "/api/v1/ready")).status).toBe(200);
    sim.faults.clear("unknown");
  });

  it("keeps its documents when most of them vanish at once, until a sync with force", async () => {
    for (let id = 1; id <= 45; id++) if (id !== 30) sim.estate.trash(id);
    const job = await runJob(daemon, "/api/v1/sync");
    expect(job).toMatchObject({
      status: "failed",
      errorMessage: expect.stringContaining("no longer lists 44 of 60 known documents") as string,
    });
    expect((await listOf(daemon)).length).toBe(DOCUMENTS);
    const forced = await runJob(daemon, "/api/v1/sync", { force: true });
    expect(forced).toMatchObject({ status: "completed", result: { reconciled: 44 } });
    expect((await listOf(daemon)).length).toBe(DOCUMENTS - 44);
    await analysed(daemon);
  });

  it("shows its token nowhere", async () => {
    const shown = await Promise.all(
      ["/api/v1/jobs?limit=100", "/api/v1/ready", "/status.json", "/"].map(
        async (path) => (await rest(daemon, "GET", path)).text,
      ),
    );
    expect([...shown, ...daemon.stderr, ...daemon.stdout].join("\n")).not.toContain(tokenOf(sim));
  });

  it("is not ready while nothing answers", async () => {
    await sim.stop();
    await expect
      .poll(async () => (await rest(daemon, "GET", "/api/v1/ready")).status, {
        timeout: 60_000,
        interval: 500,
      })
      .toBe(503);
    const { json } = await rest(daemon, "GET", "/api/v1/ready");
    expect(json.error.details).toEqual([
      {
        database: { status: "ok" },
        paperless: { status: "error", error: "connection failed" },
      },
    ]);
  });
});

describe("several archives", () => {
  it("are read side by side, and one that fails keeps no other from being synced", async () => {
    const [sim, other] = [await startArchive(), await startArchive()];
    const state = temporaryFolder();
    const folder = temporaryFolder();
    writeFileSync(join(folder, "note.txt"), textOf(3));
    const more = `    - {name: notes, kind: folder, path: ${folder}}
    - {name: others, kind: paperless, url: "${other.url}", token: ${tokenOf(other)}, page_size: 7}
`;
    const daemon = await startDaemon({ config: configOf(sim, state, more) });
    try {
      sim.faults.next("tags", { kind: "status", status: 403 });
      expect(await runJob(daemon, "/api/v1/sync")).toMatchObject({
        status: "failed",
        errorMessage: expect.stringMatching(
          /archive papers: .*2 of 3 archives were synced/,
        ) as string,
      });
      expect((await rest(daemon, "GET", "/api/v1/documents?limit=1")).json.meta.total).toBe(61);
      expect((await runJob(daemon, "/api/v1/sync")).result).toMatchObject({ inserted: 60 });
      await analysed(daemon);
    } finally {
      await daemon.stop();
      await Promise.all([sim.stop(), other.stop()]);
    }
  });

  it("come from the variables of the former configuration", async () => {
    const sim = await startArchive();
    const daemon = await startDaemon({
      env: {
        STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
        STEWARD_STATE__DIRECTORY: temporaryFolder(),
        STEWARD_SERVICES__MONITOR: "false",
        PAPERLESS_URL: sim.url,
        PAPERLESS_API_TOKEN: tokenOf(sim),
      },
    });
    try {
      expect((await runJob(daemon, "/api/v1/sync")).result).toMatchObject({ inserted: DOCUMENTS });
      await analysed(daemon);
    } finally {
      await daemon.stop();
      await sim.stop();
    }
  });
});

describe("the demo", () => {
  it("shows the documents of a simulated Paperless-ngx, also after a restart", async () => {
    const state = temporaryFolder();
    for (let start = 1; start <= 2; start++) {
      const daemon = await startDaemon({
        args: ["-demo"],
        env: {
          STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
          STEWARD_STATE__DIRECTORY: state,
          STEWARD_SERVICES__MONITOR: "false",
          STEWARD_SERVICES__TOKENS: "false",
        },
      });
      try {
        await expect
          .poll(async () => (await jobsOf(daemon, "sync")).length, { timeout: 60_000 })
          .toBe(start);
        const [job] = await jobsOf(daemon, "sync");
        await (await fetch(`${daemon.url}/api/v1/jobs/${job.id}/progress`)).text();
        const { result } = (await rest(daemon, "GET", `/api/v1/jobs/${job.id}`)).json.data;
        expect(result).toMatchObject({ totalFetched: 260, inserted: start === 1 ? 260 : 0 });
        const [document] = await listOf(daemon);
        expect(document).toMatchObject({
          archive: "paperless",
          paperlessId: expect.any(Number) as number,
          tags: expect.arrayContaining([expect.stringMatching(/^\d{4}$/)]) as string[],
        });
        await analysed(daemon);
        const { meta } = (await rest(daemon, "GET", "/api/v1/duplicates?limit=1")).json;
        expect(meta.total).toBeGreaterThan(10);
      } finally {
        await daemon.stop();
      }
    }
  });
});

describe("a sync that is killed", () => {
  it("goes on after the start, and reads no text twice that was stored", async () => {
    const sim = await startArchive();
    const state = temporaryFolder();
    const config = configOf(sim, state).replace("token_file", "page_size: 2, token_file");
    const texts = (): string[] =>
      sim
        .seen()
        .filter(({ query }) => query.includes("content"))
        .flatMap(({ query }) => new URLSearchParams(query).get("id__in")?.split(",") ?? []);
    try {
      sim.latencyMs = 40;
      const first = await startDaemon({ config });
      const { json } = await rest(first, "POST", "/api/v1/sync");
      let stored = 0;
      await expect
        .poll(
          async () => {
            const { meta } = (await rest(first, "GET", "/api/v1/documents?limit=1")).json;
            return (stored = meta.total);
          },
          { timeout: 60_000, interval: 10 },
        )
        .toBeGreaterThan(0);
      await first.stop("SIGKILL");
      sim.latencyMs = 0;
      const asked = texts().length;
      const second = await startDaemon({ config });
      await (await fetch(`${second.url}/api/v1/jobs/${json.data.jobId}/progress`)).text();
      const job = (await rest(second, "GET", `/api/v1/jobs/${json.data.jobId}`)).json.data;
      expect(job).toMatchObject({
        status: "completed",
        result: { inserted: DOCUMENTS, failed: 0 },
      });
      expect((await listOf(second)).length).toBe(DOCUMENTS);
      expect(texts().length - asked).toBeLessThanOrEqual(DOCUMENTS - stored);
      await analysed(second);
      await second.stop();
    } finally {
      await sim.stop();
    }
  });
});

it("a Paperless-ngx that is slow to answer is synced though a client that asked it first goes away", async () => {
  const clock = createHeldClock();
  const sim = await startArchive(clock);
  onTestFinished(() => sim.stop());
  const daemon = await startDaemon({ config: configOf(sim, temporaryFolder()) });
  onTestFinished(async () => void (await daemon.stop()));
  sim.faults.next("statistics", HELD);
  const before = sim.requests()["statistics"] ?? 0;
  const client = new AbortController();
  const asked = fetch(`${daemon.url}/api/v1/paperless/trash`, { signal: client.signal });
  await expect.poll(() => sim.requests()["statistics"], { timeout: 60_000 }).toBe(before + 1);
  const { jobId } = (await rest(daemon, "POST", "/api/v1/sync")).json.data;
  await expect
    .poll(async () => (await rest(daemon, "GET", `/api/v1/jobs/${jobId}`)).json.data.status, {
      timeout: 60_000,
    })
    .toBe("running");
  client.abort();
  await expect(asked).rejects.toThrow("aborted");
  // Once the daemon answers another one, it has heard that this one is gone.
  await rest(daemon, "GET", "/api/v1/health");
  clock.release();
  const job = await jobEnd(daemon, jobId);
  expect([job.status, job.errorMessage]).toEqual(["completed", null]);
  expect(job.result.inserted).toBe(DOCUMENTS);
});
