import { describe, expect, it } from "vitest";
import {
  ANALYSIS_SCOPE,
  analysisKeys,
  analysisRules,
  analysisSchema,
  checkAnalysis,
  readParameters,
} from "../../../src/dedup/analysis/settings.ts";
import {
  defaultParameters,
  parameterRanges,
  type AnalysisParameters,
  type NumberName,
} from "../../../src/dedup/analysis/parameters.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { formatFinding } from "../../../src/kernel/config/findings.ts";
import { loadConfig, type LoadResult } from "../../../src/kernel/config/load.ts";
import { createSettings } from "../../../src/kernel/settings/settings.ts";
import { settingsTable } from "../../../src/kernel/settings/table.ts";
import type { Settings } from "../../../src/kernel/settings/types.ts";
import type { Env } from "../../../src/kernel/state/types.ts";
import { openEnv, temporaryFolder } from "../../kernel/state/fixtures/tables.ts";

type Values = Readonly<Record<string, string>>;

/** Variables by the last part of the key. */
function load(variables: Values, file?: string): LoadResult {
  const environment = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => [
      `STEWARD_DEDUP__ANALYSIS__${name.toUpperCase()}`,
      value,
    ]),
  );
  return loadConfig({
    ...(file === undefined ? {} : { file: "f.yaml" }),
    environment,
    schema: analysisSchema,
    checks: [checkAnalysis],
    readFile: () => file ?? "",
  });
}

function problems(variables: Values, file?: string): string[] {
  return load(variables, file).findings.map(formatFinding);
}

/** A start with this configuration over this store. */
function start(
  env: Env,
  variables: Values = {},
  file?: string,
): { settings: Settings; parameters: () => AnalysisParameters; lines: string[] } {
  const { config } = load(variables, file);
  if (config === undefined) throw new Error("the test's configuration is sound");
  const lines: string[] = [];
  const log = createLog({
    level: "warn",
    format: "text",
    now: () => 0,
    write: (line) => lines.push(line),
  });
  const settings = createSettings(
    { env, config, log },
    { schema: analysisSchema, checks: [analysisRules] },
  );
  return { settings, parameters: () => readParameters({ settings, config, log }), lines };
}

const store = (): Promise<Env> => openEnv(temporaryFolder(), { tables: [settingsTable] });

describe("the settings of the analysis", () => {
  it("are the defaults until somebody says otherwise", async () => {
    expect(start(await store()).parameters()).toEqual(defaultParameters);
  });

  it("are the API's names in the manner of the file", () => {
    expect(analysisSchema.map(({ path }) => path.slice(ANALYSIS_SCOPE.length + 1))).toEqual([
      "num_permutations",
      "num_bands",
      "ngram_size",
      "min_words",
      "similarity_threshold",
      "confidence_weight_jaccard",
      "confidence_weight_fuzzy",
      "discriminative_penalty_strength",
      "fuzzy_sample_size",
      "auto_analyze",
    ]);
    expect(Object.keys(analysisKeys)).toEqual(Object.keys(defaultParameters));
  });

  it("come from a stored setting, above it the file, above that the environment", async () => {
    const env = await store();
    await start(env).settings.change(ANALYSIS_SCOPE, {
      ngram_size: 4,
      min_words: 5,
      similarity_threshold: 0.8,
      auto_analyze: false,
    });
    expect(start(env).parameters()).toEqual({
      ...defaultParameters,
      // Fewer bands find the pairs of a higher threshold.
      numBands: 51,
      ngramSize: 4,
      minWords: 5,
      similarityThreshold: 0.8,
      autoAnalyze: false,
    });
    const file = "dedup:\n  analysis:\n    min_words: 6\n    similarity_threshold: 0.9\n";
    expect(start(env, { similarity_threshold: "0.95" }, file).parameters()).toMatchObject({
      ngramSize: 4,
      minWords: 6,
      similarityThreshold: 0.95,
    });
  });

  it("change while the process runs, but for what the operator wrote", async () => {
    const { settings, parameters } = start(await store(), { min_words: "7" });
    expect(
      await settings.change(ANALYSIS_SCOPE, {
        confidence_weight_jaccard: 70,
        confidence_weight_fuzzy: 30,
        min_words: 9,
      }),
    ).toEqual({
      changed: ["confidence_weight_fuzzy", "confidence_weight_jaccard"],
      ignored: ["min_words"],
    });
    expect(parameters()).toMatchObject({
      confidenceWeightJaccard: 70,
      confidenceWeightFuzzy: 30,
      minWords: 7,
    });
  });

  it.each(Object.entries(parameterRanges))(
    "keep %s in its range",
    (name, { least: given, most, whole }) => {
      // Zero leaves the number of bands to the other parameters.
      const least = name === "numBands" ? 0 : given;
      const leaf = analysisKeys[name as NumberName].path.slice(ANALYSIS_SCOPE.length + 1);
      const step = whole ? 1 : 0.001;
      for (const wrong of [
        `${least - step}`,
        `${most + step}`,
        "some",
        ...(whole ? [`${least}.5`] : []),
      ]) {
        expect(problems({ [leaf]: wrong })[0]).toMatch(
          new RegExp(
            `^ERROR dedup\\.analysis\\.${leaf}: must be a (whole )?number from ${least} to ${most}, got "?${wrong}`,
          ),
        );
      }
      expect(problems({ [leaf]: "some" })).toHaveLength(1);
    },
  );

  it("take a threshold as any JSON writes it", async () => {
    const { settings, parameters } = start(await store());
    for (const similarity_threshold of [0, 1, 0.75, 1e-7]) {
      await settings.change(ANALYSIS_SCOPE, { similarity_threshold });
      expect(parameters().similarityThreshold).toBe(similarity_threshold);
    }
  });
});

describe("the rules over several of them", () => {
  it("refuse a start, naming who wrote it", () => {
    expect(problems({ num_permutations: "32" })).toEqual([]);
    expect(problems({ confidence_weight_jaccard: "50" })).toEqual([
      "ERROR dedup.analysis.confidence_weight_jaccard: and confidence_weight_fuzzy must add up to 100, and add up to 90 (STEWARD_DEDUP__ANALYSIS__CONFIDENCE_WEIGHT_JACCARD) — set both.",
    ]);
    expect(
      problems({}, "dedup:\n  analysis:\n    num_bands: 100\n    num_permutations: 64\n"),
    ).toEqual([
      "ERROR dedup.analysis.num_bands: must not exceed num_permutations, 64, and is 100 (line 3) — set both.",
    ]);
    expect(problems({ num_permutations: "32", num_bands: "32" })).toEqual([]);
  });

  it("refuse a change and leave everything as it was", async () => {
    const { settings, parameters } = start(await store());
    await expect(
      settings.change(ANALYSIS_SCOPE, { confidence_weight_fuzzy: 30, min_words: 3 }),
    ).rejects.toMatchObject({
      code: "invalid",
      details: [
        {
          path: ["confidence_weight_jaccard"],
          message: expect.stringContaining("add up to 90") as string,
        },
      ],
    });
    expect(parameters()).toEqual(defaultParameters);
  });

  it("set stored settings aside that do not go with what the operator has written since", async () => {
    const env = await store();
    await start(env).settings.change(ANALYSIS_SCOPE, {
      confidence_weight_jaccard: 70,
      confidence_weight_fuzzy: 30,
    });
    const { parameters, lines } = start(env, { confidence_weight_fuzzy: "40" });
    expect(parameters()).toMatchObject({ confidenceWeightJaccard: 60, confidenceWeightFuzzy: 40 });
    expect(lines).toEqual([
      expect.stringContaining("stored analysis settings conflict with the configuration") as string,
    ]);
    expect(start(env).parameters()).toMatchObject({
      confidenceWeightJaccard: 70,
      confidenceWeightFuzzy: 30,
    });
  });
});
