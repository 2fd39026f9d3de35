import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import { numberedTable } from "./fixtures/numbered.ts";
import { quietLog, temporaryFolder } from "./fixtures/tables.ts";

interface Outcome {
  readonly stored: number;
  readonly code: string;
  readonly effects: number;
  readonly healthy: boolean;
  readonly counted: number;
  readonly read: number;
  readonly unhandled: number;
}

/** Runs the filler with files limited to 2 MiB, as a disk that is full after that. */
function fill(directory: string): Promise<Outcome> {
  const filler = fileURLToPath(new URL("./fixtures/filler.ts", import.meta.url));
  return new Promise((resolve) => {
    execFile(
      "sh",
      ["-c", 'trap \'\' XFSZ; ulimit -f 4096; exec "$0" "$@"', process.execPath, filler, directory],
      (_, stdout) => resolve(JSON.parse(stdout) as Outcome),
    );
  });
}

it("refuses what the disk does not take, keeps and reads what it took, and opens again after a kill in that state", async () => {
  const directory = temporaryFolder();
  const outcome = await fill(directory);
  expect(outcome.stored).toBeGreaterThan(10);
  expect(["disk_full", "not_ready"]).toContain(outcome.code); // a short write on a disk with room is the disk's failure
  expect(outcome).toMatchObject({
    effects: outcome.stored,
    healthy: false,
    counted: outcome.stored,
    read: outcome.stored,
    unhandled: 0,
  });
  const env = await createStateFactory({ directory, clock: systemClock, log: quietLog }).open({
    name: "kill",
    tables: [numberedTable],
    schema: 1,
    derived: false,
    maxBytes: 2 ** 30,
  });
  expect(env.status().rows["numbered"]).toBe(outcome.stored);
  await env.write((tx) => tx.put(numberedTable, outcome.stored, new Uint8Array(50_000)));
  await env.close();
});
