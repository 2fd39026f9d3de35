import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, it } from "vitest";
import { removeTemporaryFolders, temporaryFolder } from "../contract/daemon.ts";
import { endsWithParent, killLeft, spawn } from "./spawn.ts";

afterAll(removeTemporaryFolders);

/** A zombie has ended; whoever inherits it may never fetch its status. */
function runs(pid: number): boolean {
  const status = `/proc/${pid}/status`;
  return existsSync(status) && !/^State:\s+[ZX]/m.test(readFileSync(status, "utf8"));
}

it.skipIf(!endsWithParent)(
  "a daemon, and the jobs of a shell, end when the process of their test is killed",
  async () => {
    const fixture = join(import.meta.dirname, "fixtures/left-processes.ts");
    const folder = temporaryFolder();
    const test = spawn(process.execPath, [fixture, folder], {
      env: { ...process.env, TMPDIR: folder },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(createInterface({ input: test.stdout }), "line")) as [string];
    const { daemon, job } = JSON.parse(line) as { daemon: number; job: number };
    expect([daemon, job].map(runs)).toEqual([true, true]);
    test.kill("SIGKILL");
    await expect.poll(() => [daemon, job].map(runs)).toEqual([false, false]);
  },
);

it("what a test file did not stop ends with it", async () => {
  const child = spawn("sleep", ["600"]);
  killLeft();
  expect(await once(child, "exit")).toEqual([null, "SIGKILL"]);
});
