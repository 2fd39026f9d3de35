/**
 * A store whose disk fails for a while: acknowledged writes stay, refused ones have no effect, and
 * it goes on by itself when the fault ends.
 */
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, it, vi } from "vitest";
import { removeTemporaryFolders, temporaryFolder } from "../../contract/daemon.ts";
import {
  createInjector,
  ERRORS,
  noInjector,
  type ErrorName,
  type Injector,
  type Operation,
} from "../inject/injector.ts";
import type { StoreWriterReport } from "../inject/store-writer.ts";
import { spawn } from "../../support/spawn.ts";

if (noInjector !== undefined)
  process.stderr.write(`the tests of passing faults of a store are skipped: ${noInjector}\n`);

/** Until when a store takes writes after its fault has ended. */
const BACK_MS = 30_000;

afterAll(removeTemporaryFolders);

interface Writer {
  readonly path: string;
  readonly stderr: string[];
  readonly state: () => {
    readonly healthy: boolean;
    readonly reason: string | undefined;
    readonly acknowledged: number;
  };
  readonly end: () => Promise<StoreWriterReport>;
}

async function startWriter(
  injector: Injector,
  onTestFinished: (end: () => void) => void,
): Promise<Writer> {
  const directory = temporaryFolder();
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, "../inject/store-writer.ts"), directory],
    { env: { PATH: process.env["PATH"] ?? "", ...injector.env }, stdio: ["pipe", "pipe", "pipe"] },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  const stderr: string[] = [];
  let state = { healthy: false, reason: undefined as string | undefined, acknowledged: 0 };
  let report: StoreWriterReport | undefined;
  createInterface(child.stderr).on("line", (line) => stderr.push(line));
  createInterface(child.stdout).on("line", (line) => {
    const value = JSON.parse(line) as typeof state | { report: StoreWriterReport };
    if ("report" in value) report = value.report;
    else state = value;
  });
  const closed = new Promise((resolve) => child.on("close", resolve));
  await vi.waitFor(() => expect([state.acknowledged > 0, stderr]).toEqual([true, []]), {
    timeout: 60_000,
  });
  return {
    path: join(directory, "rows.mdb"),
    stderr,
    state: () => state,
    async end() {
      child.stdin.end();
      await closed;
      if (report === undefined) throw new Error(`no report:\n${stderr.join("\n")}`);
      return report;
    },
  };
}

async function progress(writer: Writer): Promise<void> {
  const { acknowledged } = writer.state();
  await vi.waitFor(
    () =>
      expect(writer.state()).toMatchObject({
        healthy: true,
        acknowledged: expect.toSatisfy((now: number) => now > acknowledged + 20) as number,
      }),
    { timeout: BACK_MS },
  );
}

describe.skipIf(noInjector !== undefined)("a store", () => {
  const operations: readonly (readonly Operation[])[] = [
    ["data"],
    ["flush"],
    ["dsync"],
    ["dsynclate"],
    ["data", "dsynclate"],
    ["data", "dsync", "flush", "size", "open"],
  ];
  // Side by side: they wait most of the time.
  it.concurrent.for(operations.map((failing) => [failing.join(", "), failing] as const))(
    "whose disk fails on %s goes on when it works again, with every acknowledged write",
    async ([, failing], { onTestFinished }) => {
      const injector = createInjector();
      const writer = await startWriter(injector, onTestFinished);
      for (const error of ERRORS as readonly ErrorName[]) {
        const before = injector.hits();
        injector.fail(writer.path, error, failing);
        await vi.waitFor(
          () =>
            expect([error, injector.hits() > before + 2, writer.state().healthy]).toEqual([
              error,
              true,
              false,
            ]),
          { timeout: BACK_MS },
        );
        injector.stop();
        await progress(writer);
      }
      const report = await writer.end();
      expect(report).toMatchObject({ lost: 0, disagreeing: 0, doubled: 0 });
      expect(Object.keys(report.refused).sort()).toEqual(["disk_full", "not_ready"]);
      // Reads fail while the file is closed for reopening and at no other time.
      expect(Object.keys(report.unread)).toEqual(
        report.unread["not_ready"] === undefined ? [] : ["not_ready"],
      );
      expect(writer.stderr.filter((line) => !line.startsWith("{"))).toEqual([]);
    },
  );
});
