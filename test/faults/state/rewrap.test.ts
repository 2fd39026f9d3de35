/**
 * Killed while the root key is exchanged: the old or the new one opens the store, exactly one of
 * them, and every row is there.
 */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import { sealedTable } from "../../kernel/state/fixtures/sealed.ts";
import { quietLog, temporaryFolder } from "../../kernel/state/fixtures/tables.ts";
import { spawn } from "../../support/spawn.ts";
import { isLongRun } from "../../support/long-run.ts";

const KILLS = isLongRun ? 100 : 8;
const rewrapper = fileURLToPath(
  new URL("../../kernel/state/fixtures/rewrapper.ts", import.meta.url),
);

/** The root key that was last said to be in force, and the one that was on its way. */
async function killOnce(
  directory: string,
  rootKey: string,
): Promise<{ last: string; next: string | undefined }> {
  const child = spawn(process.execPath, [rewrapper, directory, rootKey], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let last = rootKey;
  let next: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const [what, key = ""] = line.split(" ");
    if (what === "begin") {
      if (last === rootKey && next === undefined)
        void sleep(Math.random() * 40).then(() => child.kill("SIGKILL"));
      next = key;
    } else [last, next] = [key, undefined];
  }
  return { last, next };
}

it(
  `opens by exactly one of the two root keys after each of ${KILLS} kills`,
  { timeout: KILLS * 10_000 },
  async () => {
    const directory = temporaryFolder();
    let rootKey = "07".repeat(32);
    for (let kill = 0; kill < KILLS; kill += 1) {
      const { last, next } = await killOnce(directory, rootKey);
      const env = await createStateFactory({ directory, clock: systemClock, log: quietLog }).open({
        name: "kill",
        tables: [sealedTable],
        schema: 1,
        derived: false,
        maxBytes: 2 ** 30,
      });
      const opens: string[] = [];
      for (const key of [last, next].filter((one) => one !== undefined)) {
        await env.keyring?.unseal(Buffer.from(key, "hex")).then(
          () => opens.push(key),
          () => undefined,
        );
      }
      expect(opens).toHaveLength(1);
      rootKey = opens[0] ?? "";
      expect(env.read((snapshot) => snapshot.get(sealedTable, "row"))).toBe("value");
      await env.close();
    }
  },
);
