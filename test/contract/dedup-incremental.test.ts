/** What an analysis does when only dates or other metadata of documents have changed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";
import { textOf } from "./paperless-estate.ts";

const folder = temporaryFolder();
const file = join(folder, "lines.jsonl");
let daemon: Daemon;

type Line = Readonly<Record<string, string>>;

const lines: readonly Line[] = [
  { id: "a", text: textOf(1), created_date: "2024-01-01" },
  { id: "b", text: textOf(1).replace(/\S+$/, "changed"), created_date: "2024-01-02" },
  { id: "c", text: textOf(2), created_date: "2024-01-03" },
  { id: "d", text: textOf(2).replace(/\S+$/, "changed"), created_date: "2024-01-04" },
];

function write(own: readonly Line[]): void {
  writeFileSync(file, own.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

beforeAll(async () => {
  write(lines);
  const config = `gateway: {listen: "127.0.0.1:0"}
state: {directory: ${join(folder, "state")}}
services: {monitor: false, tokens: false}
dedup:
  metrics_endpoint: {enabled: true}
  archives:
    - {name: lines, kind: jsonl, path: ${file}}
`;
  daemon = await startDaemon({ config });
});
afterAll(async () => {
  await daemon.stop();
  removeTemporaryFolders();
});

async function analyses(): Promise<{ id: string }[]> {
  return (await rest(daemon, "GET", "/api/v1/jobs?type=analysis")).json.data;
}

/** How many analyses had each stage. */
async function stages(): Promise<Record<string, number>> {
  const { text } = await rest(daemon, "GET", "/api/v1/metrics");
  const found = text.matchAll(
    /^svc_analysis_stage_duration_seconds_count\{.*stage="(\w+)".*\} (\d+)/gm,
  );
  return Object.fromEntries([...found].map(([, stage, count]) => [stage, Number(count)]));
}

/** Members of each group, the primary first. */
async function groups(): Promise<string[]> {
  const { data } = (await rest(daemon, "GET", "/api/v1/duplicates")).json;
  const found: string[] = await Promise.all(
    data.map(async ({ id }: { id: string }) => {
      const { members } = (await rest(daemon, "GET", `/api/v1/duplicates/${id}`)).json.data;
      return members.map((member: any) => member.archiveRef).join(" ");
    }),
  );
  return found.toSorted();
}

it("signs, joins and verifies nothing after new dates and metadata, and chooses primaries anew", async () => {
  await runJob(daemon, "/api/v1/sync");
  for (const { id } of await analyses()) await jobEnd(daemon, id);
  expect(await groups()).toEqual(["a b", "c d"]);
  const before = await stages();
  expect(before).toMatchObject({ signatures: 1, candidates: 1, scoring: 1 });

  write(
    lines.map((line) =>
      line["id"] === "d"
        ? { ...line, correspondent: "Ada", document_type: "Bill", created_date: "2024-02-01" }
        : { ...line, created_date: "2024-03-01" },
    ),
  );
  const sync = await runJob(daemon, "/api/v1/sync");
  expect(sync.result).toMatchObject({ updated: 4 });
  expect(await analyses()).toHaveLength(1);

  const { status, result } = await runJob(daemon, "/api/v1/analysis");
  expect(status).toBe("completed");
  expect(result).toMatchObject({
    totalDocuments: 4,
    isFullRebuild: false,
    signaturesGenerated: 0,
    signaturesReused: 4,
    candidatePairsScored: 2,
    groupsCreated: 0,
    groupsUpdated: 2,
    groupsRemoved: 0,
  });
  expect(await groups()).toEqual(["a b", "d c"]);
  // The page of metrics is a little behind.
  await expect.poll(stages, { timeout: 60_000 }).toMatchObject({ writing: 2 });
  const after = await stages();
  for (const stage of ["load", "signatures", "candidates", "scoring", "grouping"])
    expect([stage, after[stage]]).toEqual([stage, before[stage]]);

  await runJob(daemon, "/api/v1/analysis", { force: true });
  expect(await groups()).toEqual(["a b", "d c"]);
});
