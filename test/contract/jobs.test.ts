import { request } from "node:http";
import { join } from "node:path";
import { renameSync, rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { JobService } from "../../src/gen/steward/dedup/v1/jobs_pb.ts";
import { folderConfig, smallArchive, writeFiles } from "./corpus.ts";
import {
  type Daemon,
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";
import { grpcStream } from "./rpc.ts";

afterAll(removeTemporaryFolders);

/** Lines of invented words, enough to keep a job busy while it is looked at. */
function manyLines(count: number): string {
  let state = 1;
  const word = (): string => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return `w${(state >>> 8) % 5_000}`;
  };
  return Array.from({ length: count }, (_, id) =>
    JSON.stringify({ id, content: Array.from({ length: 120 }, word).join(" ") }),
  ).join("\n");
}

describe("a job under way", () => {
  let daemon: Daemon;
  let config: string;

  beforeAll(async () => {
    const folder = temporaryFolder();
    writeFiles(folder, { "many.jsonl": manyLines(20_000) });
    config = folderConfig(temporaryFolder(), join(folder, "many.jsonl")).replace(
      "kind: folder",
      "kind: jsonl",
    );
    daemon = await startDaemon({ config });
  });
  afterAll(async () => {
    await daemon.stop();
  });

  it("keeps a second one of its kind from starting, and names itself", async () => {
    const first = await rest(daemon, "POST", "/api/v1/sync");
    const second = await rest(daemon, "POST", "/api/v1/sync");
    expect([second.status, second.json.error.code]).toEqual([409, "JOB_ALREADY_RUNNING"]);
    expect(second.json.error.message).toContain(first.json.data.jobId);
    expect((await rest(daemon, "GET", "/api/v1/sync/status")).json.data).toMatchObject({
      isSyncing: true,
      currentJobId: first.json.data.jobId,
    });
  });

  it("tells how far it is, over both streams, and survives a watcher that vanishes", async () => {
    const { currentJobId: jobId } = (await rest(daemon, "GET", "/api/v1/sync/status")).json.data;
    const vanished = request(`${daemon.url}/api/v1/jobs/${jobId}/progress`).end();
    await new Promise((resolve) => vanished.once("response", resolve));
    vanished.on("error", () => {}).destroy();
    const [frames, messages] = await Promise.all([
      fetch(`${daemon.url}/api/v1/jobs/${jobId}/progress`).then((answer) => answer.text()),
      grpcStream(daemon.host, JobService.method.watchJob, { jobId }),
    ]);
    const events = frames.split("\n\n").filter((frame) => frame.startsWith("event:"));
    expect(events.at(0)).toMatch(/^event: progress\ndata: \{"progress":/);
    expect(events.at(-1)).toMatch(
      /^event: complete\ndata: .*"status":"completed".*"inserted":20000/,
    );
    const progress = messages.map((message) => message.progress);
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    expect(messages.at(-1)?.event).toBe("complete");
  });

  it("ends at once when it is cancelled, for good, and leaves the other work alone", async () => {
    const status = (await rest(daemon, "GET", "/api/v1/analysis/status")).json.data;
    const jobId = (status.currentJobId ??
      (await rest(daemon, "POST", "/api/v1/analysis", { force: true })).json.data.jobId) as string;
    const cancelled = await rest(daemon, "POST", `/api/v1/jobs/${jobId}/cancel`);
    expect(cancelled.json).toEqual({ data: { jobId, status: "cancelled" } });
    expect((await rest(daemon, "POST", `/api/v1/jobs/${jobId}/cancel`)).json.error.code).toBe(
      "CONFLICT",
    );
    expect((await rest(daemon, "GET", "/api/v1/analysis/status")).json.data).toMatchObject({
      isAnalyzing: false,
      currentJobId: null,
      lastAnalysisAt: null,
    });
    expect(await runJob(daemon, "/api/v1/analysis")).toMatchObject({
      status: "completed",
      result: { totalDocuments: 20_000 },
    });
    expect((await rest(daemon, "GET", `/api/v1/jobs/${jobId}`)).json.data).toMatchObject({
      status: "cancelled",
      result: null,
    });
  });

  it("goes on after a stop in the middle", async () => {
    const started = (await rest(daemon, "POST", "/api/v1/analysis", { force: true })).json.data
      .jobId as string;
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    daemon = await startDaemon({ config });
    expect(await jobEnd(daemon, started)).toMatchObject({
      status: "completed",
      result: { totalDocuments: 20_000 },
    });
  });
});

describe("an archive that is gone", () => {
  it("fails the sync, names the reason, closes readiness and loses nothing", async () => {
    const folder = join(temporaryFolder(), "papers");
    writeFiles(folder, smallArchive);
    const config = folderConfig(temporaryFolder(), folder);
    const daemon = await startDaemon({ config });
    await runJob(daemon, "/api/v1/sync");
    renameSync(folder, `${folder}-away`);
    expect(await runJob(daemon, "/api/v1/sync", { force: true })).toMatchObject({
      status: "failed",
      errorMessage: expect.stringContaining("papers") as string,
    });
    expect((await rest(daemon, "GET", "/api/v1/documents")).json.meta.total).toBe(7);
    await daemon.stop();
    const again = await startDaemon({ config });
    const ready = await rest(again, "GET", "/api/v1/ready");
    expect([ready.status, ready.json.error.code, ready.json.error.details]).toEqual([
      503,
      "NOT_READY",
      [{ database: { status: "ok" }, paperless: { status: "error", error: "not found" } }],
    ]);
    expect((await rest(again, "GET", "/readyz")).status).toBe(200);
    await again.stop();
    rmSync(`${folder}-away`, { recursive: true });
  });

  it("is told apart from one that was never configured", async () => {
    const daemon = await startDaemon({
      env: { STEWARD_GATEWAY__LISTEN: "127.0.0.1:0", STEWARD_STATE__DIRECTORY: temporaryFolder() },
    });
    const answer = await rest(daemon, "POST", "/api/v1/sync");
    expect([answer.status, answer.json.error.code, answer.json.error.message]).toEqual([
      409,
      "CONFLICT",
      expect.stringContaining("dedup.archives"),
    ]);
    expect((await rest(daemon, "GET", "/api/v1/ready")).status).toBe(200);
    await daemon.stop();
  });
});

describe("with a token", () => {
  const token = "canary-0123456789abcdef-canary";

  it("everything but the open paths wants it, and it is nowhere to be seen", async () => {
    const folder = temporaryFolder();
    writeFiles(folder, smallArchive);
    const daemon = await startDaemon({
      config: folderConfig(temporaryFolder(), folder),
      env: { STEWARD_AUTH__TOKEN: token },
    });
    for (const path of ["/healthz", "/readyz", "/api/v1/health", "/api/v1/ready"])
      expect([path, (await rest(daemon, "GET", path)).status]).toEqual([path, 200]);
    const right = { authorization: `Bearer ${token}` };
    const basic = { authorization: `Basic ${Buffer.from(`anyone:${token}`).toString("base64")}` };
    const answers: string[] = [];
    for (const path of [
      "/api/v1/documents",
      "/api/v1/duplicates",
      "/api/v1/jobs",
      "/api/v1/sync/status",
      "/api/v1/analysis/status",
    ]) {
      const statuses = [];
      for (const headers of [
        {},
        { authorization: "Bearer wrong" },
        { authorization: `Bearer ${token}x` },
        right,
        basic,
      ]) {
        const answer = await rest(daemon, "GET", path, undefined, headers);
        answers.push(answer.text, JSON.stringify([...answer.headers]));
        statuses.push(answer.status);
      }
      expect([path, ...statuses]).toEqual([path, 401, 401, 401, 200, 200]);
    }
    const unauthorised = await rest(daemon, "GET", "/api/v1/documents");
    expect(unauthorised.json.error.code).toBe("UNAUTHORIZED");
    expect(unauthorised.headers.get("www-authenticate")).toMatch(/Bearer.*Basic/);
    await daemon.stop();
    expect(
      `${answers.join("\n")}${daemon.stdout.join("\n")}${daemon.stderr.join("\n")}`,
    ).not.toContain("canary");
  });
});
