/** A file that is written to while it is read. */
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { readFile } from "../../../workers/extract/extract.ts";
import { pdf } from "../../support/documents.ts";

const drawing = { dictionary: "", stream: Buffer.from("0 0 m 100 100 l S") };

it.each([
  ["that has a text", pdf(["words"])],
  ["that would be refused, so that its document is not taken for deleted", pdf([drawing])],
])("a file %s counts as changed", async (_, bytes) => {
  const folder = mkdtempSync(join(tmpdir(), "steward-extract-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "a.pdf");
  writeFileSync(path, bytes);
  const found = await readFile(path, { units: 1_000, alone: true }, () => {
    appendFileSync(path, "\n");
    return false;
  });
  expect(found).toEqual({ kind: "changed" });
});
