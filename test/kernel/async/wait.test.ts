import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { late, orAborted, waitFor } from "../../../src/kernel/async/wait.ts";
import { createDeadline, withDeadline } from "../../../src/kernel/async/deadline.ts";
import { createManualClock } from "../supervisor/manual-clock.ts";

const never = new Promise<never>(() => {});

describe("a wait with a limit", () => {
  it("gives the promise's outcome when that comes first, and leaves no timer behind", async () => {
    const clock = createManualClock();
    expect(await waitFor(Promise.resolve(7), { clock, timeoutMs: 100 })).toBe(7);
    await expect(
      waitFor(Promise.reject(new Error("broken")), { clock, timeoutMs: 100 }),
    ).rejects.toThrow("broken");
    await turn();
    expect(clock.timers()).toBe(0);
  });

  it("is late when the time passes, and when the signal fires", async () => {
    const clock = createManualClock();
    const waiting = waitFor(never, { clock, timeoutMs: 100 });
    await clock.advance(100);
    expect(await waiting).toBe(late);
    const control = new AbortController();
    const watched = waitFor(never, { clock, timeoutMs: 100, signal: control.signal });
    control.abort();
    expect(await watched).toBe(late);
    expect(await waitFor(never, { clock, timeoutMs: 100, signal: control.signal })).toBe(late);
  });
});

describe("a wait with a signal", () => {
  it("rejects with the signal's reason, also when it fired before", async () => {
    const control = new AbortController();
    const waiting = orAborted(never, control.signal);
    control.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    await expect(orAborted(never, control.signal)).rejects.toThrow("enough");
  });

  it("handles the rejection of the promise that it leaves behind", async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    await expect(orAborted(promise, AbortSignal.abort(new Error("enough")))).rejects.toThrow(
      "enough",
    );
    reject(new Error("nobody waits"));
    await turn();
  });
});

describe("work with a deadline", () => {
  const reason = (): Error => new Error("too slow");

  it("gets a signal that fires at the deadline, and is left behind when it ignores that", async () => {
    const clock = createManualClock();
    let given: AbortSignal | undefined;
    const running = withDeadline({ clock, timeoutMs: 100, reason }, (signal) => {
      given = signal;
      return never;
    });
    running.catch(() => undefined);
    await clock.advance(99);
    expect(given?.aborted).toBe(false);
    await clock.advance(1);
    expect(given?.reason).toEqual(reason());
    await expect(running).rejects.toThrow("too slow");
  });

  it("ends with the caller's signal, for the caller's reason", async () => {
    const control = new AbortController();
    const running = withDeadline(
      { clock: createManualClock(), timeoutMs: 100, signal: control.signal, reason },
      () => never,
    );
    control.abort(new Error("the caller left"));
    await expect(running).rejects.toThrow("the caller left");
  });

  it("counts no time while it is paused", async () => {
    const clock = createManualClock();
    using deadline = createDeadline(clock, 100, undefined, reason);
    await clock.advance(60);
    deadline.pause();
    await clock.advance(1_000);
    deadline.resume();
    expect(deadline.elapsedMs()).toBe(60);
    await clock.advance(39);
    expect(deadline.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(deadline.signal.aborted).toBe(true);
  });
});
