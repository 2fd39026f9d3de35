import type { ChildProcessByStdio } from "node:child_process";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import {
  assertUnlocked,
  lockStateDirectory,
} from "../../../../src/kernel/state/folder/directory-lock.ts";
import { temporaryFolder } from "../fixtures/tables.ts";
import { spawn } from "../../../support/spawn.ts";

const locker = fileURLToPath(new URL("../fixtures/locker.ts", import.meta.url));

interface Locker {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  next(): Promise<string>;
}

async function startLocker(directory: string): Promise<Locker> {
  const child = spawn(process.execPath, [locker, directory], {
    stdio: ["pipe", "pipe", "inherit"],
  });
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
  expect(() => lockStateDirectory(directory)).toThrow(
    `the state folder ${directory} is in use by process ${process.pid}`,
  );
  lock.release();
  lock.release();
  lockStateDirectory(directory).release();
});

it("leaves a folder that all users share as it is, unless it is new or Steward's own", () => {
  const shared = temporaryFolder();
  chmodSync(shared, 0o1777);
  writeFileSync(join(shared, "of another.txt"), "");
  expect(() => lockStateDirectory(shared)).toThrow(
    expect.objectContaining({
      message: `the state folder ${shared} cannot be used: all users share it`,
      remedy: "choose another folder with state.directory",
    }),
  );
  expect(statSync(shared).mode & 0o7777).toBe(0o1777);
  rmSync(join(shared, "of another.txt"));
  mkdirSync(join(shared, "cache"));
  lockStateDirectory(shared).release();
  chmodSync(shared, 0o1777);
  lockStateDirectory(shared).release();
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
    const { lockStateDirectory } = await import(${JSON.stringify(fileURLToPath(new URL("../../../../src/kernel/state/folder/directory-lock.ts", import.meta.url)))});
    lockStateDirectory(process.argv[1]);
    await new Promise(setImmediate);
    for (let round = 0; round < 5; round += 1) { gc(); await new Promise(setImmediate); }
    console.log("collected");
    setInterval(() => {}, 1_000);`;
  const child = spawn(
    process.execPath,
    ["--expose-gc", "--input-type=module", "-e", script, directory],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  for await (const line of createInterface({ input: child.stdout }))
    if (line === "collected") break;
  expect(() => lockStateDirectory(directory)).toThrow(`process ${child.pid}`);
});

it.runIf(process.platform === "linux")(
  "stays taken when all files in the folder are deleted, and is free at once after its holder was killed",
  async () => {
    const directory = temporaryFolder();
    const first = await startLocker(directory);
    first.child.stdin.write("go\n");
    expect(await first.next()).toBe(`locked ${first.child.pid}`);
    for (const file of readdirSync(directory)) rmSync(join(directory, file));
    expect(() => lockStateDirectory(directory)).toThrow(
      `the state folder ${directory} is in use by process ${first.child.pid}`,
    );
    expect(() => assertUnlocked(directory)).toThrow(`in use by process ${first.child.pid}`);
    expect(existsSync(join(directory, "lock"))).toBe(false);
    const gone = ended(first.child);
    first.child.kill("SIGKILL");
    await gone;
    assertUnlocked(directory);
    lockStateDirectory(directory).release();
  },
);

it("follows the folder when that is renamed, and not its name", async () => {
  const parent = temporaryFolder();
  const [directory, moved] = [join(parent, "state"), join(parent, "moved")];
  const first = await startLocker(directory);
  first.child.stdin.write("go\n");
  await first.next();
  renameSync(directory, moved);
  lockStateDirectory(directory).release();
  expect(() => lockStateDirectory(moved)).toThrow(`in use by process ${first.child.pid}`);
});

it.each([
  ["a symbolic link", symlinkSync],
  ["a second name", linkSync],
] as const)("leaves the file alone that lock.pid is %s of", (_what, link) => {
  const directory = temporaryFolder();
  const target = join(temporaryFolder(), "target");
  writeFileSync(target, "precious");
  link(target, join(directory, "lock.pid"));
  const lock = lockStateDirectory(directory);
  expect(readFileSync(target, "utf8")).toBe("precious");
  expect(readFileSync(join(directory, "lock.pid"), "utf8")).toBe(`${process.pid}\n`);
  lock.release();
  expect(readFileSync(target, "utf8")).toBe("precious");
});

it("takes the folder though lock.pid cannot be written and the lock file holds something", () => {
  const directory = temporaryFolder();
  mkdirSync(join(directory, "lock.pid"));
  writeFileSync(join(directory, "lock"), "no database ".repeat(1_000));
  const lock = lockStateDirectory(directory);
  expect(() => lockStateDirectory(directory)).toThrow("is in use by process");
  expect(lock.advisory).toBeUndefined();
  lock.release();
  lockStateDirectory(directory).release();
});

it("does not lock through a link, and makes no file at its end", () => {
  const directory = temporaryFolder();
  const target = join(temporaryFolder(), "target");
  symlinkSync(target, join(directory, "lock"));
  expect(() => lockStateDirectory(directory)).toThrow("no regular file");
  expect(existsSync(target)).toBe(false);
});
