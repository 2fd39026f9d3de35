import { randomInt } from "node:crypto";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { writeDemoArchive } from "../support/demo-archive.ts";
import { folderConfig } from "../contract/corpus.ts";
import {
  type Daemon,
  removeTemporaryFolders,
  rest,
  runJob,
  startDaemon,
  temporaryFolder,
} from "../contract/daemon.ts";
import { isLongRun } from "../support/long-run.ts";

const KILLS = isLongRun ? 200 : 15;
/** As many meet a daemon that has no groups yet. */
const FIRST_KILLS = Math.floor(KILLS / 3);
const statuses = ["pending", "ignored", "false_positive"] as const;

afterAll(removeTemporaryFolders);

/** A verdict that was answered, and how many members the group had then. */
interface Verdict {
  readonly status: string;
  readonly members: number;
}

/** What a run found, in terms that do not depend on ids: members and scores of each group. */
async function groupsOf(daemon: Daemon): Promise<string[]> {
  const found: string[] = [];
  for (let offset = 0; ; offset += 100) {
    const page = (
      await rest(
        daemon,
        "GET",
        `/api/v1/duplicates?limit=100&offset=${offset}&status=pending,ignored,false_positive`,
      )
    ).json;
    for (const summary of page.data) {
      const group = (await rest(daemon, "GET", `/api/v1/duplicates/${summary.id}?light=true`)).json
        .data;
      found.push(
        JSON.stringify([
          group.members.map((member: any) => member.archiveRef).sort(),
          group.confidenceScore,
          group.jaccardSimilarity,
          group.fuzzyTextRatio,
          group.discriminativeScore,
        ]),
      );
    }
    if (page.data.length < 100) return found.sort();
  }
}

async function finish(daemon: Daemon): Promise<void> {
  for (const path of ["/api/v1/sync", "/api/v1/analysis"]) {
    for (;;) {
      const running = (await rest(daemon, "GET", "/api/v1/jobs?limit=50")).json.data.find(
        (job: any) => job.status === "running" || job.status === "pending",
      );
      if (!running) break;
      await (await fetch(`${daemon.url}/api/v1/jobs/${running.id}/progress`)).text();
    }
    expect((await runJob(daemon, path, { force: true })).status).toBe("completed");
  }
}

it(
  `${KILLS} kills during sync, analysis and decisions lose nothing that was acknowledged and change no result`,
  { timeout: 900_000 },
  async () => {
    const folder = join(temporaryFolder(), "archive");
    await writeDemoArchive(folder, { seed: 7 });
    const undisturbed = await startDaemon({ config: folderConfig(temporaryFolder(), folder) });
    await finish(undisturbed);
    const expected = await groupsOf(undisturbed);
    await undisturbed.stop();
    expect(expected.length).toBeGreaterThan(10);

    const config = folderConfig(temporaryFolder(), folder);
    const acknowledged = new Map<string, Verdict>();
    let jobs = new Set<string>();
    const met = { verdicts: 0, jobs: 0 };
    for (let kill = 0; kill < KILLS; kill++) {
      const daemon = await startDaemon({ config });
      for (const id of jobs)
        expect([id, (await rest(daemon, "GET", `/api/v1/jobs/${id}`)).status]).toEqual([id, 200]);
      for (const [id, { status, members }] of acknowledged) {
        const answer = await rest(daemon, "GET", `/api/v1/duplicates/${id}?light=true`);
        // A group that gained a document since then is open again; its verdict is history
        // (RESOLUTIONS D36).
        const found =
          answer.json.data?.members.length > members
            ? answer.json.data.history.at(-1)?.status
            : answer.json.data?.status;
        expect([id, answer.status, found]).toEqual([id, 200, status]);
      }
      // Kills that meet the first sync alone would meet no decision.
      if (kill === FIRST_KILLS) await finish(daemon);
      jobs = new Set();
      const before = met.verdicts;
      const work = disturb(daemon, { acknowledged, jobs, met });
      if (kill >= FIRST_KILLS)
        await expect.poll(() => met.verdicts, { interval: 5 }).toBeGreaterThan(before);
      await new Promise((resolve) => setTimeout(resolve, randomInt(400)));
      await daemon.stop("SIGKILL");
      await work;
      met.jobs += jobs.size;
    }
    expect(met.jobs).toBeGreaterThan(KILLS / 5);
    const last = await startDaemon({ config });
    await openAll(last);
    await finish(last);
    expect(await groupsOf(last)).toEqual(expected);
    expect((await rest(last, "GET", "/api/v1/ready")).status).toBe(200);
    expect(await last.stop()).toEqual({ code: 0, signal: null });
  },
);

/** Takes back every verdict, also those whose answer was lost. */
async function openAll(daemon: Daemon): Promise<void> {
  for (;;) {
    const decided = (
      await rest(daemon, "GET", "/api/v1/duplicates?limit=100&status=ignored,false_positive")
    ).json.data as { id: string }[];
    if (decided.length === 0) return;
    for (const { id } of decided)
      expect(
        (await rest(daemon, "PUT", `/api/v1/duplicates/${id}/status`, { status: "pending" }))
          .status,
      ).toBe(200);
  }
}

/** Starts jobs and decides about groups until the daemon dies; remembers only what was answered. */
async function disturb(
  daemon: Daemon,
  {
    acknowledged,
    jobs,
    met,
  }: {
    readonly acknowledged: Map<string, Verdict>;
    readonly jobs: Set<string>;
    readonly met: { verdicts: number };
  },
): Promise<void> {
  try {
    for (;;) {
      const started = await rest(
        daemon,
        "POST",
        randomInt(2) ? "/api/v1/sync" : "/api/v1/analysis",
        { force: true },
      );
      if (started.status === 202) jobs.add(started.json.data.jobId as string);
      const groups = (await rest(daemon, "GET", "/api/v1/duplicates?limit=20")).json.data as {
        id: string;
      }[];
      const group = groups[randomInt(Math.max(1, groups.length))];
      if (!group) continue;
      const status = statuses[randomInt(statuses.length)] ?? "pending";
      const before = acknowledged.get(group.id);
      acknowledged.delete(group.id);
      const answer = await rest(daemon, "PUT", `/api/v1/duplicates/${group.id}/status`, { status });
      if (answer.status === 200) {
        met.verdicts += 1;
        acknowledged.set(group.id, { status, members: answer.json.data.memberCount as number });
      } else if (before !== undefined) acknowledged.set(group.id, before);
    }
  } catch {
    // The daemon was killed: what was asked last may or may not have been done, and nothing is
    // expected of it.
  }
}
