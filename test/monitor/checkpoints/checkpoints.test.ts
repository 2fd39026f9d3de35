import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import type { Env } from "../../../src/kernel/state/types.ts";
import { createEnvStore } from "../../../src/monitor/checkpoints/env-store.ts";
import { openCheckpoints, type Checkpoints } from "../../../src/monitor/checkpoints/open.ts";
import { checkpointLocation } from "../../../src/monitor/checkpoints/location.ts";
import { checkpointStore } from "../../../src/monitor/checkpoints/tables.ts";
import type { MonitorOptions } from "../../../src/monitor/options.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";

const HOUR_MS = 3_600_000;

function setUp(file = "checkpoints.mdb") {
  const directory = mkdtempSync(join(tmpdir(), "steward-checkpoints-"));
  const clock = createManualClock();
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    format: "text",
    write: (line) => lines.push(line),
    now: () => 0,
  });
  const opened: Checkpoints[] = [];
  onTestFinished(async () => {
    for (const each of opened) await each.close();
    chmodSync(directory, 0o700);
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    directory,
    clock,
    lines,
    path: join(directory, file),
    open: async (options: Partial<MonitorOptions["checkpoint"]> = {}) => {
      const checkpoints = await openCheckpoints(
        { clock, log, version: "1.0.0" },
        {
          store: "file",
          filePath: join(directory, file),
          isDefault: true,
          evidenceStore: "file",
          ...options,
        },
      );
      opened.push(checkpoints);
      return checkpoints;
    },
  };
}

describe.each(["file", "memory"] as const)("what a network remembers in %s", (store) => {
  it("is its own: marks move back only when they are replaced, evidence changes together", async () => {
    const checkpoints = await setUp().open({ store });
    const { marks, evidence } = checkpoints.network("a");
    await marks.set("flowlogs", 50);
    await marks.set("flowlogs", 40);
    expect(marks.get("flowlogs")).toBe(50);
    await marks.replace("flowlogs", 30);
    expect(marks.get("flowlogs")).toBe(30);
    await marks.set("flowlogs", 35);
    expect(marks.get("flowlogs")).toBe(35);
    expect(checkpoints.network("b").marks.get("flowlogs")).toBeUndefined();
    await evidence.change(
      new Map<string, unknown>([
        ["feed/2", { size: 2 }],
        ["feed/1", "one"],
        ["other", null],
      ]),
    );
    await evidence.change(new Map<string, unknown>([["other", undefined]]));
    expect(evidence.list("feed/")).toEqual([
      ["feed/1", "one"],
      ["feed/2", { size: 2 }],
    ]);
    expect(evidence.list("")).toHaveLength(2);
    expect([evidence.get("feed/2"), evidence.get("other")]).toEqual([{ size: 2 }, undefined]);
    expect(checkpoints.network("b").evidence.list("")).toEqual([]);
  });

  it("lets the digests that end first go when there are too many, and all long after their end", async () => {
    const { open, clock } = setUp();
    const digests = (await open({ store })).network("a").seen("flowlogs", 3);
    const nowMs = clock.now();
    await digests.add(["late", "later"], nowMs + 20);
    await digests.add(["soon", "sooner"], nowMs + 10);
    expect([digests.size, digests.has("soon"), digests.has("sooner"), digests.has("late")]).toEqual(
      [3, false, true, true],
    );
    await digests.add(["sooner"], nowMs + 30);
    await digests.add(["new"], nowMs + 30);
    expect([
      digests.size,
      digests.has("late"),
      digests.has("later"),
      digests.has("sooner"),
    ]).toEqual([3, false, true, true]);
    await clock.advance(3 * HOUR_MS);
    await digests.add(["last"], clock.now());
    expect([digests.size, digests.has("last"), digests.has("new")]).toEqual([1, true, false]);
  });
});

describe("the checkpoint file", () => {
  it("is read at the next start, the keys of old networks too", async () => {
    const { open, clock } = setUp();
    const first = await open();
    const many = Array.from({ length: 4_500 }, (_, at) => `digest-${at}`);
    await first.network("gone").marks.set("auditlogs", 70);
    await first.network("gone").marks.replace("auditlogs", 7);
    await first.network("a").marks.set("flowlogs", clock.now());
    await first
      .network("a")
      .seen("flowlogs", 5_000)
      .add(many, clock.now() + HOUR_MS);
    await first
      .network("a")
      .seen("flowlogs", 5_000)
      .add(["more"], clock.now() + HOUR_MS);
    await first.network("a").evidence.change(new Map([["k", [1, 2]]]));
    await first.close();
    const second = await open();
    const memory = second.network("a");
    const digests = memory.seen("flowlogs", 5_000);
    expect([
      memory.marks.get("flowlogs"),
      digests.size,
      digests.has("digest-4499"),
      memory.seen("other", 1).size,
      memory.evidence.get("k"),
    ]).toEqual([clock.now(), 4_501, true, 0, [1, 2]]);
    expect(second.network("gone").marks.get("auditlogs")).toBe(7);
    expect(second.status()).toMatchObject({
      store: "file",
      reason: undefined,
      bytes: expect.any(Number) as number,
    });
  });

  it("forgets digests that were not stored whole", async () => {
    const { open, clock } = setUp();
    const first = await open();
    const digests = first.network("a").seen("flowlogs", 10_000);
    const adding = expect(
      digests.add(
        Array.from({ length: 4_500 }, (_, at) => String(at)),
        clock.now() + HOUR_MS,
      ),
    ).rejects.toThrow();
    await first.close();
    await adding;
    expect((await open()).network("a").seen("flowlogs", 10_000).size).toBe(0);
  });

  it("counts digests that a full disk refused as seen, and stores them with the next", async () => {
    const { directory, clock } = setUp();
    const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });
    const factory = createStateFactory({ directory, clock, log, version: "1", reserveBytes: 0 });
    let refused = true;
    const openMemory = async (): Promise<Env> => {
      const env = await factory.open({ ...checkpointStore, name: "checkpoints" });
      onTestFinished(() => env.close());
      return env;
    };
    const env = await openMemory();
    const full: Pick<Env, "read" | "write"> = {
      read: (look) => env.read(look),
      write: (change, options) =>
        refused ? Promise.reject(new Error("disk full")) : env.write(change, options),
    };
    const digests = createEnvStore({ env: full, clock, log })("a").seen("flowlogs", 3);
    const untilMs = clock.now() + HOUR_MS;
    await expect(digests.add(["gone"], untilMs)).rejects.toThrow("disk full");
    await expect(digests.add(["b", "c"], untilMs)).rejects.toThrow("disk full");
    await expect(digests.add(["d"], untilMs)).rejects.toThrow("disk full");
    expect([digests.size, digests.has("gone"), digests.has("b")]).toEqual([3, false, true]);
    refused = false;
    await digests.add(["e"], untilMs);
    await env.close();
    const stored = createEnvStore({ env: await openMemory(), clock, log })("a").seen("flowlogs", 9);
    expect(["gone", "b", "c", "d", "e"].filter((each) => stored.has(each))).toEqual([
      "b",
      "c",
      "d",
      "e",
    ]);
  });

  it("is kept in memory as to evidence when that is asked for", async () => {
    const { open } = setUp();
    const first = await open({ evidenceStore: "memory" });
    await first.network("a").evidence.change(new Map([["k", 1]]));
    await first.network("a").marks.set("m", 1);
    expect(first.network("a").evidence.get("k")).toBe(1);
    await first.close();
    const second = await open();
    expect([second.network("a").evidence.get("k"), second.network("a").marks.get("m")]).toEqual([
      undefined,
      1,
    ]);
  });

  it("has the evidence alone when read positions are kept in memory", async () => {
    const { open } = setUp();
    const options = { store: "memory", evidenceStore: "file" } as const;
    const first = await open(options);
    await first.network("a").evidence.change(new Map([["k", 1]]));
    await first.network("a").marks.set("m", 1);
    expect(first.network("a").marks.get("m")).toBe(1);
    expect(first.status()).toMatchObject({
      store: "memory",
      path: expect.stringMatching(/\.mdb$/),
      reason: undefined,
    });
    await first.close();
    const second = await open(options);
    expect([second.network("a").evidence.get("k"), second.network("a").marks.get("m")]).toEqual([
      1,
      undefined,
    ]);
  });

  it("is set aside when it is damaged, and no older one is overwritten", async () => {
    const { open, path, directory, lines } = setUp();
    writeFileSync(path, "no environment");
    writeFileSync(`${path}.corrupt`, "older");
    const checkpoints = await open();
    expect(checkpoints.status()).toMatchObject({
      store: "file",
      path,
      reason: `a damaged file was renamed to ${path}.corrupt.2`,
    });
    await checkpoints.network("a").marks.set("m", 1);
    expect(readFileSync(`${path}.corrupt`, "utf8")).toBe("older");
    expect(readFileSync(`${path}.corrupt.2`, "utf8")).toBe("no environment");
    expect(lines.join("")).toMatch(/error .*the checkpoint file is damaged/);
    expect(readdirSync(directory).filter((file) => file.endsWith(".mdb"))).toEqual([
      "checkpoints.mdb",
    ]);
  });

  it("is set aside when it was cut short", async () => {
    const { open, path } = setUp();
    const first = await open();
    await first.network("a").marks.set("m", 1);
    await first.close();
    truncateSync(path, 5_000);
    const second = await open();
    expect([
      second.status().store,
      second.network("a").marks.get("m"),
      existsSync(`${path}.corrupt`),
    ]).toEqual(["file", undefined, true]);
  });

  it("gives way to memory where it cannot be written, and says why", async () => {
    const { open, directory, lines } = setUp();
    writeFileSync(join(directory, "plain"), "");
    const checkpoints = await open({
      filePath: join(directory, "plain", "checkpoints.mdb"),
      isDefault: false,
    });
    expect(checkpoints.status()).toMatchObject({
      store: "memory",
      path: "",
      reason: expect.stringContaining("cannot be used") as string,
    });
    await checkpoints.network("a").marks.set("m", 1);
    expect(checkpoints.network("a").marks.get("m")).toBe(1);
    expect(lines.join("")).toContain("checkpoints are kept in memory");
  });

  it("has the extension of an environment, whatever was configured", async () => {
    const { open, path, directory, lines } = setUp("Check Points.json");
    writeFileSync(path, "{}");
    expect((await open()).status().path).toBe(join(directory, "check-points.mdb"));
    expect(readFileSync(path, "utf8")).toBe("{}");
    expect(lines.join("")).toContain("is opened with the extension");
    expect(checkpointLocation("/x/.mdb")).toEqual({
      directory: "/x",
      name: "mdb",
      path: "/x/mdb.mdb",
    });
    expect(checkpointLocation("/x/é")).toEqual({
      directory: "/x",
      name: "checkpoints",
      path: "/x/checkpoints.mdb",
    });
  });
});
