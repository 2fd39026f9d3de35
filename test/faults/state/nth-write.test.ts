/**
 * LMDB's own writes fail at one place after another: files limited to every few kilobytes, as a
 * disk that takes no more.
 */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import { numberedTable } from "../../kernel/state/fixtures/numbered.ts";
import { quietLog, temporaryFolder } from "../../kernel/state/fixtures/tables.ts";
import { isLongRun } from "../../support/long-run.ts";

const LIMITS = isLongRun ? 60 : 6;
/** A shell's `ulimit -f` counts in these. */
const BLOCK_BYTES = 512;

interface Outcome {
  readonly stored: number;
  readonly code: string;
  readonly counted: number;
  readonly read: number;
  readonly unhandled: number;
}

/** Runs the filler with files of at most these bytes; undefined when it could not even begin. */
function fill(directory: string, bytes: number): Promise<Outcome | undefined> {
  const filler = fileURLToPath(new URL("../../kernel/state/fixtures/filler.ts", import.meta.url));
  return new Promise((resolve) => {
    execFile(
      "sh",
      [
        "-c",
        `trap '' XFSZ; ulimit -f ${bytes / BLOCK_BYTES}; exec "$0" "$@"`,
        process.execPath,
        filler,
        directory,
      ],
      (_, stdout) => resolve(stdout === "" ? undefined : (JSON.parse(stdout) as Outcome)),
    );
  });
}

it(
  `loses nothing that was acknowledged wherever one of ${LIMITS} writes fails, and goes on when the fault has ended`,
  { timeout: LIMITS * 20_000 },
  async () => {
    for (let at = 0; at < LIMITS; at += 1) {
      const limit = (3 + at) * 7 * 4_096 + (at % 8) * BLOCK_BYTES;
      const directory = temporaryFolder();
      const outcome = await fill(directory, limit);
      if (outcome !== undefined) {
        expect([limit, outcome.unhandled, outcome.counted, outcome.read]).toEqual([
          limit,
          0,
          outcome.stored,
          outcome.stored,
        ]);
        expect(["disk_full", "not_ready"]).toContain(outcome.code);
      }
      const env = await createStateFactory({ directory, clock: systemClock, log: quietLog }).open({
        name: "kill",
        tables: [numberedTable],
        schema: 1,
        derived: false,
        maxBytes: 2 ** 30,
      });
      expect([limit, env.status().rows["numbered"]]).toEqual([limit, outcome?.stored ?? 0]);
      await env.write((tx) => tx.put(numberedTable, 999, new Uint8Array(50_000)));
      await env.close();
    }
  },
);
