/** Deleting in a Paperless-ngx while the daemon is killed at random moments. */
import { randomInt } from "node:crypto";
import { afterAll, expect, it, onTestFinished } from "vitest";
import {
  jobEnd,
  removeTemporaryFolders,
  rest,
  startDaemon,
  temporaryFolder,
} from "../../contract/daemon.ts";
import {
  configOf,
  fillGroups,
  groupsOf,
  startArchive,
  syncAndAnalyse,
  trashed,
} from "../../contract/paperless-estate.ts";
import { isLongRun } from "../../support/long-run.ts";

const KILLS = isLongRun ? 60 : 6;
const GROUPS = 40;
/** Documents of a group: more than the kills leave time to delete. */
const SIZE = isLongRun ? 16 : 3;

afterAll(removeTemporaryFolders);

it(
  `${KILLS} kills inside deletions cost no primary, no document twice, and no group its status`,
  { timeout: 600_000 },
  async () => {
    const sim = await startArchive(fillGroups(GROUPS, SIZE));
    onTestFinished(() => sim.stop());
    const config = configOf(sim, temporaryFolder());
    let daemon = await startDaemon({ config });
    await syncAndAnalyse(daemon);
    const groups = await groupsOf(daemon);
    expect(groups.length).toBe(GROUPS);
    const primaries = groups.map(({ members }) => members[0] as number);
    const expected = groups.flatMap(({ members }) => members.slice(1)).sort((a, b) => a - b);
    const [doomed] = expected as [number];
    const all = expected.length - 1;
    // One changes before the plan: its group stays pending.
    sim.estate.edit(doomed, { tags: [1] });

    const body = { confirm: true, merge: true };
    const begin = async (): Promise<string> => {
      const groupIds = (await groupsOf(daemon)).map(({ id }) => id);
      const path = "/api/v1/batch/delete-non-primary";
      return (await rest(daemon, "POST", path, { ...body, groupIds })).json.data.jobId as string;
    };
    let jobId = await begin();
    let metWork = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      // Each start is slow at first, so that a kill meets planning, deletions and their records.
      sim.faults.next("delete_document", { kind: "delay", ms: 20 }, 10);
      const before = trashed(sim).length;
      await expect
        .poll(() => trashed(sim).length, { interval: 10 })
        .toBeGreaterThanOrEqual(Math.min(before + 3, all));
      await new Promise((resolve) => setTimeout(resolve, randomInt(60)));
      await daemon.stop("SIGKILL");
      if (trashed(sim).length < all) metWork += 1;
      expect(trashed(sim).filter((id) => primaries.includes(id))).toEqual([]);
      daemon = await startDaemon({ config });
      onTestFinished(async () => void (await daemon.stop("SIGKILL")));
      // Three starts that end in a crash give a job up; another one goes on where it stopped.
      const { status } = (await rest(daemon, "GET", `/api/v1/jobs/${jobId}`)).json.data;
      if (status === "failed") jobId = await begin();
    }
    // A busy machine may end the last of it before the kill.
    expect(metWork).toBeGreaterThan(KILLS / 2);
    sim.faults.clear();
    expect((await jobEnd(daemon, jobId)).status).toBe("completed");
    expect(trashed(sim)).toEqual(expected.filter((id) => id !== doomed));
    expect((await groupsOf(daemon)).map(({ members }) => members)).toEqual([
      [primaries[0], doomed],
    ]);
    const deleted = (await rest(daemon, "GET", "/api/v1/duplicates?status=deleted&limit=100")).json;
    expect(deleted.meta.total).toBe(GROUPS - 1);
    const documents = (await rest(daemon, "GET", "/api/v1/documents?limit=1")).json.meta.total;
    expect(documents).toBe(GROUPS + 1);
  },
);

it("a deletion that was killed goes on with its recorded plan", async () => {
  const sim = await startArchive(fillGroups(10, 2));
  onTestFinished(() => sim.stop());
  const config = configOf(sim, temporaryFolder());
  const killed = await startDaemon({ config });
  await syncAndAnalyse(killed);
  const groupIds = (await groupsOf(killed)).map(({ id }) => id);
  sim.faults.next("delete_document", { kind: "delay", ms: 50 }, 10);
  const body = { groupIds, confirm: true };
  const started = await rest(killed, "POST", "/api/v1/batch/delete-non-primary", body);
  for (let waited = 0; waited < 500 && trashed(sim).length < 5; waited++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  await killed.stop("SIGKILL");
  const daemon = await startDaemon({ config });
  onTestFinished(async () => void (await daemon.stop()));
  const { status, result } = await jobEnd(daemon, started.json.data.jobId as string);
  expect(status).toBe("completed");
  expect(trashed(sim).length).toBe(10);
  expect(result.documents.length).toBe(10);
  // At most the one that went while nobody could record it is found missing.
  expect(result.alreadyMissingDocuments).toBeLessThanOrEqual(1);
  expect(result.deletedDocuments + result.alreadyMissingDocuments).toBe(10);
  expect(result.deletedGroups).toBe(10);
});
