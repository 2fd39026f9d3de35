/** Documents whose rows are large: with 200 tags of 100 characters each. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { fillPapers, startAiEstate, suggestForAll } from "./ai-estate.ts";
import { analysesEnd, removeTemporaryFolders, rest, runJob, temporaryFolder } from "./daemon.ts";
import { textOf } from "./paperless-estate.ts";

afterAll(removeTemporaryFolders);

const COUNT = 64;

it("are analysed, and their suggestions are rejected all at once", async () => {
  const file = join(temporaryFolder(), "lines.jsonl");
  const tags = Array.from({ length: 200 }, (_, at) => `${at} `.padEnd(100, "tag"));
  const lines = Array.from({ length: COUNT }, (_, at) => ({
    id: `${at}`,
    text: textOf(Math.floor(at / 2)),
    tags,
  }));
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const row = `    - {name: lines, kind: jsonl, path: ${file}}\n`;
  const estate = await startAiEstate(fillPapers(1), row);
  const daemon = await estate.start();
  await suggestForAll(daemon);
  await analysesEnd(daemon);
  const analysis = await runJob(daemon, "/api/v1/analysis", { force: true });
  expect([analysis.status, analysis.errorMessage]).toEqual(["completed", null]);
  const { json } = await rest(daemon, "GET", "/api/v1/duplicates?limit=100");
  expect(json.data.length).toBe(COUNT / 2);
  const rejected = await rest(daemon, "POST", "/api/v1/ai/results/reject-all", {});
  expect([rejected.status, rejected.json.data]).toEqual([200, { rejected: COUNT + 1 }]);
});
