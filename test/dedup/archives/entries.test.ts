import { describe, expect, it } from "vitest";
import { inBatches } from "../../../src/dedup/archives/batches.ts";
import type { ArchiveDocument } from "../../../src/dedup/archives/archive.ts";
import { listFolder } from "../../../src/dedup/archives/entries.ts";
import { mapInOrder, oneAhead } from "../../../src/dedup/archives/ordered.ts";
import { folderWith, gather } from "./reading.ts";

describe("the entries of a folder", () => {
  it("are sorted by name, however many", async () => {
    const names = Array.from({ length: 5_000 }, (_, at) => `${(at * 7919) % 5_000}.txt`);
    const folder = folderWith(Object.fromEntries(names.map((name) => [name, ""])));
    expect(
      (await listFolder(folder, new AbortController().signal)).map(({ name }) => name),
    ).toEqual([...names].sort());
  });
});

describe("ordered mapping", () => {
  it("keeps the order and the limit", async () => {
    let running = 0;
    let most = 0;
    async function* numbers(): AsyncGenerator<number> {
      for (let at = 0; at < 20; at++) yield at;
    }
    const results = await gather(
      mapInOrder(numbers(), 4, async (number) => {
        most = Math.max(most, ++running);
        for (let turn = 0; turn < (number * 7) % 5; turn++) await Promise.resolve();
        running -= 1;
        return number * 2;
      }),
    );
    expect(results).toEqual(Array.from({ length: 20 }, (_, at) => at * 2));
    expect(most).toBeLessThanOrEqual(4);
  });
});

describe("reading one ahead", () => {
  it("makes the next item meanwhile, ends the source when left and throws where its turn comes", async () => {
    let made = 0;
    let ended = false;
    async function* source(): AsyncGenerator<number> {
      try {
        for (;;) {
          if (made === 3) throw new Error("broken");
          yield made++;
        }
      } finally {
        ended = true;
      }
    }
    for await (const number of oneAhead(source())) {
      await Promise.resolve();
      expect([number, made]).toEqual([0, 2]);
      break;
    }
    expect(ended).toBe(true);
    made = 0;
    const seen: number[] = [];
    await expect(
      (async () => {
        for await (const number of oneAhead(source())) seen.push(number);
      })(),
    ).rejects.toThrow("broken");
    expect(seen).toEqual([0, 1, 2]);
  });
});

describe("batches", () => {
  it("hold at most 128 items and 4 MiB of text", async () => {
    const document = (text: string): ArchiveDocument => ({
      kind: "document",
      ref: "r",
      version: "v",
      title: "t",
      text,
      tags: [],
      notes: [],
    });
    async function* items(): AsyncGenerator<{ item: ArchiveDocument; fraction: number }> {
      for (let at = 0; at < 130; at++) yield { item: document(""), fraction: 0 };
      for (let at = 0; at < 3; at++) yield { item: document("x".repeat(900_000)), fraction: 0.5 };
      yield { item: document("x".repeat(3_000_000)), fraction: 1 };
    }
    const batches = await gather(inBatches(items()));
    expect(batches.map(({ items, fraction }) => [items.length, fraction])).toEqual([
      [128, 0],
      [4, 0.5],
      [1, 0.5],
      [1, 1],
    ]);
  });
});
