import { existsSync, readdirSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { createKeptTexts } from "../../src/dedup/kept-texts.ts";
import type { KeptTexts } from "../../src/dedup/kept-texts.ts";
import { temporaryFolder } from "../kernel/state/fixtures/tables.ts";

const texts = Array.from({ length: 200 }, (_, number) =>
  Uint8Array.from({ length: (number * 7) % 41 }, (__, at) => (number + at) % 256),
);

function keep(folder: string, memoryBytes: number): KeptTexts {
  const kept = createKeptTexts({ folder, memoryBytes });
  onTestFinished(() => kept.close());
  return kept;
}

it.each([0, 300, 1e9])(
  "gives back every text, in any order, with %i bytes in memory",
  async (bytes) => {
    const folder = temporaryFolder();
    const kept = keep(folder, bytes);
    const places = [];
    for (const [number, text] of texts.entries()) {
      places.push(kept.put(text));
      if (number % 13 === 0) await kept.flush();
    }
    await kept.flush();
    const inMemory = places.filter((place) => place instanceof Uint8Array);
    expect(inMemory.reduce((sum, text) => sum + text.length, 0)).toBeLessThanOrEqual(bytes);
    for (const [number, place] of [...places.entries()].toReversed())
      expect([number, [...kept.get(place)]]).toEqual([number, [...(texts[number] ?? [])]]);
    expect(readdirSync(folder)).toEqual([]);
  },
);

it("needs no folder for what fits in memory, and names a missing one", async () => {
  const folder = "/nonexistent/folder";
  const kept = keep(folder, 8);
  const first = kept.put(Uint8Array.of(1, 2, 3));
  await kept.flush();
  expect([...kept.get(first)]).toEqual([1, 2, 3]);
  kept.put(new Uint8Array(8));
  await expect(kept.flush()).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining(`in ${folder}`) as string,
    remedy: expect.stringContaining("TMPDIR") as string,
  });
  expect(existsSync(folder)).toBe(false);
});
