import { describe, expect, it } from "vitest";
import { delay, type Clock } from "../../../src/kernel/base/clock.ts";
import { ask, type Asked } from "../../../src/dedup/ai/ask.ts";
import { createPace } from "../../../src/dedup/ai/pace.ts";
import { failed } from "../../../src/dedup/ai/providers/failures.ts";
import type {
  AiProvider,
  ModelAnswer,
  ModelFailure,
  ModelRequest,
} from "../../../src/dedup/ai/providers/types.ts";
import { createManualClock, type ManualClock } from "../../kernel/supervisor/manual-clock.ts";

const ANSWER: ModelAnswer = { text: "{}", promptTokens: 10, completionTokens: 2, cachedTokens: 0 };
const LATENCY_MS = 100;
const MINUTE = 60_000;
const never = new AbortController().signal;

function request(user = "a text"): ModelRequest {
  return { model: "m", system: "s", user, schema: {}, effort: "none", outputTokens: 100 };
}

function limited(retryAfterMs?: number): ModelFailure {
  const failure = failed("rate_limit", "the provider's rate limit is reached", "retry");
  return retryAfterMs === undefined ? failure : { ...failure, retryAfterMs };
}

interface CountingProvider extends AiProvider {
  /** When each request came, since the test began. */
  readonly startsMs: number[];
}

/** Replies after a while, as it decided when the request came. */
function providerOf(
  clock: Clock,
  reply: (request: ModelRequest) => ModelAnswer | ModelFailure,
): CountingProvider {
  const beginMs = clock.monotonic();
  const startsMs: number[] = [];
  return {
    startsMs,
    async ask(asked, signal) {
      startsMs.push(clock.monotonic() - beginMs);
      const outcome = reply(asked);
      await delay(clock, LATENCY_MS, signal);
      return outcome;
    },
    models: async () => [],
  };
}

/** A full token bucket; what is refused learns when the next token is there, a minute at most. */
function bucketReply(
  clock: Clock,
  capacity: number,
  perMinute: number,
): () => ModelAnswer | ModelFailure {
  let [tokens, filledMs] = [capacity, clock.monotonic()];
  return () => {
    const now = clock.monotonic();
    tokens = Math.min(capacity, tokens + ((now - filledMs) * perMinute) / MINUTE);
    filledMs = now;
    if (tokens < 1 - 1e-6) return limited(Math.min(MINUTE, ((1 - tokens) * MINUTE) / perMinute));
    tokens -= 1;
    return ANSWER;
  };
}

interface Batch {
  readonly clock: ManualClock;
  readonly provider: AiProvider;
  readonly texts: readonly string[];
  readonly concurrency: number;
  readonly maxRetries?: number;
  readonly intervalMs?: number;
}

/** Asks for all documents, several at once, as a run does. */
async function askAll(batch: Batch): Promise<Asked[]> {
  const { clock, provider, texts, concurrency, maxRetries = 3, intervalMs = 0 } = batch;
  const pace = createPace(clock, intervalMs);
  const results: Asked[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < texts.length; index = next++)
      results[index] = await ask(
        { provider, clock, pace, maxRetries },
        request(texts[index]),
        never,
      );
  };
  await ended(clock, Promise.all(Array.from({ length: concurrency }, work)));
  return results;
}

/** Moves the clock on until the promise settles, a day at most. */
async function ended<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  const settled = { yet: false };
  const outcome = promise.finally(() => (settled.yet = true));
  outcome.catch(() => undefined);
  for (let minutes = 0; !settled.yet && minutes < 1_440; minutes++) await clock.advance(MINUTE);
  expect(settled.yet).toBe(true);
  return await outcome;
}

function documents(count: number): string[] {
  return Array.from({ length: count }, (_, number) => `document ${number}`);
}

const isAnswered = ({ outcome }: Asked): boolean => !("failure" in outcome);

describe("a rate limit", () => {
  it.each([
    { perMinute: 50, capacity: 50 },
    { perMinute: 50, capacity: 5 },
    { perMinute: 500, capacity: 500 },
  ])(
    "of $perMinute requests a minute, $capacity at once, lets all 1,000 documents pass",
    async ({ perMinute, capacity }) => {
      const clock = createManualClock();
      const provider = providerOf(clock, bucketReply(clock, capacity, perMinute));
      const results = await askAll({ clock, provider, texts: documents(1_000), concurrency: 100 });
      expect(results.filter(isAnswered)).toHaveLength(1_000);
      expect(provider.startsMs.length).toBeLessThan(1_300);
      // Not much slower than the limit allows.
      const leastMs = ((1_000 - capacity) * MINUTE) / perMinute;
      expect(provider.startsMs.at(-1)).toBeLessThan(1.2 * leastMs);
    },
  );

  it("without a time pauses all requests for seconds, then lets them start one by one", async () => {
    const clock = createManualClock();
    const provider = providerOf(clock, () => (clock.monotonic() < 1_050 ? limited() : ANSWER));
    const results = await askAll({ clock, provider, texts: documents(5), concurrency: 5 });
    expect(results.every(isAnswered)).toBe(true);
    const later = provider.startsMs.slice(5);
    expect(later[0]).toBe(LATENCY_MS + 5_000);
    for (const [index, startMs] of later.slice(1).entries())
      expect(startMs - later[index]!).toBeGreaterThan(20);
  });

  it("uses up no retry", async () => {
    const clock = createManualClock();
    let count = 0;
    const provider = providerOf(clock, () => (count++ < 5 ? limited(0) : ANSWER));
    const [asked] = await askAll({
      clock,
      provider,
      texts: ["a text"],
      concurrency: 1,
      maxRetries: 0,
    });
    expect(asked).toMatchObject({ outcome: ANSWER, requests: 6 });
  });

  it("that a document never fits fails that document only", async () => {
    const clock = createManualClock();
    const provider = providerOf(clock, ({ user }) => (user === "too long" ? limited(0) : ANSWER));
    const texts = ["too long", ...documents(50)];
    const [tooLong, ...others] = await askAll({ clock, provider, texts, concurrency: 10 });
    expect(tooLong).toMatchObject({
      outcome: { failure: "rate_limit", scope: "retry" },
      requests: 8,
    });
    expect(others.every(isAnswered)).toBe(true);
  });

  it("and nothing else for ten minutes is the end of the run", async () => {
    const clock = createManualClock();
    const provider = providerOf(clock, () => limited(MINUTE));
    const pace = createPace(clock, 0);
    const first = Promise.race(
      documents(100).map((text) =>
        ask({ provider, clock, pace, maxRetries: 3 }, request(text), never),
      ),
    );
    const { outcome } = await ended(clock, first);
    expect(outcome).toMatchObject({
      failure: "rate_limit",
      scope: "run",
      message: expect.stringContaining("ten minutes"),
    });
    expect(provider.startsMs.length).toBeLessThan(120);
  });

  it("leaves no wait behind when the run is cancelled", async () => {
    const clock = createManualClock();
    const provider = providerOf(clock, () => limited(MINUTE));
    const pace = createPace(clock, 0);
    const cancel = new AbortController();
    const waits = Promise.allSettled(
      documents(20).map((text) =>
        ask({ provider, clock, pace, maxRetries: 3 }, request(text), cancel.signal),
      ),
    );
    await clock.advance(1_000);
    cancel.abort(new Error("cancelled"));
    for (const wait of await waits)
      expect(wait).toMatchObject({ status: "rejected", reason: { message: "cancelled" } });
    expect(clock.timers()).toBe(0);
    expect(provider.startsMs).toHaveLength(20);
  });
});

describe("the interval between two requests", () => {
  it("is never shorter than its setting", async () => {
    const clock = createManualClock();
    let count = 0;
    const provider = providerOf(clock, () => (count++ === 10 ? limited(0) : ANSWER));
    await askAll({ clock, provider, texts: documents(200), concurrency: 10, intervalMs: 30 });
    const intervals = provider.startsMs
      .slice(1)
      .map((startMs, index) => startMs - provider.startsMs[index]!);
    expect(Math.min(...intervals)).toBeCloseTo(30);
    // Back at the setting after the rate limit.
    expect(intervals.at(-1)).toBeCloseTo(30);
    expect(Math.max(...intervals)).toBeGreaterThan(50);
  });
});

describe("another failure that may pass", () => {
  it("is tried again as often as the setting allows, each time later", async () => {
    const clock = createManualClock();
    const provider = providerOf(clock, () => failed("timeout", "too slow", "retry"));
    const [asked] = await askAll({
      clock,
      provider,
      texts: ["a text"],
      concurrency: 1,
      maxRetries: 2,
    });
    expect(asked).toMatchObject({ outcome: { failure: "timeout" }, requests: 3 });
    expect(provider.startsMs).toEqual([0, 1_100, 3_200]);
  });

  it("counts the tokens of all attempts", async () => {
    const clock = createManualClock();
    let count = 0;
    const cut = failed("timeout", "too slow", "retry", { ...ANSWER });
    const provider = providerOf(clock, () => (count++ === 0 ? cut : ANSWER));
    const [asked] = await askAll({ clock, provider, texts: ["a text"], concurrency: 1 });
    expect(asked).toMatchObject({ promptTokens: 20, completionTokens: 4, requests: 2 });
  });
});
