import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { parseBaseUrl } from "../../../../src/tokens/engine/base-url.ts";
import { Headroom } from "../../../../src/tokens/engine/platform/headroom.ts";
import type { HttpCall } from "../../../../src/tokens/engine/platform/http.ts";
import type { Quota } from "../../../../src/tokens/logical/types.ts";
import { createManualClock } from "../../../kernel/supervisor/manual-clock.ts";

const base = parseBaseUrl("https://github.example.org/api/v3");
const answer = (core: unknown) => JSON.stringify({ resources: { core } });
const whole = answer({ limit: 5_000, used: 700, remaining: 4_300, reset: 1_700_000_000 });

function setUp(status = 200, body = whole) {
  const clock = createManualClock();
  const calls: HttpCall[] = [];
  const found: Quota[] = [];
  let release: () => void = () => undefined;
  let isHeld = false;
  const http = {
    send: async (call: HttpCall) => {
      calls.push(call);
      if (isHeld) await new Promise<void>((resolve) => (release = resolve));
      return { status, statusText: "", headers: {}, body: Buffer.from(body), sentAtMs: 0 };
    },
    close: () => Promise.resolve(),
  };
  const headroom = new Headroom({
    clock,
    platform: { http, clock, userAgent: "steward/test" },
    found: (quota) => void found.push(quota),
  });
  return {
    clock,
    calls,
    found,
    note: async (id = "1001") => {
      headroom.note(base, id, "ghs_token");
      await setImmediate();
    },
    hold: () => (isHeld = true),
    release: () => release(),
  };
}

describe("What an installation has left", () => {
  it("is asked with its own token, and told", async () => {
    const { calls, found, note } = setUp();
    await note();
    expect(calls).toMatchObject([
      {
        method: "GET",
        origin: "https://github.example.org",
        path: "/api/v3/rate_limit",
        headers: { authorization: "Bearer ghs_token" },
      },
    ]);
    expect(found).toEqual([
      { installationId: "1001", limit: 5_000, remaining: 4_300, resetAtMs: 1_700_000_000_000 },
    ]);
  });

  it("is asked once a minute for each installation, and once an hour where there is no limit", async () => {
    const { clock, calls, note } = setUp();
    for (const id of ["1", "1", "2", "1"]) await note(id);
    expect(calls).toHaveLength(2);
    await clock.advance(60_000);
    await note("1");
    expect(calls).toHaveLength(3);
    const without = setUp(404, "");
    await without.note();
    await without.clock.advance(3_599_000);
    await without.note();
    expect([without.calls.length, without.found]).toEqual([1, []]);
    await without.clock.advance(1_000);
    await without.note();
    expect(without.calls).toHaveLength(2);
  });

  it("is asked again by the next mint after five seconds when the token is not known yet", async () => {
    const { clock, calls, note } = setUp(401);
    await note();
    await clock.advance(4_999);
    await note();
    expect(calls).toHaveLength(1);
    await clock.advance(1);
    expect([calls.length, clock.timers()]).toEqual([1, 0]);
    await note();
    expect(calls).toHaveLength(2);
  });

  it("is asked by two calls at a time at most", async () => {
    const { calls, note, hold } = setUp();
    hold();
    for (let id = 0; id < 9; id += 1) await note(String(id));
    expect(calls).toHaveLength(2);
  });

  it.each([
    [200, "no JSON"],
    [200, answer({ limit: "many" })],
    [200, "{}"],
    [401, whole],
    [500, whole],
  ])("says nothing after %i %s", async (status, body) => {
    const { found, note } = setUp(status, body);
    await note();
    expect(found).toEqual([]);
  });
});
