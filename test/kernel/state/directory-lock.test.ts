import { spawn } from "node:child_process";
import type { ChildProcessByStdio } from "node:child_process";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { lockStateDirectory } from "../../../src/kernel/state/directory-lock.ts";
import { temporaryFolder } from "./fixtures/tables.ts";

const locker = fileURLToPath(new URL("./fixtures/locker.ts", import.meta.url));

interface Locker {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  next(): Promise<string>;
}

async function startLocker(directory: string): Promise<Locker> {
  const child = spawn(process.execPath, [locker, directory], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  await next();
  return { child, next };
}

function ended(child: Locker["child"]): Promise<void> {
  return new Promise((resolve) => child.once("exit", () => resolve()));
}

it("makes the folder private and takes it, until it is released", () => {
  const directory = join(temporaryFolder(), "deep", "state");
  const lock = lockStateDirectory(directory);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(() => lockStateDirectory(directory)).toThrow(`the state folder ${directory} is in use by process ${process.pid}`);
  lock.release();
  lock.release();
  lockStateDirectory(directory).release();
});

it("lets exactly one of several racing starters in, over and over", async () => {
  for (let round = 0; round < 4; round += 1) {
    const directory = temporaryFolder();
    const starters = await Promise.all(Array.from({ length: 4 }, () => startLocker(directory)));
    for (const { child } of starters) child.stdin.write("go\n");
    const answers = await Promise.all(starters.map((starter) => starter.next()));
    expect(answers.filter((answer) => answer.startsWith("locked"))).toHaveLength(1);
    expect(answers.filter((answer) => answer.startsWith("refused"))).toHaveLength(3);
    for (const { child } of starters) child.kill("SIGKILL");
  }
});

it("is free at once after its holder was killed, whatever the holder left behind, and names a living holder", async () => {
  const directory = temporaryFolder();
  const first = await startLocker(directory);
  first.child.stdin.write("go\n");
  expect(await first.next()).toBe(`locked ${first.child.pid}`);
  expect(() => lockStateDirectory(directory)).toThrow(`process ${first.child.pid}`);
  const gone = ended(first.child);
  first.child.kill("SIGKILL");
  await gone;
  writeFileSync(join(directory, "lock.pid"), `${process.ppid}\n`); // a process id that another program has by now
  lockStateDirectory(directory).release();
});

it("stays taken when its holder forgets the handle and the garbage is collected", async () => {
  const directory = temporaryFolder();
  const script = `
    const { lockStateDirectory } = await import(${JSON.stringify(fileURLToPath(new URL("../../../src/kernel/state/directory-lock.ts", import.meta.url)))});
    lockStateDirectory(process.argv[1]);
    await new Promise(setImmediate);
    for (let round = 0; round < 5; round += 1) { gc(); await new Promise(setImmediate); }
    console.log("collected");
    setInterval(() => {}, 1_000);`;
  const child = spawn(process.execPath, ["--expose-gc", "--input-type=module", "-e", script, directory], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  for await (const line of createInterface({ input: child.stdout })) if (line === "collected") break;
  expect(() => lockStateDirectory(directory)).toThrow(`process ${child.pid}`);
});
