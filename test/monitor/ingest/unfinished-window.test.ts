import { describe, expect, it } from "vitest";
import { MAX_UNFINISHED, UnfinishedWindow } from "../../../src/monitor/ingest/unfinished-window.ts";

const HOUR_MS = 3_600_000;
const signal = new AbortController().signal;

/** A read up to `toMs` that has these digests, and fails unless it is complete. */
async function read(
  unfinished: UnfinishedWindow,
  digests: Iterable<string>,
  {
    toMs = HOUR_MS,
    nowMs = 2 * HOUR_MS,
    fails = false,
    aborts = false,
  }: { toMs?: number; nowMs?: number; fails?: boolean; aborts?: boolean } = {},
): Promise<string[]> {
  const known: string[] = [];
  const run = async (): Promise<void> => {
    for (const digest of digests)
      if (unfinished.take(digest)) known.push(digest);
      else unfinished.add(digest);
    if (fails) throw new Error("cut off");
  };
  const tick = { nowMs, signal: aborts ? AbortSignal.abort(new Error("stopped")) : signal };
  const outcome = unfinished.read({ toMs }, tick, run);
  if (fails || aborts) await expect(outcome).rejects.toThrow(fails ? "cut off" : "stopped");
  else await outcome;
  return known;
}

describe("A window that was not read to its end", () => {
  it("is known until it was", async () => {
    const unfinished = new UnfinishedWindow();
    expect(await read(unfinished, ["a", "b"], { fails: true })).toEqual([]);
    expect(await read(unfinished, ["a"], { fails: true })).toEqual(["a"]);
    expect(await read(unfinished, ["a", "b", "c"])).toEqual(["a", "b"]);
    expect(unfinished.size).toBe(0);
  });

  it("is known when the read was stopped at its end", async () => {
    const unfinished = new UnfinishedWindow();
    await read(unfinished, ["a"], { aborts: true });
    expect(await read(unfinished, ["a"])).toEqual(["a"]);
  });

  it("keeps its later parts, and forgets those that are complete", async () => {
    const unfinished = new UnfinishedWindow();
    await read(unfinished, ["a", "b", "c", "d"], { fails: true });
    expect(await read(unfinished, ["a", "b", "x"], { toMs: HOUR_MS / 2 })).toEqual(["a", "b"]);
    expect(unfinished.size).toBe(2);
    expect(await read(unfinished, ["c", "d"])).toEqual(["c", "d"]);
    expect(unfinished.size).toBe(0);
  });

  it("is forgotten with the next ones when its end was one of a wrong clock", async () => {
    const unfinished = new UnfinishedWindow();
    await read(unfinished, ["a"], { fails: true, toMs: 99 * HOUR_MS, nowMs: 99 * HOUR_MS });
    await read(unfinished, ["b"], { toMs: HOUR_MS, nowMs: HOUR_MS });
    await read(unfinished, ["c"], { toMs: 2 * HOUR_MS, nowMs: 2 * HOUR_MS });
    expect(unfinished.size).toBe(0);
  });

  it("is remembered up to its bound, the first first", async () => {
    const unfinished = new UnfinishedWindow();
    const all = Array.from({ length: MAX_UNFINISHED + 1 }, (_, at) => String(at));
    await read(unfinished, all, { fails: true });
    expect(unfinished.size).toBe(MAX_UNFINISHED);
    expect(await read(unfinished, [all[0] ?? "", all.at(-1) ?? ""])).toEqual(["0"]);
  });
});
