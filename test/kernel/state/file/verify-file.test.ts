import { join } from "node:path";
import { expect, it } from "vitest";
import { verifyFile } from "../../../../src/kernel/state/file/verify-file.ts";
import { numbers, openEnv, temporaryFolder } from "../fixtures/tables.ts";

it.each([
  ["small rows", 16, 2_000],
  ["rows with pages of their own", 20_000, 20],
])("the check of a store lets other work go on between %s", async (_, bytes, rows) => {
  const directory = temporaryFolder();
  const env = await openEnv(directory);
  await env.write((tx) => {
    for (let row = 0; row < rows; row += 1) tx.put(numbers, row, new Uint8Array(bytes));
  });
  await env.close();
  let turns = 0;
  const others = (): void => {
    turns += 1;
    next = setImmediate(others);
  };
  let next = setImmediate(others);
  const pause = new Int32Array(new SharedArrayBuffer(4));
  let seen = 0;
  await verifyFile(join(directory, "test.mdb"), {
    visit: () => {
      seen += 1;
      if (seen % (rows / 20) === 0) Atomics.wait(pause, 0, 0, 5); // a slow disk
    },
  });
  clearImmediate(next);
  expect(turns).toBeGreaterThan(5);
});
