/** A simulated Paperless-ngx with groups of duplicates, and a daemon that has analysed it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startPaperless } from "../../src/demo/paperless/paperless.ts";
import type { Paperless } from "../../src/demo/paperless/paperless.ts";
import type { Estate } from "../../src/demo/paperless/types.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { silent } from "../demo/control-plane/support.ts";
import { analysesEnd, type Daemon, rest, runJob, temporaryFolder } from "./daemon.ts";

/** Invented words, the same for the same number. */
export function textOf(number: number): string {
  let state = number + 7;
  const word = (): string => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return `word${(state >>> 8) % 5_000}`;
  };
  return Array.from({ length: 60 }, word).join(" ");
}

/** Starts the simulator. */
export async function startArchive(
  fill: (estate: Estate) => void,
  clock = systemClock,
): Promise<Paperless> {
  return await startPaperless({ clock, ids: systemIds, log: silent, fill });
}

/**
 * Groups of documents with one text: the ids of group `g` of size `n` are `n * g + 1` to `n * g + n`,
 * and the first is the one to keep.
 */
export function fillGroups(groups: number, size: number): (estate: Estate) => void {
  return (estate) => {
    for (const name of ["inbox", "tax", "2024"]) estate.addReference("tags", { name });
    estate.addReference("correspondents", { name: "Northwind" });
    estate.addReference("document_types", { name: "Invoice" });
    for (let group = 0; group < groups; group++)
      for (let member = 0; member < size; member++)
        estate.add({
          title: `Paper ${group}-${member}`,
          content: textOf(group),
          created: `2024-01-${String(member + 1).padStart(2, "0")}`,
        });
  };
}

/** The configuration of a daemon beside it; `archives` are further rows. */
export function configOf(sim: Paperless, state: string, archives = ""): string {
  const folder = temporaryFolder();
  const token = sim.estate.users[0]?.token.use((value) => value) ?? "";
  writeFileSync(join(folder, "token"), token, { mode: 0o600 });
  return `gateway: {listen: "127.0.0.1:0"}
state: {directory: ${state}}
services: {monitor: false, tokens: false}
dedup:
  archives:
    - {name: papers, kind: paperless, url: "${sim.url}", token_file: ${join(folder, "token")}}
${archives}`;
}

/** Syncs and waits for the analysis that follows. */
export async function syncAndAnalyse(daemon: Daemon): Promise<void> {
  const job = await runJob(daemon, "/api/v1/sync");
  if (job.status !== "completed") throw new Error(JSON.stringify(job));
  await analysesEnd(daemon);
}

/** Pending groups with their members by Paperless id, the primary first. */
export async function groupsOf(daemon: Daemon): Promise<{ id: string; members: number[] }[]> {
  const { data } = (await rest(daemon, "GET", "/api/v1/duplicates?limit=100")).json;
  const groups = [];
  for (const { id } of data) {
    const one = (await rest(daemon, "GET", `/api/v1/duplicates/${id}?light=true`)).json.data;
    groups.push({
      id: id as string,
      members: one.members.map((m: any) => m.paperlessId as number),
    });
  }
  return groups.sort((a, b) => (a.members[0] ?? 0) - (b.members[0] ?? 0));
}

/** Ids in the trash of the archive, ascending. */
export function trashed({ estate }: Paperless): number[] {
  return [...estate.documents.values()]
    .filter(({ deletedAtUs }) => deletedAtUs !== null)
    .map(({ id }) => id)
    .sort((a, b) => a - b);
}
