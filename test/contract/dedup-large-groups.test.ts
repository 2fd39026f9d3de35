/** Groups of thousands of documents: found, decided about, and left by documents that are gone. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
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

/** More than 1 MiB of index entries in one group. */
const EQUAL = 14_000;
/** Distinct texts of one group, whose row is about 70 KB. */
const ALIKE = 1_800;
/** Groups whose decisions and rows are more than 1 MiB together. */
const MANY = { groups: 20, members: 1_400 };

function copies(name: string, count: number, text: string): { id: string; text: string }[] {
  return Array.from({ length: count }, (_, at) => ({ id: `${name}-${at}`, text }));
}

const words = textOf(2).split(" ");
const alike = Array.from({ length: ALIKE }, (_, at) => ({
  id: `alike-${at}`,
  text: words.with(30, `reading${at}`).join(" "),
}));
const others = [
  ...copies("equal", EQUAL, textOf(1)),
  ...Array.from({ length: MANY.groups }, (_, at) =>
    copies(`many-${at}`, MANY.members, textOf(100 + at)),
  ).flat(),
];

function write(lines: readonly object[]): void {
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

async function groupsOf(memberCount: number): Promise<string[]> {
  const { data } = (await rest(daemon, "GET", "/api/v1/duplicates?limit=100")).json;
  return data
    .filter((group: any) => group.memberCount === memberCount)
    .map(({ id }: any) => id as string);
}

beforeAll(async () => {
  write([...others, ...alike]);
  const config = `gateway: {listen: "127.0.0.1:0"}
state: {directory: ${join(folder, "state")}}
services: {monitor: false, tokens: false}
dedup:
  analysis: {auto_analyze: false}
  archives:
    - {name: lines, kind: jsonl, path: ${file}}
`;
  daemon = await startDaemon({ config });
  expect((await runJob(daemon, "/api/v1/sync")).status).toBe("completed");
});
afterAll(async () => {
  await daemon.stop();
  removeTemporaryFolders();
});

it("are found whole, however many documents have one text", async () => {
  const job = await runJob(daemon, "/api/v1/analysis", {});
  expect([job.status, job.errorMessage]).toEqual(["completed", null]);
  expect((await groupsOf(EQUAL)).length).toBe(1);
  expect((await groupsOf(ALIKE)).length).toBe(1);
  expect((await groupsOf(MANY.members)).length).toBe(MANY.groups);
});

it("are decided about, one and many at once", async () => {
  const [equal] = await groupsOf(EQUAL);
  for (const status of ["false_positive", "pending"])
    expect(
      (await rest(daemon, "PUT", `/api/v1/duplicates/${equal}/status`, { status })).status,
    ).toBe(200);
  expect(
    (await rest(daemon, "POST", "/api/v1/delete-plan/accept", { groupIds: [equal] })).status,
  ).toBe(200);
  const alone = await rest(daemon, "GET", "/api/v1/delete-plan?limit=1");
  expect([alone.status, alone.json.meta?.deletedCount]).toEqual([200, EQUAL - 1]);
  expect(
    (await rest(daemon, "POST", "/api/v1/delete-plan/withdraw", { groupIds: [equal] })).status,
  ).toBe(200);
  const groupIds = await groupsOf(MANY.members);
  const accepted = await rest(daemon, "POST", "/api/v1/delete-plan/accept", { groupIds });
  expect([accepted.status, accepted.json.data?.groupIds.length]).toEqual([200, MANY.groups]);
  const plan = await rest(daemon, "GET", "/api/v1/delete-plan");
  const deletedCount = MANY.groups * (MANY.members - 1);
  expect([plan.status, plan.json.meta]).toMatchObject([200, { total: MANY.groups, deletedCount }]);
  const ignored = await rest(daemon, "POST", "/api/v1/batch/status", {
    groupIds,
    status: "ignored",
  });
  expect([ignored.status, ignored.json.data]).toEqual([200, { updated: MANY.groups, skipped: [] }]);
});

it("lose the documents that are gone, at the next sync", async () => {
  write([...others.filter(({ id }) => !id.endsWith("99")), ...alike.slice(40)]);
  const job = await runJob(daemon, "/api/v1/sync");
  expect([job.status, job.errorMessage]).toEqual(["completed", null]);
  expect(job.result.reconciled).toBe(40 + EQUAL / 100 + (MANY.groups * MANY.members) / 100);
  expect((await groupsOf(ALIKE - 40)).length).toBe(1);
  expect((await groupsOf(EQUAL - EQUAL / 100)).length).toBe(1);
});
