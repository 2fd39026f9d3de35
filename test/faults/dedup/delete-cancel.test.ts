/** Cancelling a deletion while it runs. */
import { afterAll, expect, it, onTestFinished, vi } from "vitest";
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

afterAll(removeTemporaryFolders);

it("reports what is gone, leaves the rest and the groups' status, and goes on when asked again", async () => {
  const sim = await startArchive(fillGroups(8, 2));
  onTestFinished(() => sim.stop());
  const daemon = await startDaemon({ config: configOf(sim, temporaryFolder()) });
  onTestFinished(async () => void (await daemon.stop()));
  await syncAndAnalyse(daemon);
  const groups = await groupsOf(daemon);
  const body = { groupIds: groups.map(({ id }) => id), confirm: true };
  const path = "/api/v1/batch/delete-non-primary";
  sim.faults.next("delete_document", { kind: "delay", ms: 750 }, 8);
  const { jobId } = (await rest(daemon, "POST", path, body)).json.data;
  await vi.waitFor(() => expect(trashed(sim).length).toBeGreaterThanOrEqual(2), {
    timeout: 60_000,
  });
  expect((await rest(daemon, "POST", `/api/v1/jobs/${jobId}/cancel`)).status).toBe(200);
  // The deletion that had begun ends: an archive has one writer, so that a merge waits for it.
  const [first] = groups;
  await rest(daemon, "POST", `/api/v1/duplicates/${first?.id}/merge`, { dryRun: false });
  const { job, gone } = await vi.waitFor(
    async () => {
      const found = trashed(sim);
      const { data } = (await rest(daemon, "GET", `/api/v1/jobs/${jobId}`)).json;
      expect(data.result.deletedDocuments).toBe(found.length);
      return { job: data, gone: found };
    },
    { timeout: 60_000 },
  );
  expect(gone.length).toBeLessThan(8);
  expect(job.status).toBe("cancelled");
  const outcomes = job.result.documents as { paperlessId: number; outcome: string }[];
  expect(
    outcomes
      .filter(({ outcome }) => outcome === "deleted")
      .map((one) => one.paperlessId)
      .toSorted((a, b) => a - b),
  ).toEqual(gone);
  expect(outcomes).toHaveLength(8);
  expect(job.result.pendingGroups.toSorted()).toEqual(body.groupIds.toSorted());
  const pending = await rest(daemon, "GET", "/api/v1/duplicates?status=pending");
  expect(pending.json.meta.total).toBe(8);
  sim.faults.clear();
  const again = (await rest(daemon, "POST", path, body)).json.data.jobId as string;
  const { result } = await jobEnd(daemon, again);
  const cancelled = (await rest(daemon, "GET", `/api/v1/jobs/${jobId}`)).json.data;
  const { deletedDocuments } = cancelled.result;
  expect(result).toMatchObject({
    deletedDocuments: 8 - deletedDocuments,
    alreadyMissingDocuments: deletedDocuments,
    deletedGroups: 8,
  });
  expect(trashed(sim)).toEqual([2, 4, 6, 8, 10, 12, 14, 16]);
});
