import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { createBreaker } from "../../../src/kernel/client/call/breaker.ts";
import { createLedger } from "../../../src/kernel/client/call/ledger.ts";
import { createRetryBudget, retryDelayMs } from "../../../src/kernel/client/call/retry.ts";
import { retryAfterMs } from "../../../src/kernel/client/http/retry-after.ts";
import { createSkew } from "../../../src/kernel/client/http/skew.ts";
import { createTokenBucket } from "../../../src/kernel/client/call/token-bucket.ts";
import { addressOf, pathOf, sameOrigin } from "../../../src/kernel/client/http/url.ts";
import { createManualClock } from "../supervisor/manual-clock.ts";
import { forever } from "./upstream.ts";

describe("a token bucket", () => {
  it("serves first come first served at its rate, saving up to its capacity", async () => {
    const clock = createManualClock();
    const bucket = createTokenBucket({ capacity: 2, perSecond: 10, waiting: 10 }, clock);
    const served: [number, number][] = [];
    for (let name = 0; name < 5; name++)
      void bucket.take(forever).then((waitedMs) => served.push([name, waitedMs]));
    await clock.advance(0);
    expect(served).toEqual([
      [0, 0],
      [1, 0],
    ]);
    await clock.advance(150);
    expect(served.slice(2)).toEqual([[2, 100]]);
    await clock.advance(10_000);
    expect(served.slice(3).map(([name, waitedMs]) => [name, Math.round(waitedMs)])).toEqual([
      [3, 200],
      [4, 300],
    ]);
    expect(clock.timers()).toBe(0);
    for (let turn = 0; turn < 3; turn++)
      void bucket.take(forever).then((waitedMs) => served.push([9, waitedMs]));
    await clock.advance(0);
    expect(served).toHaveLength(7);
  });

  it("gives the token of who left to the next one, and refuses when too many wait", async () => {
    const clock = createManualClock();
    const bucket = createTokenBucket({ capacity: 1, perSecond: 1, waiting: 2 }, clock);
    await bucket.take(forever);
    const stop = new AbortController();
    const left = bucket.take(stop.signal);
    const next = bucket.take(forever);
    await expect(bucket.take(forever)).rejects.toMatchObject({ code: "exhausted" });
    stop.abort(new StewardError("cancelled", "left"));
    await expect(left).rejects.toMatchObject({ message: "left" });
    await clock.advance(1_000);
    expect(await next).toBe(1_000);
  });
});

describe("a retry", () => {
  it("waits between half and the whole of a doubled delay, or what was asked for, never beyond the cap", () => {
    const rule = { retries: 3, baseDelayMs: 500, maxDelayMs: 3_000 };
    expect(
      [1, 2, 3, 4, 9].map((attempt) => [
        retryDelayMs(rule, attempt, undefined, 0),
        retryDelayMs(rule, attempt, undefined, 1),
      ]),
    ).toEqual([
      [250, 500],
      [500, 1_000],
      [1_000, 2_000],
      [1_500, 3_000],
      [1_500, 3_000],
    ]);
    expect(retryDelayMs(rule, 1, 1_200, 0.5)).toBe(1_200);
    expect(retryDelayMs(rule, 1, 60_000, 0.5)).toBe(3_000);
  });

  it.each([
    [{ "retry-after": "7" }, 7_000],
    [{ "retry-after": "0" }, 0],
    [{ "retry-after": " 7 " }, 7_000],
    [{ "retry-after": "999999999999" }, 86_400_000],
    [{ "retry-after": "Wed, 01 Jan 2025 00:00:30 GMT" }, 30_000],
    [
      { "retry-after": "Wed, 01 Jan 2025 00:10:30 GMT", date: "Wed, 01 Jan 2025 00:10:00 GMT" },
      30_000,
    ],
    [{ "retry-after": "Tue, 31 Dec 2024 00:00:00 GMT" }, undefined],
    [{ "retry-after": "-5" }, undefined],
    [{ "retry-after": "soon" }, undefined],
    [{}, undefined],
    [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1735689660" }, 60_000],
    [{ "x-ratelimit-remaining": "5", "x-ratelimit-reset": "1735689660" }, undefined],
  ])("reads %j", (headers, expected) => {
    expect(retryAfterMs(headers as Record<string, string>, Date.UTC(2025, 0, 1))).toBe(expected);
  });

  it("is never thrown off by what stands in the headers", () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom("retry-after", "date", "x-ratelimit-remaining", "x-ratelimit-reset"),
          fc.oneof(fc.string(), fc.constant("0"), fc.nat().map(String), fc.date().map(String)),
        ),
        (headers) => {
          const waitMs = retryAfterMs(headers, 1e12);
          expect(waitMs === undefined || (waitMs >= 0 && waitMs <= 86_400_000)).toBe(true);
        },
      ),
    );
  });

  it("has a budget that a long good time does not fill without end", () => {
    const budget = createRetryBudget();
    for (let call = 0; call < 100_000; call++) budget.called();
    let spent = 0;
    while (budget.spend()) spent += 1;
    expect(spent).toBeLessThanOrEqual(200);
  });
});

describe("a breaker", () => {
  it("lets a single call find out, and others only after that one went well", async () => {
    const clock = createManualClock();
    const breaker = createBreaker({ failures: 2, coolMs: 1_000 }, clock);
    breaker.settle("trouble");
    breaker.settle("good");
    breaker.settle("trouble");
    expect(breaker.admit()).toBe(0);
    breaker.settle("trouble");
    expect(breaker.admit()).toBe(1_000);
    await clock.advance(1_000);
    expect([breaker.admit(), breaker.admit()]).toEqual([0, 1_000]);
    breaker.settle("unknown");
    expect(breaker.admit()).toBe(0);
    breaker.settle("trouble");
    expect(breaker.admit()).toBe(1_000);
    await clock.advance(1_000);
    expect(breaker.admit()).toBe(0);
    breaker.settle("good");
    expect([breaker.admit(), breaker.admit()]).toEqual([0, 0]);
  });
});

describe("skew", () => {
  it("is the median of the last samples, survives a step of our own clock, and ignores nonsense", async () => {
    const clock = createManualClock();
    let stepMs = 0;
    const skew = createSkew({ ...clock, now: () => clock.now() + stepMs });
    const sample = (aheadMs: number): void =>
      skew.sample(new Date(clock.now() + aheadMs).toUTCString(), clock.monotonic());
    for (const aheadMs of [60_000, 60_000, -3_000_000, 60_000, 4_000_000]) sample(aheadMs);
    for (const date of [undefined, "", "yesterday", "Thu, 01 Jan 1970 00:00:00 GMT"])
      skew.sample(date, clock.monotonic());
    skew.sample(new Date(clock.now() - 900_000).toUTCString(), clock.monotonic() - 60_000);
    expect(Math.abs(skew.skewMs() - 60_000)).toBeLessThanOrEqual(1_000);
    stepMs = 30_000;
    await clock.advance(5_000);
    expect(Math.abs(skew.skewMs() - 30_000)).toBeLessThanOrEqual(1_000);
  });
});

describe("a ledger", () => {
  it("keeps few rows and few durations, however many names and calls there are", () => {
    const ledger = createLedger(() => 5);
    for (let call = 0; call < 1_000; call++)
      ledger.record(
        {
          operation: `op${call}`,
          method: "GET",
          status: 200,
          class: undefined,
          durationMs: call,
          waitedMs: 0,
          attempt: 1,
        },
        undefined,
      );
    for (let call = 0; call < 100; call++)
      ledger.record(
        {
          operation: "op1",
          method: "GET",
          status: 0,
          class: "rate_limited",
          durationMs: call,
          waitedMs: 1,
          attempt: 2,
        },
        "x".repeat(1_000),
      );
    const rows = ledger.rows();
    expect(rows).toHaveLength(257);
    expect(rows.at(-1)).toMatchObject({ operation: "__other__", requests: 744 });
    expect(rows[1]).toMatchObject({
      requests: 101,
      retries: 100,
      failures: 100,
      rateLimited: 100,
      waitedMs: 100,
      lastMessage: "x".repeat(200),
    });
    expect(rows[1]?.recentMs).toEqual(Array.from({ length: 60 }, (_, index) => 40 + index));
  });
});

describe("addresses", () => {
  it("never leave the base, whatever an id is", () => {
    const base = new URL("https://host.example/api/v3/");
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }).filter((id) => id.isWellFormed()),
        (id) => {
          try {
            const address = addressOf(base, pathOf`/device/${id}/attributes`, { q: id });
            expect(address.origin).toBe(base.origin);
            expect(decodeURIComponent(address.pathname)).toBe(`/api/v3/device/${id}/attributes`);
            expect(address.searchParams.get("q")).toBe(id);
          } catch (error) {
            expect(error).toMatchObject({ code: "invalid", rule: "path" });
            expect(id === "" || /^\.{1,2}$|[/\\\0]/.test(id)).toBe(true);
          }
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("of the same origin are told from others", () => {
    const from = new URL("https://host.example:8443/a");
    expect(
      ["/b", "?c", "https://host.example:8443/x", "//host.example:8443/x"].map(
        (target) => sameOrigin(from, target)?.origin,
      ),
    ).toEqual(Array.from({ length: 4 }, () => from.origin));
    expect(
      [
        "https://host.example/",
        "http://host.example:8443/",
        "//evil/",
        "https://u@host.example:8443/",
        "https://[",
        "data:,x",
      ].map((target) => sameOrigin(from, target)),
    ).toEqual(Array.from({ length: 6 }, () => undefined));
  });
});

describe("the system clock", () => {
  it("is what a token bucket of a real client runs on", async () => {
    const bucket = createTokenBucket({ capacity: 1, perSecond: 10, waiting: 5 }, systemClock);
    await bucket.take(forever);
    expect(await bucket.take(forever)).toBeGreaterThan(5);
  });
});
