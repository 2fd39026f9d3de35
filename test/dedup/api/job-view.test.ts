import { expect, it } from "vitest";
import { showJob } from "../../../src/dedup/api/job-view.ts";
import { newRow } from "../../../src/kernel/jobs/job-row.ts";
import type { Job } from "../../../src/kernel/jobs/types.ts";

it("a job has its own time of each step, and none of a step that it has not reached", () => {
  const row = newRow({
    id: "job",
    type: "sync",
    exclusive: "sync",
    input: new Uint8Array(),
    createdAtMs: 1_000,
    seq: 1,
  });
  const waiting = showJob(row as unknown as Job);
  expect(waiting).toMatchObject({ createdAt: { seconds: 1n } });
  expect(waiting).not.toHaveProperty("startedAt");
  expect(waiting).not.toHaveProperty("completedAt");
  const times = { startedAtMs: 2_000, completedAtMs: 3_000 };
  expect(showJob({ ...row, ...times } as unknown as Job)).toMatchObject({
    createdAt: { seconds: 1n },
    startedAt: { seconds: 2n },
    completedAt: { seconds: 3n },
  });
});
