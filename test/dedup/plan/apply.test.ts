import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { removeTemporaryFolders, temporaryFolder } from "../../contract/daemon.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createTrash } from "../../../src/dedup/trash/trash.ts";
import type { Trash } from "../../../src/dedup/trash/trash.ts";
import { applyPlan } from "../../../src/dedup/plan/apply.ts";
import { createDeletePlan } from "../../../src/dedup/plan/plan-file.ts";
import type { DeletePlan, PlanFile } from "../../../src/dedup/plan/plan-file.ts";
import { openUndoLog } from "../../../src/dedup/plan/undo-log.ts";
import { undoPlan } from "../../../src/dedup/plan/undo.ts";

afterAll(removeTemporaryFolders);

const clock = { ...systemClock, now: () => Date.parse("2026-11-23T12:00:00Z") };
const PLAN = "0".repeat(64);

interface Disk {
  readonly home: string;
  readonly files: string;
  readonly undo: string;
  readonly trash: Trash;
  readonly plan: DeletePlan;
  path(name: string): string;
}

function fileOf(path: string): PlanFile {
  const bytes = readFileSync(path);
  return {
    path,
    sizeBytes: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
  };
}

/** `keep.txt` stays for `names`. */
function disk(names: readonly string[] = ["a.txt", "b.txt", "below/c.txt"]): Disk {
  const root = temporaryFolder();
  const home = join(root, "home");
  const files = join(root, "files");
  const path = (name: string): string => join(files, name);
  for (const [at, name] of ["keep.txt", ...names].entries()) {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), `text ${at}`);
  }
  const plan = createDeletePlan({
    createdAt: "2026-11-23T12:00:00.000Z",
    groups: "all",
    parameters: {},
    retained: [],
    entries: names.map((name) => ({
      ...fileOf(path(name)),
      group: "g",
      keep: fileOf(path("keep.txt")),
      scores: { confidence: 1, jaccard: 1, fuzzy: 1, discriminative: 1 },
    })),
  });
  const trash = createTrash({
    environment: { XDG_DATA_HOME: home },
    userId: process.getuid?.() ?? 0,
    platform: "linux",
  });
  return { home, files, undo: join(root, "plan.json.undo"), trash, plan, path };
}

async function apply(
  { trash, plan, undo }: Disk,
  { trial = false, signal = new AbortController().signal } = {},
) {
  const log = await openUndoLog(undo, PLAN);
  return await collect(applyPlan(plan, { trash, log, clock, signal, trial }));
}

async function takeBack({ undo }: Disk, { trial = false } = {}) {
  const log = await openUndoLog(undo, PLAN);
  return await collect(undoPlan({ log, signal: new AbortController().signal, trial }));
}

async function collect<T>(outcomes: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const outcome of outcomes) all.push(outcome);
  return all;
}

/** Everything below a folder with its contents. */
function contents(folder: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((path) => [path, readFileSync(path, "utf8")]),
  );
}

const kinds = (outcomes: readonly { readonly kind: string }[]): string[] =>
  outcomes.map(({ kind }) => kind);

describe("carrying out a delete plan", () => {
  it("moves the files to the trash with their trashinfo, and back", async () => {
    const one = disk();
    const before = contents(one.files);
    expect(kinds(await apply(one))).toEqual(["moved", "moved", "moved"]);
    expect(contents(one.files)).toEqual({ [one.path("keep.txt")]: "text 0" });
    expect(readFileSync(join(one.home, "Trash/files/c.txt"), "utf8")).toBe("text 3");
    expect(readFileSync(join(one.home, "Trash/info/c.txt.trashinfo"), "utf8")).toMatch(
      /^\[Trash Info\]\nPath=\/.*\/files\/below\/c\.txt\nDeletionDate=2026-11-2\dT\d\d:00:00\n$/,
    );
    for (const folder of ["Trash", "Trash/files", "Trash/info"])
      expect(statSync(join(one.home, folder)).mode & 0o777).toBe(0o700);
    expect(kinds(await takeBack(one))).toEqual(["restored", "restored", "restored"]);
    expect(contents(one.files)).toEqual(before);
    expect(contents(one.home)).toEqual({});
    expect(existsSync(one.undo)).toBe(false);
  });

  it("moves nothing and writes nothing in a trial", async () => {
    const one = disk();
    const before = contents(dirname(one.files));
    expect(kinds(await apply(one, { trial: true }))).toEqual(Array(3).fill("would move"));
    expect(contents(dirname(one.files))).toEqual(before);
    await apply(one);
    const moved = contents(dirname(one.files));
    expect(kinds(await takeBack(one, { trial: true }))).toEqual(Array(3).fill("would restore"));
    expect(contents(dirname(one.files))).toEqual(moved);
  });

  it.each<[string, (one: Disk) => void, RegExp]>([
    ["changed", (one) => appendFileSync(one.path("a.txt"), "!"), /changed since/],
    [
      "has the same size and time but other bytes",
      (one) => {
        const { atime, mtime } = statSync(one.path("a.txt"));
        writeFileSync(one.path("a.txt"), "text 9");
        utimesSync(one.path("a.txt"), atime, mtime);
      },
      /changed since/,
    ],
    ["is gone", (one) => unlinkSync(one.path("a.txt")), /does not exist/],
    [
      "is a link now",
      (one) => {
        renameSync(one.path("a.txt"), one.path("other.txt"));
        symlinkSync(one.path("other.txt"), one.path("a.txt"));
      },
      /symbolic link/,
    ],
    [
      "is a folder now",
      (one) => {
        unlinkSync(one.path("a.txt"));
        mkdirSync(one.path("a.txt"));
      },
      /not a regular file/,
    ],
    [
      "has become another name of the file that stays",
      (one) => {
        unlinkSync(one.path("a.txt"));
        linkSync(one.path("keep.txt"), one.path("a.txt"));
      },
      /changed since/,
    ],
  ])("leaves a file that %s", async (_, change, reason) => {
    const one = disk();
    change(one);
    const outcomes = await apply(one);
    expect(kinds(outcomes)).toEqual(["left", "moved", "moved"]);
    expect(outcomes[0]).toMatchObject({ reason: expect.stringMatching(reason) as string });
  });

  it("leaves a file below a folder that became a link", async () => {
    const one = disk();
    renameSync(one.path("below"), one.path("moved"));
    symlinkSync(one.path("moved"), one.path("below"));
    expect((await apply(one))[2]).toMatchObject({ kind: "left", reason: /symbolic link/ });
    expect(existsSync(one.path("moved/c.txt"))).toBe(true);
  });

  it.each<[string, (one: Disk) => void]>([
    ["is gone", (one) => unlinkSync(one.path("keep.txt"))],
    ["changed", (one) => writeFileSync(one.path("keep.txt"), "text 9")],
    [
      "is a link",
      (one) => {
        renameSync(one.path("keep.txt"), one.path("other.txt"));
        symlinkSync(one.path("other.txt"), one.path("keep.txt"));
      },
    ],
  ])("leaves everything for which the file that stays %s", async (_, change) => {
    const one = disk();
    change(one);
    expect(kinds(await apply(one))).toEqual(["left", "left", "left"]);
    expect(existsSync(one.undo)).toBe(false);
  });

  it("notices that the file that stays goes in the middle of a run", async () => {
    const one = disk();
    const log = await openUndoLog(one.undo, PLAN);
    const seen: string[] = [];
    const { signal } = new AbortController();
    for await (const { kind } of applyPlan(one.plan, {
      ...one,
      log,
      clock,
      signal,
      trial: false,
    })) {
      seen.push(kind);
      rmSync(one.path("keep.txt"), { force: true });
    }
    expect(seen).toEqual(["moved", "left", "left"]);
  });

  it("gives files of one name different places, and keeps what is in the trash", async () => {
    const one = disk(["a.txt", "x/a.txt", "y/a.txt"]);
    mkdirSync(join(one.home, "Trash/files"), { recursive: true });
    writeFileSync(join(one.home, "Trash/files/a.txt"), "older");
    await apply(one);
    expect(readdirSync(join(one.home, "Trash/files"))).toEqual([
      "a.2.txt",
      "a.3.txt",
      "a.4.txt",
      "a.txt",
    ]);
    expect(readFileSync(join(one.home, "Trash/files/a.txt"), "utf8")).toBe("older");
    expect(kinds(await takeBack(one))).toEqual(["restored", "restored", "restored"]);
    expect(readdirSync(join(one.home, "Trash/files"))).toEqual(["a.txt"]);
  });

  it("says what was moved before when it is run again", async () => {
    const one = disk();
    await apply(one);
    const after = contents(dirname(one.files));
    expect(kinds(await apply(one))).toEqual(Array(3).fill("moved before"));
    expect(contents(dirname(one.files))).toEqual(after);
  });

  it("stops between two files, and finishes when it is run again", async () => {
    const one = disk();
    const stop = new AbortController();
    const log = await openUndoLog(one.undo, PLAN);
    await expect(async () => {
      for await (const _ of applyPlan(one.plan, {
        ...one,
        log,
        clock,
        signal: stop.signal,
        trial: false,
      }))
        stop.abort(new Error("stopped"));
    }).rejects.toThrow("stopped");
    expect(kinds(await apply(one))).toEqual(["moved before", "moved", "moved"]);
    expect(kinds(await takeBack(one))).toEqual(Array(3).fill("restored"));
  });
});

describe("a run that was killed", () => {
  /** The state of the disk after each step of a move: a crash may leave any of them. */
  async function killedAfter(step: "note" | "half a note" | "info" | "move"): Promise<Disk> {
    const one = disk();
    const entry = one.plan.entries[0] as DeletePlan["entries"][number];
    const place = await one.trash.place(entry.path);
    const log = await openUndoLog(one.undo, PLAN);
    await log.append({
      from: entry.path,
      ...place,
      sizeBytes: entry.sizeBytes,
      sha256: entry.sha256,
    });
    if (step === "half a note") truncateSync(one.undo, statSync(one.undo).size - 5);
    if (step === "info" || step === "move") {
      await one.trash.move(entry.path, place, new Date());
      if (step === "info") renameSync(place.to, entry.path);
    }
    return one;
  }

  it.each(["note", "half a note", "info", "move"] as const)(
    "after %s is finished by another one, and taken back",
    async (step) => {
      const one = await killedAfter(step);
      const first = step === "move" ? "moved before" : "moved";
      expect(kinds(await apply(one))).toEqual([first, "moved", "moved"]);
      expect(readdirSync(join(one.home, "Trash/files"))).toHaveLength(3);
      expect(readdirSync(join(one.home, "Trash/info"))).toHaveLength(3);
      expect(kinds(await takeBack(one))).toEqual(Array(3).fill("restored"));
      expect(contents(one.home)).toEqual({});
    },
  );

  it.each(["note", "half a note", "info", "move"] as const)(
    "after %s is taken back as it is",
    async (step) => {
      const one = await killedAfter(step);
      await takeBack(one);
      expect(Object.values(contents(one.files))).toEqual(["text 1", "text 2", "text 3", "text 0"]);
      expect(contents(one.home)).toEqual({});
    },
  );

  it("while it took a file back is finished by another one", async () => {
    const one = disk();
    await apply(one);
    linkSync(join(one.home, "Trash/files/a.txt"), one.path("a.txt"));
    expect(kinds(await takeBack(one))).toEqual(Array(3).fill("restored"));
    expect(contents(one.home)).toEqual({});
    expect(statSync(one.path("a.txt")).nlink).toBe(1);
  });
});

describe("a write of the undo file that fails", () => {
  /** The next write of a file ends after half of it: the disk is full. */
  async function failNextWrite(): Promise<void> {
    const file = await open(import.meta.filename);
    const prototype = Object.getPrototypeOf(file) as FileHandle;
    await file.close();
    vi.spyOn(prototype, "writeFile").mockImplementationOnce(async function (
      this: FileHandle,
      text,
    ) {
      const half = String(text);
      await this.write(half.slice(0, half.length / 2));
      throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
    });
  }

  it.each([0, 1])("leaves file %i, and an undo file that is whole", async (failing) => {
    const one = disk();
    const { undo, plan, trash } = one;
    const log = await openUndoLog(undo, PLAN);
    const signal = new AbortController().signal;
    if (failing === 0) await failNextWrite();
    const outcomes: string[] = [];
    for await (const { kind } of applyPlan(plan, { trash, log, clock, signal, trial: false })) {
      outcomes.push(kind);
      if (outcomes.length === failing) await failNextWrite();
    }
    expect(outcomes).toEqual([0, 1, 2].map((at) => (at === failing ? "left" : "moved")));
    expect(kinds(await takeBack(one))).toEqual(["restored", "restored"]);
    expect(Object.values(contents(one.files))).toEqual(["text 1", "text 2", "text 3", "text 0"]);
  });
});

describe("taking a plan back", () => {
  it("never replaces a file, and leaves the undo file for what is not back", async () => {
    const one = disk();
    await apply(one);
    writeFileSync(one.path("b.txt"), "new");
    const outcomes = await takeBack(one);
    expect(kinds(outcomes)).toEqual(["restored", "not restored", "restored"]);
    expect(readFileSync(one.path("b.txt"), "utf8")).toBe("new");
    expect(existsSync(one.undo)).toBe(true);
    unlinkSync(one.path("b.txt"));
    expect(kinds(await takeBack(one))).toEqual(["in place", "restored", "in place"]);
    expect(existsSync(one.undo)).toBe(false);
  });

  it("says what is gone from the trash, or another file there", async () => {
    const one = disk();
    await apply(one);
    unlinkSync(join(one.home, "Trash/files/a.txt"));
    writeFileSync(join(one.home, "Trash/files/b.txt"), "another");
    expect(kinds(await takeBack(one))).toEqual(["restored", "not restored", "not restored"]);
    expect(existsSync(one.path("b.txt"))).toBe(false);
  });

  it("tells another file at the old path from the one that is gone from the trash", async () => {
    const one = disk();
    await apply(one);
    unlinkSync(join(one.home, "Trash/files/a.txt"));
    writeFileSync(one.path("a.txt"), "text 7");
    const outcomes = await takeBack(one);
    expect(kinds(outcomes)).toEqual(["restored", "restored", "not restored"]);
    expect(outcomes[2]).toMatchObject({
      reason: expect.stringMatching(
        /^is not in the trash any more: .*another file is in its place/,
      ),
    });
    expect(existsSync(one.undo)).toBe(true);
    expect(readFileSync(one.path("a.txt"), "utf8")).toBe("text 7");
  });

  it("makes a folder again that is gone, and refuses one that became a link", async () => {
    const one = disk();
    await apply(one);
    rmSync(one.path("below"), { recursive: true });
    expect(kinds(await takeBack(one))).toEqual(Array(3).fill("restored"));
    await apply(one);
    rmSync(one.path("below"), { recursive: true });
    mkdirSync(one.path("elsewhere"));
    symlinkSync(one.path("elsewhere"), one.path("below"));
    expect(kinds(await takeBack(one))[0]).toBe("not restored");
    expect(readdirSync(one.path("elsewhere"))).toEqual([]);
  });
});

describe("undo files", () => {
  it("refuses that of another plan, and what is none", async () => {
    const one = disk();
    await apply(one);
    await expect(openUndoLog(one.undo, "1".repeat(64))).rejects.toThrow(/another plan/);
    writeFileSync(one.undo, "{}\n");
    await expect(openUndoLog(one.undo, PLAN)).rejects.toThrow(/no undo file/);
    writeFileSync(one.undo, "text\n");
    await expect(openUndoLog(one.undo, PLAN)).rejects.toThrow(/line 1 is damaged/);
  });

  it("is for this user alone", async () => {
    const one = disk();
    await apply(one);
    expect(statSync(one.undo).mode & 0o777).toBe(0o600);
  });
});
