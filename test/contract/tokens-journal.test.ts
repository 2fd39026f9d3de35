import { execFile } from "node:child_process";
import { once } from "node:events";
import { closeSync, fstatSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { cleanEnvironment, removeTemporaryFolders, temporaryFolder } from "./daemon.ts";
import { vaultRequest } from "./vault.ts";
import { LAUNCHER } from "../support/launcher.ts";
import { spawn } from "../support/spawn.ts";

afterAll(removeTemporaryFolders);

/** Starts the daemon with standard error in a file that it is told is systemd's journal. */
async function startJournalled(
  config: string,
  log: string,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const file = openSync(log, "w");
  const { dev, ino } = fstatSync(file);
  const child = spawn(LAUNCHER, ["-config", config], {
    env: { ...cleanEnvironment, JOURNAL_STREAM: `${dev}:${ino}` },
    stdio: ["ignore", "pipe", file],
  });
  closeSync(file);
  const { stdout } = child;
  if (stdout === null) throw new Error("standard output is a pipe");
  const [line] = (await once(createInterface({ input: stdout }), "line")) as [string];
  return {
    url: line.replace(/^.* on /, ""),
    async stop() {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

it("under systemd no root token is shown where the journal would keep it, and the command makes one", async () => {
  const folder = temporaryFolder();
  const [config, log] = [join(folder, "steward.yaml"), join(folder, "journal")];
  writeFileSync(
    config,
    `gateway: { listen: "127.0.0.1:0" }\nstate: { directory: ${join(folder, "state")} }\nservices: { dedup: false, monitor: false }\n`,
    { mode: 0o600 },
  );
  const first = await startJournalled(config, log);
  await first.stop();
  expect(readFileSync(log, "utf8")).not.toContain("hvs.");
  expect(readFileSync(log, "utf8")).toContain("run `steward root-token`");
  const { stdout } = await promisify(execFile)(LAUNCHER, ["root-token", "-config", config], {
    env: cleanEnvironment,
  });
  const token = /hvs\.\w{24}/.exec(stdout)?.[0] ?? "";
  const second = await startJournalled(config, log);
  const self = await vaultRequest(second.url, "GET", "auth/token/lookup-self", { token });
  expect([self.status, self.json.data?.policies, self.json.errors]).toEqual([
    200,
    ["root"],
    undefined,
  ]);
  await second.stop();
  expect(readFileSync(log, "utf8")).not.toMatch(/hvs\.|root-token/);
});
