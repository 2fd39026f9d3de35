/**
 * An error that nobody caught, while stores are written: the daemon says so, ends with 1 at once
 * and loses nothing it acknowledged.
 */
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { writeDemoArchive } from "../../support/demo-archive.ts";
import { folderConfig } from "../../contract/corpus.ts";
import {
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  startDaemon,
  temporaryFolder,
} from "../../contract/daemon.ts";
import type { Daemon } from "../../contract/daemon.ts";
import { median } from "../../soak/statistics.ts";
import { isLongRun } from "../../support/long-run.ts";

const ENDS = isLongRun ? 40 : 4;
/**
 * Two seconds for a change that is being stored, one for output, and the end itself; in the median,
 * since a busy machine may hold up one end.
 */
const END_MS = 5_000;
const WRITERS = 8;
const thrower = new URL("../../kernel/state/fixtures/thrower.ts", import.meta.url).href;

let config: string;

beforeAll(async () => {
  const archive = join(temporaryFolder(), "archive");
  await writeDemoArchive(archive, { seed: 11 });
  config = folderConfig(temporaryFolder(), archive);
});

afterAll(removeTemporaryFolders);

function start(): Promise<Daemon> {
  return startDaemon({ config, env: { NODE_OPTIONS: `--import=${thrower}` } });
}

/**
 * Decides over groups for ever; keeps what was acknowledged until the daemon is gone. `many` is
 * called after some answers.
 */
async function decide(
  daemon: Daemon,
  groups: readonly string[],
  acknowledged: Map<string, string>,
  answered: () => void,
): Promise<void> {
  for (let turn = 0; ; turn += 1) {
    const status = turn % 2 === 0 ? "ignored" : "pending";
    for (const id of groups) {
      const before = acknowledged.get(id);
      acknowledged.delete(id); // while it is under way either is right
      const answer = await rest(daemon, "PUT", `/api/v1/duplicates/${id}/status`, { status }).catch(
        () => undefined,
      );
      if (answer === undefined) return;
      if (answer.status === 200) acknowledged.set(id, status);
      else if (before !== undefined) acknowledged.set(id, before);
      answered();
    }
  }
}

it(
  `${ENDS} times ends with 1 in time, without a word of what the error quotes, and keeps what it acknowledged`,
  { timeout: 60_000 + ENDS * 20_000 },
  async () => {
    let daemon = await start();
    await runJob(daemon, "/api/v1/sync", { force: true });
    const chained = (await rest(daemon, "GET", "/api/v1/analysis/status")).json.data
      .currentJobId as string | null;
    if (chained !== null) await jobEnd(daemon, chained);
    const groups = (
      (await rest(daemon, "GET", "/api/v1/duplicates?limit=100")).json.data as { id: string }[]
    ).map(({ id }) => id);
    expect(groups.length).toBeGreaterThanOrEqual(WRITERS);
    const tookMs: number[] = [];
    for (let end = 0; end < ENDS; end += 1) {
      const acknowledged = new Map<string, string>();
      const { promise: underWay, resolve } = Promise.withResolvers<void>();
      let answers = 0;
      const writers = Array.from({ length: WRITERS }, (_, writer) =>
        decide(
          daemon,
          groups.filter((_id, at) => at % WRITERS === writer),
          acknowledged,
          () => {
            answers += 1;
            if (answers === 40 + end) resolve();
          },
        ),
      );
      await underWay;
      const began = performance.now();
      process.kill(daemon.pid, end % 2 === 0 ? "SIGUSR2" : "SIGWINCH");
      expect([end, await daemon.exited]).toEqual([end, { code: 1, signal: null }]);
      tookMs.push(performance.now() - began);
      await Promise.all(writers);
      const said = daemon.stderr.join("\n");
      expect(said).toContain("uncaught error; the process exits");
      expect(said).toContain(end % 2 === 0 ? "uncaughtException" : "unhandledRejection");
      expect(said).toContain("SyntaxError");
      expect(said).not.toContain("canary-4711");
      daemon = await start();
      for (const [id, status] of acknowledged)
        expect([
          id,
          (await rest(daemon, "GET", `/api/v1/duplicates/${id}?light=true`)).json.data?.status,
        ]).toEqual([id, status]);
    }
    expect(median(tookMs)).toBeLessThan(END_MS);
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  },
);
