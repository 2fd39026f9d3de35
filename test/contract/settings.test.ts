import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { folderConfig, smallArchive, writeFiles } from "./corpus.ts";
import {
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  runSteward,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";

afterAll(removeTemporaryFolders);

/**
 * Starts, syncs, analyses, and stops: how many documents were left out, and the members of each
 * group.
 */
async function outcome(
  config: string,
  env: Readonly<Record<string, string>>,
): Promise<{ skipped: number; groups: number[] }> {
  const daemon = await startDaemon({
    config,
    env: { STEWARD_DEDUP__ANALYSIS__AUTO_ANALYZE: "false", ...env },
  });
  expect(await runJob(daemon, "/api/v1/sync", {})).toMatchObject({ status: "completed" });
  // Nothing follows the sync.
  expect((await rest(daemon, "GET", "/api/v1/analysis/status")).json.data).toMatchObject({
    isAnalyzing: false,
  });
  const job = await runJob(daemon, "/api/v1/analysis", { force: true });
  const groups = (await rest(daemon, "GET", "/api/v1/duplicates")).json.data.map(
    (group: any) => group.memberCount,
  );
  expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  return { skipped: job.result.documentsSkipped, groups };
}

describe("the parameters of the analysis", () => {
  it("are taken from the environment over the file, and from the next start's configuration when that is another one", async () => {
    const [state, papers] = [temporaryFolder(), join(temporaryFolder(), "papers")];
    writeFiles(papers, smallArchive);
    const file = "  analysis:\n    min_words: 3\n    similarity_threshold: 0.99\n";
    expect(await outcome(folderConfig(state, papers), {})).toEqual({ skipped: 1, groups: [3] });
    expect(await outcome(folderConfig(state, papers, file), {})).toEqual({
      skipped: 0,
      groups: [2],
    });
    expect(
      await outcome(folderConfig(state, papers, file), {
        STEWARD_DEDUP__ANALYSIS__SIMILARITY_THRESHOLD: "0.7",
      }),
    ).toEqual({ skipped: 0, groups: [3] });
  });

  it("are refused before anything starts when they do not go together", async () => {
    const { code, stdout, stderr } = await runSteward(["-validate"], {
      env: {
        STEWARD_STATE__DIRECTORY: temporaryFolder(),
        STEWARD_DEDUP__ANALYSIS__CONFIDENCE_WEIGHT_FUZZY: "50",
        STEWARD_DEDUP__ANALYSIS__MIN_WORDS: "0",
      },
    });
    expect(code).toBe(1);
    expect(stdout + stderr).toContain(
      'dedup.analysis.min_words: must be a whole number from 1 to 1000, got "0"',
    );
    const weights = await runSteward(["-validate"], {
      env: {
        STEWARD_STATE__DIRECTORY: temporaryFolder(),
        STEWARD_DEDUP__ANALYSIS__CONFIDENCE_WEIGHT_FUZZY: "50",
      },
    });
    expect(weights.stdout + weights.stderr).toContain(
      "dedup.analysis.confidence_weight_jaccard: and confidence_weight_fuzzy must add up to 100, and add up to 110",
    );
  });
});

describe("dedup.sync.interval", () => {
  it("brings a sync by itself, which an analysis follows", async () => {
    const papers = join(temporaryFolder(), "papers");
    writeFiles(papers, smallArchive);
    const daemon = await startDaemon({
      config: folderConfig(temporaryFolder(), papers, "  sync:\n    interval: 10s\n"),
    });
    const first = async (type: string): Promise<string | undefined> =>
      (await rest(daemon, "GET", `/api/v1/jobs?type=${type}`)).json.data[0]?.id;
    await expect.poll(() => first("sync"), { interval: 100, timeout: 60_000 }).toBeDefined();
    await expect.poll(() => first("analysis"), { interval: 100, timeout: 60_000 }).toBeDefined();
    expect(await jobEnd(daemon, (await first("analysis")) ?? "")).toMatchObject({
      status: "completed",
      result: { totalDocuments: Object.keys(smallArchive).length },
    });
    expect(
      daemon.stderr.filter((line) =>
        /automatic sync is scheduled first_in_s=\d+ every_s=10$/.test(line),
      ),
    ).toHaveLength(1);
    expect(await daemon.stop()).toEqual({ code: 0, signal: null });
  });
});
