import { describe, expect, it } from "vitest";
import { createPace } from "../../../../src/kernel/state/writes/pace.ts";
import type { Pace } from "../../../../src/kernel/state/writes/pace.ts";

const MEBIBYTE = 2 ** 20;
const small = { bytes: 300, tookMs: 1 };
const bulk = { bytes: MEBIBYTE, tookMs: 7 };

function paceAt(): { pace: Pace; readonly at: (ms: number) => void } {
  let now = 0;
  const pace = createPace({
    now: () => now,
    monotonic: () => now,
    timer: () => ({ [Symbol.dispose]: () => {} }),
  });
  return { pace, at: (ms) => void (now = ms) };
}

function store(pace: Pace, name: string, times: number): void {
  for (let time = 0; time < times; time += 1) expect(pace.restMs(name, small)).toBe(0);
}

describe("the pace of environments that share a folder", () => {
  it("lets a bulk writer rest twice as long as its last group took, while another stores many small ones", () => {
    const { pace } = paceAt();
    expect(pace.restMs("text", bulk)).toBe(0);
    store(pace, "tokens", 30);
    expect(pace.restMs("text", bulk)).toBe(14);
    expect(pace.restMs("text", { bytes: MEBIBYTE, tookMs: 5_000 })).toBe(100);
  });

  it("lets it write when its own environment or nobody stores small ones", () => {
    const { pace } = paceAt();
    store(pace, "text", 30);
    expect(pace.restMs("text", bulk)).toBe(0);
    store(pace, "tokens", 7);
    expect(pace.restMs("text", bulk)).toBe(0);
  });

  it("takes one small change beside each large one for the bulk writer's own", () => {
    const { pace } = paceAt();
    for (let time = 0; time < 40; time += 1) {
      expect(pace.restMs("text", bulk)).toBe(0);
      store(pace, "dedup", 1);
    }
  });

  it("forgets who was busy after a fifth of a second", () => {
    const { pace, at } = paceAt();
    at(50);
    store(pace, "tokens", 30);
    at(199);
    expect(pace.restMs("text", bulk)).toBe(14);
    at(200);
    expect(pace.restMs("text", bulk)).toBe(0);
  });
});
