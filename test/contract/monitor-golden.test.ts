/**
 * Everything that the daemon tells of simulated networks with fixed seeds, on a clock that stands: the whole exposition, the whole
 * OTLP requests and the whole status, line by line. `STEWARD_TEST_GOLDEN=1` writes the files in `golden/` anew; what changed in them
 * is then to be read, line by line too. What is not compared stands in `golden/normalise.ts`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { STAGE_BEGINS_MS } from "../monitor/stage.ts";
import { removeTemporaryFolders } from "./daemon.ts";
import { named, normaliseExposition, normaliseLogs, normaliseMetrics, normaliseStatus } from "./golden/normalise.ts";
import { runGolden, type GoldenRun } from "./golden/run.ts";
import { SCENES, type SceneName } from "./golden/scenes.ts";

const rewrite = process.env["STEWARD_TEST_GOLDEN"] === "1";
const folder = join(import.meta.dirname, "golden");
/** So many differing lines are shown. */
const SHOWN = 20;

afterAll(removeTemporaryFolders);

const runs = new Map<SceneName, GoldenRun>();
beforeAll(async () => {
  for (const scene of SCENES) runs.set(scene, await runGolden(scene));
}, 180_000);

function runOf(scene: SceneName): GoldenRun {
  const run = runs.get(scene);
  if (run === undefined) throw new Error(`the scene ${scene} did not run`);
  return run;
}

/** Compares whole texts; a difference is shown by its lines, since the texts are long. */
function compare(scene: SceneName, file: string, text: string): void {
  const path = join(folder, `${scene}.${file}`);
  const told = named(text, runOf(scene).names);
  if (rewrite) writeFileSync(path, told);
  const golden = readFileSync(path, "utf8");
  const [expected, found] = [new Set(golden.split("\n")), new Set(told.split("\n"))];
  const only = (lines: Set<string>, others: Set<string>): string[] => [...lines].filter((line) => !others.has(line)).slice(0, SHOWN);
  expect({ missing: only(expected, found), unexpected: only(found, expected) }, path).toEqual({ missing: [], unexpected: [] });
  expect(told === golden, `${path}: the lines are the same, in another order or number`).toBe(true);
}

describe.each(SCENES)("what the daemon tells of the scene %s", (scene) => {
  it("is this exposition", () => {
    compare(scene, "exposition.txt", normaliseExposition(runOf(scene).exposition));
  });

  it("is these OTLP requests of metrics", () => {
    compare(scene, "metrics.txt", normaliseMetrics(runOf(scene).points, STAGE_BEGINS_MS));
  });

  it("is these OTLP log records", () => {
    compare(scene, "logs.txt", normaliseLogs(runOf(scene).logs, STAGE_BEGINS_MS));
  });

  it("is this status", () => {
    compare(scene, "status.json", normaliseStatus(runOf(scene).status));
  });
});
