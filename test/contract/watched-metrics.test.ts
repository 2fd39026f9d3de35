/** What alert rules need to know of archive, backups and disk, as a scrape sees it. */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { folderConfig, smallArchive, writeFiles } from "./corpus.ts";
import {
  jobEnd,
  listenAddress,
  removeTemporaryFolders,
  rest,
  scrape,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";

afterAll(removeTemporaryFolders);

const SOON = { timeout: 60_000, interval: 100 };
const HOUR_MS = 3_600_000;

it("has the last sync, archives that answer, the newest backup and the free disk", async () => {
  const state = temporaryFolder();
  const papers = join(temporaryFolder(), "papers");
  writeFiles(papers, smallArchive);
  // Of an earlier process: complete, and an hour old.
  const made = new Date(Math.floor(Date.now() / 1_000) * 1_000 - HOUR_MS);
  const name = `steward-${made.toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
  const backup = join(state, "backups", name);
  mkdirSync(backup, { recursive: true });
  writeFileSync(
    join(backup, "manifest.json"),
    JSON.stringify({ format: 1, steward: "1", madeAtMs: made.getTime(), stores: [], leftOut: [] }),
  );
  const daemon = await startDaemon({
    config: folderConfig(
      state,
      papers,
      `  sync: { interval: 6h }\nservices: { monitor: false, tokens: false }\nscrape: { enabled: true, listen: "127.0.0.1:0" }\n`,
    ),
  });
  await vi.waitFor(() => expect(listenAddress(daemon, "metrics")).toBeDefined(), SOON);
  const value = async (series: string): Promise<number | undefined> => {
    const text = await scrape(daemon);
    const line = text
      .split("\n")
      .find((each) => each.startsWith(`${series} `) || each.startsWith(`${series}{`));
    return line === undefined ? undefined : Number(line.split(" ").at(-1));
  };
  await vi.waitFor(
    async () => expect(await value("svc_state_disk_free_bytes")).toBeGreaterThan(0),
    SOON,
  );
  expect(await value("svc_state_disk_size_bytes")).toBeGreaterThan(
    (await value("svc_state_disk_free_bytes")) ?? 0,
  );
  await expect.poll(() => value("svc_backup_last_success_seconds")).toBe(made.getTime() / 1_000);
  expect(await value("svc_backup_runs_total")).toBe(0);
  expect(await value("svc_sync_last_success_seconds")).toBeUndefined();
  expect(await value("svc_sync_interval_seconds")).toBe(6 * 3_600);
  const beganMs = Date.now();
  const { json } = await rest(daemon, "POST", "/api/v1/sync", {});
  await jobEnd(daemon, json.data.jobId as string);
  // Scrapes within 250 ms share their values.
  await expect.poll(() => value("svc_sync_last_success_seconds")).toBeDefined();
  const synced = (await value("svc_sync_last_success_seconds")) ?? 0;
  expect(synced * 1_000).toBeGreaterThanOrEqual(beganMs - 1_000);
  expect(synced * 1_000).toBeLessThanOrEqual(Date.now());
  await vi.waitFor(async () => expect(await value("svc_archive_readable_ratio")).toBe(1), SOON);
  renameSync(papers, `${papers}-away`);
  await vi.waitFor(async () => expect(await value("svc_archive_readable_ratio")).toBe(0), SOON);
  await daemon.stop();
});
