import { describe, expect, it } from "vitest";
import { untilAborted } from "../../gateway/until-aborted.ts";

const never = new Promise<never>(() => undefined);

/** Numbers from 0; tells whether it was ended. */
function counting(limit = Infinity): { source: AsyncIterable<number>; ended: () => boolean } {
  let ended = false;
  async function* count(): AsyncGenerator<number> {
    try {
      for (let value = 0; value < limit; value += 1) yield value;
    } finally {
      ended = true;
    }
  }
  return { source: count(), ended: () => ended };
}

describe("a stream", () => {
  it("gives the same items and ends when its source does", async () => {
    const seen: number[] = [];
    for await (const value of untilAborted(counting(3).source, new AbortController().signal))
      seen.push(value);
    expect(seen).toEqual([0, 1, 2]);
  });

  it("ends its source when its consumer stops", async () => {
    const { source, ended } = counting();
    for await (const value of untilAborted(source, new AbortController().signal))
      if (value === 2) break;
    expect(ended()).toBe(true);
  });

  it("throws the reason and ends its source when the signal fires while it waits", async () => {
    const control = new AbortController();
    let ended = false;
    const source = {
      [Symbol.asyncIterator]: () => ({
        next: () => never,
        return: () => ((ended = true), Promise.resolve({ done: true as const, value: undefined })),
      }),
    };
    const next = untilAborted(source, control.signal).next();
    control.abort(new Error("reason"));
    await expect(next).rejects.toThrow("reason");
    expect(ended).toBe(true);
  });

  it("ends its source at once when the signal fires while its consumer is busy", async () => {
    const control = new AbortController();
    const { source, ended } = counting();
    const items = untilAborted(source, control.signal);
    await items.next();
    control.abort(new Error("reason"));
    await expect.poll(ended).toBe(true);
    await expect(items.next()).rejects.toThrow("reason");
  });

  it("passes on what its source throws", async () => {
    async function* broken(): AsyncGenerator<number> {
      yield 1;
      throw new Error("own");
    }
    const items = untilAborted(broken(), new AbortController().signal);
    await items.next();
    await expect(items.next()).rejects.toThrow("own");
  });
});
