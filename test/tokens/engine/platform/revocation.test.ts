import { describe, expect, it } from "vitest";
import { parseBaseUrl } from "../../../../src/tokens/engine/base-url.ts";
import type { HttpCall, HttpLost } from "../../../../src/tokens/engine/platform/http.ts";
import { revokeToken } from "../../../../src/tokens/engine/platform/revocation.ts";
import { createManualClock } from "../../../kernel/supervisor/manual-clock.ts";

const base = parseBaseUrl("https://github.example.org/api/v3");
const API_404 = '{"message":"Not Found","status":"404"}';
const UNKNOWN = { status: 401, body: '{"message":"Bad credentials"}' };

interface Answer {
  readonly status: number;
  readonly body?: string;
  readonly type?: string;
}

/** A platform with these answers, the last one again and again. `takesMs`: for each of them. */
function platform(answers: readonly (Answer | HttpLost)[], takesMs = 0) {
  const clock = createManualClock();
  const startedMs = clock.monotonic();
  const sentAfterMs: number[] = [];
  const calls: HttpCall[] = [];
  const http = {
    send: async (call: HttpCall) => {
      const sentAtMs = clock.monotonic();
      const answer = answers[Math.min(calls.length, answers.length - 1)]!;
      calls.push(call);
      sentAfterMs.push(sentAtMs - startedMs);
      if (takesMs > 0)
        await new Promise<void>((resolve) => clock.timer(sentAtMs + takesMs, resolve));
      if ("lost" in answer) return answer;
      const { status, body = "", type = "application/json" } = answer;
      return {
        status,
        statusText: "",
        headers: { "content-type": type },
        body: Buffer.from(body),
        sentAtMs,
      };
    },
    close: () => Promise.resolve(),
  };
  const leaving = new AbortController();
  const revoke = (ageMs: number | undefined) =>
    revokeToken({ http, clock, userAgent: "steward/test" }, base, {
      token: "ghs_token",
      ageMs,
      signal: leaving.signal,
    });
  return { clock, calls, sentAfterMs, leaving, revoke };
}

describe("a 401 to the revocation of a new token", () => {
  it("is asked about again after growing waits, with the same token, until it is five seconds old", async () => {
    const { clock, calls, sentAfterMs, revoke } = platform([UNKNOWN]);
    const revoking = revoke(0);
    await clock.advance(60_000);
    expect(await revoking).toMatchObject({ over: true, outcome: { status: 401 } });
    expect(sentAfterMs).toEqual([0, 1_000, 3_000, 5_000]);
    for (const call of calls)
      expect(call).toMatchObject({
        method: "DELETE",
        path: "/api/v3/installation/token",
        headers: { authorization: "Bearer ghs_token" },
      });
  });

  it("is over with the first other answer", async () => {
    const { clock, sentAfterMs, revoke } = platform([UNKNOWN, UNKNOWN, { status: 204 }]);
    const revoking = revoke(0);
    await clock.advance(60_000);
    expect(await revoking).toMatchObject({ over: true, outcome: { status: 204 } });
    expect(sentAfterMs).toEqual([0, 1_000, 3_000]);
  });

  it("is no end when the next answer is a failure", async () => {
    const { clock, revoke } = platform([UNKNOWN, { status: 500 }]);
    const revoking = revoke(0);
    await clock.advance(60_000);
    expect(await revoking).toMatchObject({ over: false, outcome: { status: 500 } });
  });

  it.each<[number, readonly number[]]>([
    [3_000, [0, 1_000, 2_500]],
    [4_900, [0, 600]],
    [5_499, [0, 1]],
  ])("of %i ms is asked about for the rest of the time alone", async (ageMs, expected) => {
    const { clock, sentAfterMs, revoke } = platform([UNKNOWN]);
    const revoking = revoke(ageMs);
    await clock.advance(60_000);
    expect(await revoking).toMatchObject({ over: true });
    expect(sentAfterMs).toEqual(expected);
  });

  it("says nothing when it was sent too early, however late it comes", async () => {
    const { clock, sentAfterMs, revoke } = platform([UNKNOWN, { status: 204 }], 6_000);
    const revoking = revoke(0);
    await clock.advance(60_000);
    expect(await revoking).toMatchObject({ over: true, outcome: { status: 204 } });
    expect(sentAfterMs).toEqual([0, 6_000]);
  });

  it("is waited out for five seconds at most, whatever the wall clock was set to", async () => {
    const { clock, sentAfterMs, revoke } = platform([UNKNOWN]);
    const revoking = revoke(-3_600_000);
    await clock.advance(60_000);
    expect(await revoking).toMatchObject({ over: true });
    expect(sentAfterMs.at(-1)).toBe(5_000);
  });

  it("is waited out no longer than the signal lets it", async () => {
    const { clock, calls, leaving, revoke } = platform([UNKNOWN]);
    const revoking = revoke(0);
    await clock.advance(500);
    leaving.abort(new Error("enough"));
    expect(await revoking).toMatchObject({ over: false, outcome: { lost: "cancelled" } });
    expect([calls.length, clock.timers()]).toEqual([1, 0]);
  });
});

describe("an answer to a revocation", () => {
  it.each<[string, Answer, number | undefined]>([
    ["401 for an older token", UNKNOWN, 5_500],
    ["401 for a token of unknown age", UNKNOWN, undefined],
    ["404 of the API", { status: 404, body: API_404 }, 0],
    ["204", { status: 204 }, 0],
  ])("of %s is the end of it, at once", async (_, answer, ageMs) => {
    const { clock, calls, revoke } = platform([answer]);
    expect(await revoke(ageMs)).toMatchObject({ over: true });
    expect([calls.length, clock.timers()]).toEqual([1, 0]);
  });

  it.each<[string, Answer | HttpLost]>([
    ["a page", { status: 404, body: "<html>Not Found</html>", type: "text/html" }],
    ["a page without its type", { status: 404, body: "<!DOCTYPE html>" }],
    ["text", { status: 404, body: "404 page not found", type: "text/plain" }],
    ["nothing", { status: 404 }],
    ["JSON of another server", { status: 404, body: '{"errors":[]}' }],
    ["a message that is no text", { status: 404, body: '{"message":404}' }],
    ["a list", { status: 404, body: '[{"message":"Not Found"}]' }],
    ["JSON text", { status: 404, body: '"Not Found"' }],
    ["null", { status: 404, body: "null" }],
    ["410 of the API", { status: 410, body: API_404 }],
    ["a lost connection", { lost: "connection", sent: true, reason: "ECONNRESET" }],
  ])("with %s is a failure, at once", async (_, answer) => {
    const { clock, calls, revoke } = platform([answer]);
    expect(await revoke(0)).toMatchObject({ over: false });
    expect([calls.length, clock.timers()]).toEqual([1, 0]);
  });
});
