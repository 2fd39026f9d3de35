import { describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { runCycle } from "../../../src/monitor/runner/cycle.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";

/** Runners that say when they begin and end when told to. */
function runners(...names: string[]) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const all = names.map((name) => ({
    name,
    runNow: (signal: AbortSignal) => {
      begun.push(name);
      const { promise, resolve } = Promise.withResolvers<{
        readonly tookMs: number;
        readonly error: StewardError | undefined;
      }>();
      ends.set(name, () => resolve({ tookMs: 1, error: undefined }));
      const stop = (): void => resolve({ tookMs: 2, error: signal.reason as StewardError });
      if (signal.aborted) stop();
      signal.addEventListener("abort", stop);
      return promise;
    },
  }));
  return { all, begun, end: (name: string) => ends.get(name)?.() };
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

describe("A cycle of collectors", () => {
  it("runs devices before all others, and these at once", async () => {
    const clock = createManualClock();
    const { all, begun, end } = runners("users", "devices", "keys");
    const running = runCycle(
      { clock, network: "n", runners: all },
      { signal: new AbortController().signal, timeoutMs: 9_000 },
    );
    await turns();
    expect(begun).toEqual(["devices"]);
    end("devices");
    await turns();
    expect(begun).toEqual(["devices", "users", "keys"]);
    expect(clock.timers()).toBe(0);
    end("users");
    end("keys");
    expect(
      (await running).map(({ network, collector, error }) => [network, collector, error]),
    ).toEqual([
      ["n", "devices", undefined],
      ["n", "users", undefined],
      ["n", "keys", undefined],
    ]);
  });

  it("lets the others begin after a third of the time when devices hang, and ends all with the signal", async () => {
    const clock = createManualClock();
    const { all, begun, end } = runners("devices", "users");
    const late = new AbortController();
    const running = runCycle(
      { clock, network: "n", runners: all },
      { signal: late.signal, timeoutMs: 9_000 },
    );
    await clock.advance(2_999);
    expect(begun).toEqual(["devices"]);
    await clock.advance(1);
    expect(begun).toEqual(["devices", "users"]);
    end("users");
    late.abort(new StewardError("deadline", "too late"));
    expect((await running).map(({ collector, error }) => [collector, error?.message])).toEqual([
      ["devices", "too late"],
      ["users", undefined],
    ]);
  });

  it("does not wait where there are no devices to be collected", async () => {
    const { all, begun, end } = runners("users");
    const running = runCycle(
      { clock: createManualClock(), network: "n", runners: all },
      { signal: new AbortController().signal, timeoutMs: 9_000 },
    );
    await turns();
    expect(begun).toEqual(["users"]);
    end("users");
    expect(await running).toHaveLength(1);
  });
});
