/** The analysis settings and the scores of single pairs over the API of a running daemon. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parameterRanges } from "../../src/dedup/analysis/parameters.ts";
import { folderConfig, smallArchive, writeFiles } from "./corpus.ts";
import {
  type Daemon,
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";

afterAll(removeTemporaryFolders);

const defaults = {
  numPermutations: 256,
  numBands: 64,
  ngramSize: 3,
  minWords: 20,
  similarityThreshold: 0.75,
  confidenceWeightJaccard: 60,
  confidenceWeightFuzzy: 40,
  discriminativePenaltyStrength: 70,
  fuzzySampleSize: 10_000,
  autoAnalyze: true,
};

/** Starts a daemon over the small archive and waits for its first sync and analysis. */
async function startAnalysed(config: string): Promise<Daemon> {
  const daemon = await startDaemon({ config });
  await runJob(daemon, "/api/v1/sync");
  for (;;) {
    const { data } = (await rest(daemon, "GET", "/api/v1/jobs?type=analysis")).json;
    if (data.length === 0) continue;
    await jobEnd(daemon, data[0].id as string);
    return daemon;
  }
}

async function put(daemon: Daemon, body: unknown): Promise<any> {
  const answer = await rest(daemon, "PUT", "/api/v1/config/dedup", body);
  return { status: answer.status, ...answer.json };
}

async function groups(daemon: Daemon): Promise<any[]> {
  return (await rest(daemon, "GET", "/api/v1/duplicates")).json.data;
}

let daemon: Daemon;
let config: string;

beforeAll(async () => {
  const folder = temporaryFolder();
  writeFiles(folder, smallArchive);
  config = folderConfig(temporaryFolder(), folder);
  daemon = await startAnalysed(config);
});
afterAll(async () => {
  await daemon.stop();
});

describe("PUT /config/dedup", () => {
  it("shows the ten settings, and a change that changes nothing has no meta", async () => {
    expect((await rest(daemon, "GET", "/api/v1/config/dedup")).json).toEqual({ data: defaults });
    expect(await put(daemon, {})).toEqual({ status: 200, data: defaults });
    expect(await put(daemon, defaults)).toEqual({ status: 200, data: defaults });
    expect(await put(daemon, { autoAnalyze: false })).toEqual({
      status: 200,
      data: { ...defaults, autoAnalyze: false },
    });
    await put(daemon, { autoAnalyze: true });
  });

  it.each(Object.entries(parameterRanges))("refuses %s out of its range", async (name, range) => {
    for (const value of [range.least - 1, range.most + 1]) {
      const { status, error } = await put(daemon, { [name]: value });
      expect([status, error.code]).toEqual([400, "VALIDATION_FAILED"]);
      expect(error.message).toContain(name);
    }
    if (range.whole)
      expect((await put(daemon, { [name]: 20.5 })).error.code).toBe("VALIDATION_FAILED");
  });

  it.each<[string, unknown, string]>([
    ["weights that do not add up to 100", { confidenceWeightJaccard: 70 }, "must add up to 100"],
    ["more bands than values", { numPermutations: 32, numBands: 33 }, "must not exceed"],
    ["an unknown field", { similarityTreshold: 0.8 }, "did you mean similarityThreshold?"],
    ["text for a number", { ngramSize: "three" }, "ngramSize"],
    ["no object", "[1]", "must be"],
    ["no JSON", "{", "JSON"],
  ])("refuses %s and changes nothing", async (_, body, message) => {
    const { status, error } = await put(daemon, body);
    expect([status, error.code]).toEqual([400, "VALIDATION_FAILED"]);
    expect(error.message).toContain(message);
    expect(error.message).not.toContain("_");
    expect((await rest(daemon, "GET", "/api/v1/config/dedup")).json.data).toEqual(defaults);
  });

  it.each(["", "text/plain", "application/x-www-form-urlencoded"])(
    "refuses the content type %o",
    async (type) => {
      const answer = await fetch(`${daemon.url}/api/v1/config/dedup`, {
        method: "PUT",
        headers: { "content-type": type },
        body: Buffer.from("{}"),
      });
      const { error } = (await answer.json()) as { error: { code: string; message: string } };
      expect([answer.status, error.code]).toEqual([400, "VALIDATION_FAILED"]);
      expect(error.message).toContain("application/json");
    },
  );

  it("recalculates all groups when a weight changes, as an analysis would", async () => {
    const [before] = await groups(daemon);
    const weights = { confidenceWeightJaccard: 50, confidenceWeightFuzzy: 50 };
    const { data, meta } = await put(daemon, weights);
    expect(data).toMatchObject(weights);
    expect(meta).toEqual({ recalculatedGroups: 1, analysisStale: true });
    const [after] = await groups(daemon);
    expect(after.confidenceScore).not.toBe(before.confidenceScore);
    const { result } = await runJob(daemon, "/api/v1/analysis", { force: true });
    expect(result).toMatchObject({ groupsCreated: 0, groupsUpdated: 0, groupsRemoved: 0 });
    const [analysed] = await groups(daemon);
    expect({ ...analysed, updatedAt: "" }).toEqual({ ...after, updatedAt: "" });
    expect(await put(daemon, weights)).not.toHaveProperty("meta");
    const back = await put(daemon, { confidenceWeightJaccard: 60, confidenceWeightFuzzy: 40 });
    expect(back.meta).toEqual({ recalculatedGroups: 1, analysisStale: true });
    await runJob(daemon, "/api/v1/analysis");
    expect((await groups(daemon))[0]).toMatchObject({ confidenceScore: before.confidenceScore });
  });

  it("calls the analysis stale for a penalty only when a verified pair changes sides", async () => {
    const lower = await put(daemon, { discriminativePenaltyStrength: 69 });
    expect(lower.meta).toEqual({ recalculatedGroups: 1 });
    const none = await put(daemon, { discriminativePenaltyStrength: 0 });
    expect(none.meta).toEqual({ recalculatedGroups: 1, analysisStale: true });
    const former = await put(daemon, { confidenceWeightDiscriminative: 15 });
    expect(former).toEqual({ status: 200, data: defaults, meta: { recalculatedGroups: 1 } });
    const both = { confidenceWeightDiscriminative: 1, discriminativePenaltyStrength: 70 };
    expect(await put(daemon, both)).toEqual({ status: 200, data: defaults });
  });

  it("calls the analysis stale for a threshold until it is back or another analysis ran", async () => {
    expect((await put(daemon, { similarityThreshold: 0.9 })).meta).toEqual({ analysisStale: true });
    expect((await put(daemon, { autoAnalyze: true })).meta).toEqual({ analysisStale: true });
    expect(await put(daemon, { similarityThreshold: 0.75 })).not.toHaveProperty("meta");
    const many = await put(daemon, { numPermutations: 128, numBands: 16 });
    expect(many.data).toMatchObject({ numPermutations: 128, numBands: 16 });
    expect(many.meta).toEqual({
      analysisStale: true,
      warnings: [expect.stringContaining("are missed with 16 bands of 128 values")],
    });
    const status = async (): Promise<any> =>
      (await rest(daemon, "GET", "/api/v1/analysis/status")).json.data;
    expect(await status()).toMatchObject({ analysisStale: true, warnings: many.meta.warnings });
    const { result } = await runJob(daemon, "/api/v1/analysis");
    expect(result.warnings).toEqual(many.meta.warnings);
    expect(await status()).toMatchObject({ analysisStale: false, warnings: many.meta.warnings });
    expect(await put(daemon, { autoAnalyze: true })).not.toHaveProperty("meta");
    await put(daemon, { numPermutations: 256, numBands: 64 });
    await runJob(daemon, "/api/v1/analysis");
  });

  it("chooses the bands by the threshold until they are set, also for who sends all back", async () => {
    const high = await put(daemon, { ...defaults, similarityThreshold: 0.9 });
    expect(high.data.numBands).toBe(32);
    const low = await put(daemon, { ...high.data, similarityThreshold: 0.3 });
    expect(low.data.numBands).toBe(256);
    expect(low.meta.warnings).toEqual([expect.stringContaining("without a common phrase")]);
    expect((await put(daemon, { numBands: 100 })).data.numBands).toBe(100);
    expect((await put(daemon, { similarityThreshold: 0.75 })).data.numBands).toBe(100);
    expect((await put(daemon, { numBands: 64 })).data.numBands).toBe(64);
    expect((await put(daemon, { similarityThreshold: 0.9 })).data.numBands).toBe(32);
    expect(await put(daemon, { similarityThreshold: 0.75 })).toEqual({
      status: 200,
      data: defaults,
    });
  });
});

describe("GET /pairs/{a}/{b}", () => {
  let ids: Readonly<Record<string, string>>;

  beforeAll(async () => {
    const { data } = (await rest(daemon, "GET", "/api/v1/documents")).json;
    ids = Object.fromEntries(
      (data as { id: string; archiveRef: string }[]).map(({ id, archiveRef }) => [archiveRef, id]),
    );
  });

  const pair = async (a: string, b: string, query = ""): Promise<any> =>
    (await rest(daemon, "GET", `/api/v1/pairs/${a}/${b}${query}`)).json;

  it("has the scores of the pair in its group, whichever comes first", async () => {
    const [{ id }] = (await groups(daemon)) as [{ id: string }];
    const group = (await rest(daemon, "GET", `/api/v1/duplicates/${id}`)).json.data;
    expect(group.pairs.length).toBeGreaterThan(1);
    for (const { docA, docB, ...scores } of group.pairs) {
      const { data } = await pair(docA, docB);
      expect(data).toMatchObject({ docA, docB, ...scores, reachesThreshold: true, groupIds: [id] });
      const turned = (await pair(docB, docA)).data;
      expect(turned).toMatchObject({ docA: docB, docB: docA, ...scores });
    }
  });

  it("scores and explains two documents that share no group", async () => {
    const [march, june] = [ids["bills/water-march.txt"] ?? "", ids["bills/water-june.txt"] ?? ""];
    const { data } = await pair(march, june);
    expect(data).toMatchObject({
      reachesThreshold: false,
      sameText: false,
      truncated: false,
      groupIds: [],
      textA: { fullText: smallArchive["bills/water-march.txt"] },
      textB: { fullText: smallArchive["bills/water-june.txt"] },
    });
    expect(data.jaccardSimilarity).toBeGreaterThan(0.5);
    expect(data.confidenceScore).toBeCloseTo(
      (0.6 * data.jaccardSimilarity + 0.4 * data.fuzzyTextRatio) *
        (1 - 0.7 * (1 - data.discriminativeScore)),
      12,
    );
    expect(data.tokens).toContainEqual({
      category: "dates",
      shared: [],
      onlyA: ["2024-03-14"],
      onlyB: ["2024-06-14"],
      shortened: false,
    });
    expect(data.reasons).toContain("different dates: 2024-03-14 / 2024-06-14");
    const turned = (await pair(june, march, "?light=true")).data;
    expect(turned.reasons).toContain("different dates: 2024-06-14 / 2024-03-14");
    expect([turned.textA, turned.textB]).toEqual([null, null]);
    const weights = { confidenceWeightJaccard: 100, confidenceWeightFuzzy: 0 };
    await put(daemon, { ...weights, discriminativePenaltyStrength: 0 });
    expect((await pair(march, june)).data).toMatchObject({
      confidenceScore: data.jaccardSimilarity,
      fuzzyTextRatio: data.fuzzyTextRatio,
    });
    await put(daemon, defaults);
  });

  it("calls equal texts an exact copy", async () => {
    const { data } = await pair(
      ids["minutes/fence.txt"] ?? "",
      ids["minutes/fence-copy.txt"] ?? "",
    );
    expect(data).toMatchObject({ confidenceScore: 1, sameText: true, reachesThreshold: true });
    expect(data.reasons).toEqual(["exact copy: the texts are the same, word for word"]);
  });

  it("names a document that is not there, and refuses a pair of one document", async () => {
    const known = ids["minutes/fence.txt"] ?? "";
    for (const [a, b] of [
      [known, "nobody"],
      ["nobody", known],
    ] as const) {
      const { error } = await pair(a, b);
      expect(error.code).toBe("NOT_FOUND");
      expect(error.message).toContain('"nobody"');
    }
    const { error } = await pair(known, known);
    expect(error).toMatchObject({
      code: "VALIDATION_FAILED",
      details: [{ path: ["b"], rule: "different_documents" }],
    });
  });
});

it("settings of the file win over the API, which says so, and stay after a restart", async () => {
  const folder = temporaryFolder();
  writeFiles(folder, smallArchive);
  const pinned = folderConfig(temporaryFolder(), folder, "  analysis:\n    ngram_size: 4\n");
  let other = await startDaemon({ config: pinned });
  const { data, meta } = await put(other, { ngramSize: 2, minWords: 5 });
  expect(data).toMatchObject({ ngramSize: 4, minWords: 5 });
  expect(meta).toEqual({ ignored: ["ngramSize"] });
  await other.stop();
  other = await startDaemon({ config: pinned });
  expect((await rest(other, "GET", "/api/v1/config/dedup")).json.data).toMatchObject({
    ngramSize: 4,
    minWords: 5,
  });
  await other.stop();
});
