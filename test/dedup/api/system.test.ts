import { describe, expect, it } from "vitest";
import { createReachability } from "../../../src/dedup/api/reachability.ts";
import { systemHandlers } from "../../../src/dedup/api/system.ts";
import type { Archive } from "../../../src/dedup/archives/archive.ts";
import { createFolderArchive } from "../../../src/dedup/archives/folder.ts";
import { SystemService } from "../../../src/gen/steward/dedup/v1/system_pb.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import type { Env } from "../../../src/kernel/state/types.ts";
import { folderWith } from "../archives/reading.ts";
import { createInlinePool } from "../inline-pool.ts";
import { createHandClock, openBench } from "../store-bench.ts";
import { ask } from "./calling.ts";

const pool = createInlinePool();

function archive(check: Archive["check"]): Archive {
  return {
    name: "a",
    kind: "folder",
    check,
    read: () => ({
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.resolve({ done: true, value: undefined }),
      }),
    }),
  };
}

function handlers(
  archives: readonly Archive[],
  envs: readonly Env[] = [],
  clock = createHandClock(),
): ReturnType<typeof systemHandlers> {
  return systemHandlers({
    clock,
    envs,
    archives: () => archives,
    reachability: createReachability(clock),
    demo: false,
  });
}

describe("health", () => {
  it("is always ok and says when", async () => {
    const { data } = await ask(handlers([]), SystemService.method.getHealth, {});
    expect(data).toMatchObject({
      status: "ok",
      timestamp: { seconds: 1_767_225_600n },
      demo: false,
    });
  });
});

describe("readiness", () => {
  it("is ready without archives, and with a readable one", async () => {
    const { env, textEnv } = await openBench();
    const folder = createFolderArchive(
      { pool },
      { name: "f", path: folderWith({}), include: [], exclude: [] },
    );
    for (const archives of [[], [folder]]) {
      const { data } = await ask(
        handlers(archives, [env, textEnv]),
        SystemService.method.getReadiness,
        {},
      );
      expect(data).toMatchObject({
        status: "ready",
        checks: { database: { status: "ok" }, paperless: { status: "ok" } },
      });
      expect(data?.checks?.database).not.toHaveProperty("error");
    }
  });

  it("names the class of what is wrong and no path", async () => {
    const missing = createFolderArchive(
      { pool },
      { name: "f", path: "/nowhere/secret-name", include: [], exclude: [] },
    );
    const fine = archive(() => Promise.resolve());
    const failure = await ask(
      handlers([fine, missing]),
      SystemService.method.getReadiness,
      {},
    ).catch((error: unknown) => error as StewardError);
    expect(failure).toMatchObject({
      code: "not_ready",
      facts: { database: { status: "ok" }, paperless: { status: "error", error: "not found" } },
    });
    expect(JSON.stringify(failure)).not.toContain("secret-name");
    const sick = { status: () => ({ healthy: false }) } as unknown as Env;
    await expect(
      ask(handlers([], [sick]), SystemService.method.getReadiness, {}),
    ).rejects.toMatchObject({ facts: { database: { status: "error", error: "unhealthy" } } });
    await expect(
      ask(
        handlers([archive(() => Promise.reject(new Error("/etc/secret")))]),
        SystemService.method.getReadiness,
        {},
      ),
    ).rejects.toMatchObject({ message: "not ready: paperless: unreadable" });
  });

  it("keeps the answer of an archive for ten seconds", async () => {
    const clock = createHandClock();
    let asked = 0;
    let error: Error | undefined;
    const service = handlers(
      [archive(() => ((asked += 1), error ? Promise.reject(error) : Promise.resolve()))],
      [],
      clock,
    );
    const ready = (): Promise<boolean> =>
      ask(service, SystemService.method.getReadiness, {}).then(
        () => true,
        () => false,
      );
    expect([await ready(), await ready(), asked]).toEqual([true, true, 1]);
    error = new StewardError("upstream", "gone", { rule: "ENOENT" });
    clock.advance(9_999);
    expect([await ready(), asked]).toEqual([true, 1]);
    clock.advance(1);
    expect([await ready(), asked]).toEqual([false, 2]);
  });

  it("does not wait for an archive that hangs, nor ask it twice", async () => {
    const clock = createHandClock();
    let asked = 0;
    const service = handlers(
      [archive(() => ((asked += 1), new Promise(() => undefined)))],
      [],
      clock,
    );
    const answers = [1, 2].map(() =>
      ask(service, SystemService.method.getReadiness, {}).catch(
        (error: unknown) => (error as StewardError).message,
      ),
    );
    clock.advance(5_000);
    expect(await Promise.all(answers)).toEqual([
      "not ready: paperless: timeout",
      "not ready: paperless: timeout",
    ]);
    clock.advance(60_000);
    const later = ask(service, SystemService.method.getReadiness, {}).catch(() => "again");
    clock.advance(5_000);
    expect([await later, asked]).toEqual(["again", 1]);
  });
});
