import { beforeEach, describe, expect, it } from "vitest";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import { writeError } from "../../../../src/kernel/base/error-message.ts";
import { PendingCalls } from "../../../../src/kernel/threads/calls/pending.ts";
import { createManualClock, type ManualClock } from "../../supervisor/manual-clock.ts";

let clock: ManualClock;
let sent: string[];
let calls: PendingCalls;
const never = new AbortController().signal;
const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);

beforeEach(() => {
  clock = createManualClock();
  sent = [];
  calls = new PendingCalls("monitor", clock, {
    cancel: (id) => void sent.push(`cancel ${id}`),
    credit: (id) => void sent.push(`credit ${id}`),
  });
});

describe("a call", () => {
  it("ends with its answer and leaves nothing behind", async () => {
    const stop = new AbortController();
    const { id, reply } = calls.open(stop.signal, 1000);
    calls.receive({ kind: "reply", id, meta: { status: 200 }, body: bytes(1), more: false });
    expect(await reply).toEqual({ meta: { status: 200 }, body: bytes(1), chunks: undefined });
    stop.abort();
    expect([calls.size, clock.timers(), sent]).toEqual([0, 0, []]);
  });

  it("that is given up is cancelled over there; what comes later is dropped and counted", async () => {
    const { id, reply } = calls.open(never, 1000);
    const refused = expect(reply).rejects.toMatchObject({
      code: "deadline",
      message: "monitor did not answer within 1000 ms",
    });
    await clock.advance(1000);
    await refused;
    calls.receive({ kind: "reply", id, meta: {}, body: bytes(), more: false });
    calls.receive({ kind: "end", id: 99 });
    expect([calls.dropped, sent]).toEqual([2, ["cancel 1"]]);
  });

  it("is refused above 1,024 at a time", () => {
    for (let count = 0; count < 1024; count++)
      calls.open(never, 1000).reply.catch(() => "not the point");
    expect(() => calls.open(never, 1000)).toThrow("monitor has 1024 calls in flight");
    calls.fail(new StewardError("not_ready", "gone"));
    expect([calls.size, calls.begun, clock.timers()]).toEqual([0, 1024, 0]);
  });

  it("is not begun for a caller that has gone", () => {
    expect(() => calls.open(AbortSignal.abort(new Error("gone")), 1000)).toThrow("gone");
    expect(calls.size).toBe(0);
  });

  it("fails with the error that was sent", async () => {
    const { id, reply } = calls.open(never, 1000);
    calls.receive({ kind: "end", id, error: writeError(new StewardError("sealed", "is sealed")) });
    await expect(reply).rejects.toMatchObject({ code: "sealed", message: "is sealed" });
  });
});

describe("a stream", () => {
  async function open(
    signal: AbortSignal = never,
  ): Promise<{ id: number; chunks: AsyncIterator<Uint8Array> }> {
    const { id, reply } = calls.open(signal, 1000);
    calls.receive({ kind: "reply", id, meta: {}, body: bytes(), more: true });
    const { chunks } = await reply;
    if (chunks === undefined) throw new Error("a stream has chunks");
    return { id, chunks: chunks[Symbol.asyncIterator]() };
  }

  it("has no deadline once it began, and gives credit for what was taken", async () => {
    const { id, chunks } = await open();
    await clock.advance(10_000);
    for (const value of [1, 2, 3, 4]) calls.receive({ kind: "chunk", id, body: bytes(value) });
    expect(sent).toEqual([]);
    expect([(await chunks.next()).value, (await chunks.next()).value]).toEqual([
      bytes(1),
      bytes(2),
    ]);
    expect(sent).toEqual(["credit 1", "credit 1"]);
    calls.receive({ kind: "end", id });
    expect([(await chunks.next()).value, (await chunks.next()).value, await chunks.next()]).toEqual(
      [bytes(3), bytes(4), { done: true, value: undefined }],
    );
    expect(calls.size).toBe(0);
  });

  it("ends the thread's work when it is left, and throws when the thread or the signal ends it", async () => {
    const left = await open();
    calls.receive({ kind: "chunk", id: left.id, body: bytes(1) });
    await left.chunks.next();
    await left.chunks.return?.();
    expect(sent).toEqual(["credit 1", "cancel 1"]);
    const stop = new AbortController();
    const aborted = await open(stop.signal);
    const next = aborted.chunks.next();
    stop.abort(new Error("the client went away"));
    await expect(next).rejects.toThrow("the client went away");
    const dead = await open();
    calls.fail(new StewardError("not_ready", "gone"));
    await expect(dead.chunks.next()).rejects.toMatchObject({ code: "not_ready" });
    expect(calls.size).toBe(0);
  });

  it("that exceeds its credit is broken", async () => {
    const { id, chunks } = await open();
    for (const value of [1, 2, 3, 4, 5]) calls.receive({ kind: "chunk", id, body: bytes(value) });
    for (let taken = 0; taken < 4; taken++) await chunks.next();
    await expect(chunks.next()).rejects.toMatchObject({ code: "internal" });
  });
});
