import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createPoller, type Poller } from "../../../../gateway/web/browser/poller.ts";

interface Asked {
  resolve(answer: number): void;
  reject(error: Error): void;
}

let asked: Asked[];
let answers: number[];
let visible: boolean;
let poller: Poller;

beforeEach(() => {
  vi.useFakeTimers();
  [asked, answers, visible] = [[], [], true];
  poller = createPoller<number>(
    {
      fetch: () => new Promise((resolve, reject) => void asked.push({ resolve, reject })),
      now: () => Date.now(),
      visible: () => visible,
      answered: (answer) => void answers.push(answer),
      changed: () => undefined,
    },
    { everyMs: () => 5000, longestMs: 60_000, timeoutMs: 15_000 },
  );
});
afterEach(() => vi.useRealTimers());

/** Answers the newest question and lets what follows run. */
async function settle(with_: number | Error): Promise<void> {
  const last = asked.at(-1);
  if (with_ instanceof Error) last?.reject(with_);
  else last?.resolve(with_);
  await vi.advanceTimersByTimeAsync(0);
}

describe("a poller", () => {
  it("asks at once, and again an interval after each answer", async () => {
    poller.resume();
    await settle(1);
    await vi.advanceTimersByTimeAsync(4999);
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect([asked.length, answers]).toEqual([2, [1]]);
  });

  it("never asks twice at once, however slow the answer and however often it is told to", async () => {
    poller.resume();
    await vi.advanceTimersByTimeAsync(60_000);
    void poller.refresh();
    poller.looked();
    poller.pause();
    poller.resume();
    expect(asked).toHaveLength(1);
    await settle(1);
    expect(answers).toEqual([1]);
  });

  it("waits twice as long after each failure, up to a minute, and tells why and until when", async () => {
    poller.resume();
    const waits: number[] = [];
    for (let failure = 0; failure < 6; failure += 1) {
      await settle(new Error("the server does not answer"));
      waits.push((poller.state.nextAtMs ?? 0) - Date.now());
      await vi.advanceTimersByTimeAsync(waits.at(-1) ?? 0);
    }
    expect(waits).toEqual([10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
    expect(poller.state.problem).toBe("the server does not answer");
    await settle(7);
    expect([poller.state.problem, (poller.state.nextAtMs ?? 0) - Date.now()]).toEqual([
      undefined,
      5000,
    ]);
  });

  it("rests while nobody looks, and asks at once when somebody does after an interval", async () => {
    poller.resume();
    await settle(1);
    visible = false;
    poller.looked();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(asked).toHaveLength(1);
    visible = true;
    poller.looked();
    expect(asked).toHaveLength(2);
  });

  it("does not ask at once for somebody who looked away for a moment", async () => {
    poller.resume();
    await settle(1);
    visible = false;
    poller.looked();
    visible = true;
    poller.looked();
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(5000);
    expect(asked).toHaveLength(2);
  });

  it("stops while paused, and answers a wish for now all the same", async () => {
    poller.resume();
    await settle(1);
    poller.pause();
    await vi.advanceTimersByTimeAsync(600_000);
    expect([asked.length, poller.state.paused, poller.state.nextAtMs]).toEqual([
      1,
      true,
      undefined,
    ]);
    void poller.refresh();
    await settle(2);
    await vi.advanceTimersByTimeAsync(600_000);
    expect([asked.length, answers]).toEqual([2, [1, 2]]);
  });
});
