/** AI results of documents that are in no Paperless-ngx. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { fillPapers, resultsOf, startAiEstate, suggestForAll } from "./ai-estate.ts";
import { jobEnd, removeTemporaryFolders, rest, temporaryFolder } from "./daemon.ts";

afterAll(removeTemporaryFolders);

it("cannot be applied: 409 names the way there is, and a batch applies the others", async () => {
  const folder = temporaryFolder();
  const files = join(folder, "files");
  mkdirSync(files);
  writeFileSync(join(files, "bill.txt"), "A water bill in a folder with a sum and a date");
  const lines = join(folder, "lines.jsonl");
  writeFileSync(lines, '{"id": "1", "text": "A water bill in a line with a sum and a date"}\n');
  const estate = await startAiEstate(
    fillPapers(1),
    `    - {name: files, kind: folder, path: ${files}}\n    - {name: lines, kind: jsonl, path: ${lines}}\n`,
  );
  const daemon = await estate.start();
  await suggestForAll(daemon);
  const results = await resultsOf(daemon);
  expect(results).toHaveLength(3);
  const unsorted: string[] = results
    .filter(({ paperlessId }) => paperlessId === null)
    .map(({ id }) => id);
  const others = unsorted.toSorted();
  const refused = [
    ...others.map((id) => [`/results/${id}/apply`, {}] as const),
    ["/results/batch-apply", { resultIds: others }] as const,
  ];
  for (const [path, body] of refused) {
    const { status, json } = await rest(daemon, "POST", `/api/v1/ai${path}`, body);
    expect([path, status, json.error.code]).toEqual([path, 409, "CONFLICT"]);
    expect(json.error.message).toContain("is not a Paperless-ngx");
    expect(json.error.message).toContain("GET /api/v1/ai/results");
  }
  const { json } = await rest(daemon, "POST", "/api/v1/ai/results/apply-all", {});
  const { result } = await jobEnd(daemon, json.data.jobId as string);
  expect(result).toMatchObject({ applied: 1, failed: 2, skipped: 0 });
  const failed: string[] = result.errors.map(({ resultId }: any) => resultId);
  expect(failed.toSorted()).toEqual(others);
  const pending = await resultsOf(daemon, "&status=pending");
  const left: string[] = pending.map(({ id }) => id);
  expect(left.toSorted()).toEqual(others);
});
