import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { learnTime, now } from "../../../../gateway/web/browser/clock.ts";
import { call } from "../../../../gateway/web/browser/document-api.ts";
import { createPresenceSource } from "../../../../gateway/web/browser/presence-source.ts";
import { createStatusSource } from "../../../../gateway/web/browser/status-source.ts";

const START_MS = Date.parse("2026-11-20T12:00:00Z");
const HOUR_MS = 3_600_000;

let steadyMs: number;

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS, toFake: ["Date"] });
  steadyMs = 1_000;
  vi.spyOn(performance, "now").mockImplementation(() => steadyMs);
  // The second answer differs by more than the clock tolerates: it counts exactly.
  learnTime(answer(START_MS - HOUR_MS));
  learnTime(answer(START_MS));
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Of the machine that is awake. */
function wait(ms: number): void {
  steadyMs += ms;
  vi.setSystemTime(Date.now() + ms);
}
function answer(timeMs: number): Response {
  return Response.json({}, { headers: { date: new Date(timeMs).toUTCString() } });
}
const passedMs = (): number => now() - START_MS;

it("counts the time that the machine slept, in which the monotonic clock stands still", () => {
  wait(5_000);
  vi.setSystemTime(START_MS + 8 * HOUR_MS);
  expect(passedMs()).toBe(8 * HOUR_MS);
});

it("goes on when the clock of the browser is set back", () => {
  wait(5_000);
  vi.setSystemTime(START_MS - HOUR_MS);
  expect(passedMs()).toBe(5_000);
});

it("is the server's time after an answer, also where the clock of the browser is set ahead", () => {
  learnTime(answer(START_MS + HOUR_MS));
  wait(10_000);
  expect(passedMs()).toBe(HOUR_MS + 10_000);
  vi.setSystemTime(START_MS + 5 * HOUR_MS);
  learnTime(answer(START_MS + HOUR_MS + 10_000));
  expect(passedMs()).toBe(HOUR_MS + 10_000);
});

it("does not jump by the fraction of a second that the header leaves out", () => {
  wait(1_900);
  learnTime(answer(START_MS + 1_000));
  expect(passedMs()).toBe(1_900);
  learnTime(new Response());
  expect(passedMs()).toBe(1_900);
});

it("learns from each answer of the status, of presence and of the documents", async () => {
  let serverMs = START_MS;
  vi.stubGlobal("fetch", () => Promise.resolve(answer((serverMs += HOUR_MS))));
  await createStatusSource()(new AbortController().signal);
  expect(passedMs()).toBe(HOUR_MS);
  await new Promise((resolve) => createPresenceSource(undefined, resolve).look());
  expect(passedMs()).toBe(2 * HOUR_MS);
  await call("GET", "/archives");
  expect(passedMs()).toBe(3 * HOUR_MS);
});
