import { describe, expect, it } from "vitest";
import { mulberry32 } from "../../../bench/corpus.ts";
import { defaultParameters } from "../../../src/dedup/analysis/parameters.ts";
import type { AnalysisParameters } from "../../../src/dedup/analysis/parameters.ts";
import { weightsFingerprint } from "../../../src/dedup/analysis/staleness.ts";
import { createRescoring } from "../../../src/dedup/groups/rescoring.ts";
import { metaText } from "../../../src/dedup/meta.ts";
import { temporaryFolder } from "../../kernel/state/fixtures/tables.ts";
import { edited, openBench, prose } from "./bench.ts";
import type { Bench } from "./bench.ts";

type Weights = Partial<AnalysisParameters>;

const jaccardAlone: Weights = {
  confidenceWeightJaccard: 100,
  confidenceWeightFuzzy: 0,
  discriminativePenaltyStrength: 0,
};
const even: Weights = { confidenceWeightJaccard: 50, confidenceWeightFuzzy: 50 };

async function fill(bench: Bench): Promise<void> {
  const random = mulberry32(9);
  for (let docNo = 1; docNo <= 60; docNo += 1) {
    const text = `${prose(docNo % 7)} on 2024-01-02 total $${docNo % 3}00.50`;
    await bench.put(
      docNo,
      random() < 0.3 ? text : edited(text, Math.floor(random() * 60), `edit${docNo}`),
    );
  }
}

function rescoringOf(bench: Bench, parameters: () => AnalysisParameters) {
  return createRescoring({ ...bench, parameters });
}

/** What an analysis decides about scores. */
function scores(bench: Bench): unknown[] {
  return bench.groups().map(({ row }) => ({
    members: row.members,
    confidence: row.confidence,
    jaccard: row.jaccard,
    fuzzy: row.fuzzy,
    discriminative: row.discriminative,
    pairMembers: row.pairMembers,
    pairScores: row.pairScores,
  }));
}

describe("scores under other weights", () => {
  it.each<[string, Weights, Weights]>([
    ["even weights", {}, even],
    ["a lower penalty", {}, { discriminativePenaltyStrength: 20 }],
    ["no fuzzy ratio and no penalty", {}, jaccardAlone],
    ["a fuzzy ratio and a penalty that were not computed", jaccardAlone, {}],
  ])("are those of an analysis: %s", async (_, before, after) => {
    // So low that no pair changes sides: both analyses find the same groups.
    const fixed = { similarityThreshold: 0.55, numBands: 64 };
    const directory = temporaryFolder();
    const first = await openBench({ directory, parameters: { ...fixed, ...before } });
    await fill(first);
    await first.analyse();
    const found = scores(first);
    const parameters = { ...defaultParameters, ...fixed, ...after };
    expect(await rescoringOf(first, () => parameters).run()).toBe(found.length);
    const rescored = scores(first);
    expect(rescored).not.toEqual(found);
    await first.close();
    const second = await openBench({ directory, parameters: { ...fixed, ...after } });
    expect(await second.analyse({ force: true })).toMatchObject({
      groupsCreated: 0,
      groupsRemoved: 0,
    });
    expect(rescored).toEqual(scores(second));
    await second.close();
  });

  it("are left alone when they have the weights already, and before the first analysis", async () => {
    const bench = await openBench();
    const rescoring = rescoringOf(bench, () => defaultParameters);
    expect(await rescoring.run()).toBe(0);
    await fill(bench);
    await bench.analyse();
    const before = bench.groups();
    expect(await rescoring.run()).toBe(before.length);
    expect(bench.groups()).toEqual(before);
    await bench.close();
  });

  it("are complete after a stop in the middle and another run, and follow the newest weights", async () => {
    const bench = await openBench();
    await fill(bench);
    await bench.analyse();
    let parameters: AnalysisParameters = { ...defaultParameters, ...even };
    const stopped = rescoringOf(bench, () => parameters);
    const running = stopped.run();
    await stopped.stop(new Error("stopped"));
    await running.catch(() => undefined);
    const rescoring = rescoringOf(bench, () => parameters);
    const runs = [rescoring.run()];
    parameters = { ...parameters, discriminativePenaltyStrength: 10 };
    runs.push(rescoring.run());
    await Promise.all(runs);
    expect(bench.env.read((snapshot) => metaText(snapshot, "scoreWeights"))).toBe(
      weightsFingerprint(parameters),
    );
    for (const { row } of bench.groups())
      for (let at = 0; at < row.pairScores.length; at += 4) {
        const [confidence = 0, jaccard = 0, fuzzy = 0, d = 0] = row.pairScores.slice(at, at + 4);
        expect(confidence).toBeCloseTo(((jaccard + fuzzy) / 2) * (1 - 0.1 * (1 - d)), 12);
      }
    await bench.close();
  });
});
