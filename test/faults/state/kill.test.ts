import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import { numberedTable, payloadOf } from "../../kernel/state/fixtures/numbered.ts";
import { quietLog, temporaryFolder } from "../../kernel/state/fixtures/tables.ts";
import { spawn } from "../../support/spawn.ts";
import { isLongRun } from "../../support/long-run.ts";

const KILLS = isLongRun ? 200 : 20;
const writer = fileURLToPath(new URL("../../kernel/state/fixtures/writer.ts", import.meta.url));

/**
 * Runs the writer and kills it at a random moment after its first answer; gives the numbers that it
 * printed.
 */
async function killOnce(directory: string, first: number): Promise<number[]> {
  const child = spawn(process.execPath, [writer, directory, String(first)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const acknowledged: number[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (acknowledged.length === 0) void sleep(Math.random() * 60).then(() => child.kill("SIGKILL"));
    acknowledged.push(Number(line));
  }
  return acknowledged;
}

it(
  `loses no acknowledged row over ${KILLS} kills at random moments, and every reopened store is sound`,
  { timeout: KILLS * 10_000 },
  async () => {
    const directory = temporaryFolder();
    const expected = new Set<number>();
    let first = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const acknowledged = await killOnce(directory, first);
      expect(acknowledged.length).toBeGreaterThan(0);
      const env = await createStateFactory({ directory, clock: systemClock, log: quietLog }).open({
        name: "kill",
        tables: [numberedTable],
        schema: 1,
        derived: false,
        maxBytes: 2 ** 30,
      });
      env.read((snapshot) => {
        const rows = new Map(snapshot.range(numberedTable));
        for (const [number, payload] of rows) expect(payload).toEqual(payloadOf(number));
        for (const number of acknowledged)
          if (number % 7 !== 6 || rows.has(number)) expected.add(number);
        for (const number of expected)
          if (!rows.has(number))
            expect(number % 7, `the acknowledged row ${number} is missing`).toBe(6);
        expect(snapshot.count(numberedTable)).toBe(rows.size);
        for (const number of acknowledged)
          if (
            number % 7 === 0 &&
            number > 0 &&
            number - 1 >= first &&
            acknowledged.includes(number - 1)
          )
            expect([number, rows.has(number)]).toEqual([number, true]);
        expect(
          Array.from(
            { length: 10 },
            (_, digit) => snapshot.find(numberedTable, "last_digit", [digit]).length,
          ).reduce((sum, rows) => sum + rows, 0),
        ).toBe(rows.size);
        first = Math.max(first, ...rows.keys()) + 100;
      });
      await env.close();
    }
  },
);
