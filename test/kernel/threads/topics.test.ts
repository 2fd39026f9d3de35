import { describe, expect, it } from "vitest";
import { Topics } from "../../../src/kernel/threads/topics.ts";

const never = new AbortController().signal;

function topics(): { topics: Topics; changes: string[] } {
  const changes: string[] = [];
  const made = new Topics((topic, listened) => changes.push(`${listened ? "+" : "-"}${topic}`));
  made.open();
  return { topics: made, changes };
}

describe("a topic", () => {
  it("is asked for by its first listener and given up by its last", async () => {
    const { topics: made, changes } = topics();
    const stop = new AbortController();
    const first = made.listen("a", stop.signal)[Symbol.asyncIterator]();
    const second = made.listen("a", never)[Symbol.asyncIterator]();
    stop.abort();
    expect(await first.next()).toEqual({ done: true, value: undefined });
    expect(changes).toEqual(["+a"]);
    made.publish("a", new Uint8Array([1]));
    expect(await second.next()).toEqual({ done: false, value: new Uint8Array([1]) });
    await second.return?.();
    expect(changes).toEqual(["+a", "-a"]);
  });

  it("loses the oldest for a listener that is 64 behind, and counts them", async () => {
    const { topics: made } = topics();
    const slow = made.listen("a", never)[Symbol.asyncIterator]();
    for (let count = 0; count < 70; count++) made.publish("a", new Uint8Array([count]));
    expect(await slow.next()).toEqual({ done: false, value: new Uint8Array([6]) });
    expect(made.missed).toBe(6);
  });

  it("is heard by nobody while closed", async () => {
    const { topics: made } = topics();
    const open = made.listen("a", never)[Symbol.asyncIterator]().next();
    made.close();
    expect(await open).toEqual({ done: true, value: undefined });
    expect(await made.listen("a", never)[Symbol.asyncIterator]().next()).toEqual({
      done: true,
      value: undefined,
    });
    expect(await made.listen("a", AbortSignal.abort())[Symbol.asyncIterator]().next()).toEqual({
      done: true,
      value: undefined,
    });
  });
});
