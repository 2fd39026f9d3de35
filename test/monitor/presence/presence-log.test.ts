import { describe, expect, it } from "vitest";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createMemoryStore } from "../../../src/monitor/checkpoints/memory-store.ts";
import { createPresenceLog } from "../../../src/monitor/presence/presence-log.ts";
import type { PresentDevice } from "../../../src/monitor/presence/types.ts";
import type { Evidence } from "../../../src/monitor/checkpoints/types.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MINUTE_MS = 60_000;
const START_MS = Date.parse("2026-11-20T10:00:00Z");

function device(name: string, online: boolean): PresentDevice {
  return { id: "", nodeId: `n-${name}`, name, online };
}

function setUp({ maxDevices }: { readonly maxDevices?: number } = {}) {
  let nowMs = START_MS;
  const lines: string[] = [];
  const log = createLog({
    level: "debug",
    format: "text",
    write: (line) => lines.push(line),
    now: () => 0,
  });
  const clock = { now: () => nowMs };
  const { evidence } = createMemoryStore({ now: () => nowMs, monotonic: () => nowMs } as never)(
    "a",
  );
  const failing = { now: false };
  const stored: Evidence = {
    ...evidence,
    change: (changes) =>
      failing.now ? Promise.reject(new Error("disk full")) : evidence.change(changes),
  };
  const open = () =>
    createPresenceLog(
      { clock, log, evidence: stored },
      { intervalMs: MINUTE_MS, ...(maxDevices === undefined ? {} : { maxDevices }) },
    );
  return {
    evidence,
    failing,
    lines,
    open,
    presence: open(),
    /** Moves the clock. */
    after: (ms: number) => void (nowMs += ms),
    window: (device = "") => ({ startMs: nowMs - DAY_MS, endMs: nowMs, device }),
  };
}

describe("presence", () => {
  it("has each change once, and devices that left and came back", () => {
    const { presence, after, window } = setUp();
    presence.observe([device("a", true), device("b", false)]);
    after(MINUTE_MS);
    presence.observe([device("a", true)]);
    after(MINUTE_MS);
    presence.observe([device("a", false), device("b", true)]);
    const { devices, observed } = presence.view(window());
    expect(devices).toEqual([
      {
        id: "n-a",
        name: "a",
        changes: [
          { atMs: START_MS, state: "online" },
          { atMs: START_MS + 2 * MINUTE_MS, state: "offline" },
        ],
      },
      {
        id: "n-b",
        name: "b",
        changes: [
          { atMs: START_MS, state: "offline" },
          { atMs: START_MS + MINUTE_MS, state: "gone" },
          { atMs: START_MS + 2 * MINUTE_MS, state: "online" },
        ],
      },
    ]);
    expect(observed).toEqual([{ fromMs: START_MS, toMs: START_MS + 2 * MINUTE_MS }]);
    expect(presence.view(window("n-b")).devices.map(({ name }) => name)).toEqual(["b"]);
    expect(presence.view(window("c")).devices).toEqual([]);
  });

  it("does not claim what it did not observe", () => {
    const { presence, after, window } = setUp();
    presence.observe([device("a", true)]);
    after(HOUR_MS);
    presence.observe([device("a", true)]);
    expect(presence.view(window()).observed).toEqual([
      { fromMs: START_MS, toMs: START_MS },
      { fromMs: START_MS + HOUR_MS, toMs: START_MS + HOUR_MS },
    ]);
  });

  it("survives a restart, and says the state at the beginning of a window", async () => {
    const { presence, open, after, window } = setUp();
    presence.observe([device("a", false)]);
    after(MINUTE_MS);
    presence.observe([device("a", true), device("b", true)]);
    after(MINUTE_MS);
    presence.observe([device("a", true), device("b", true)]);
    const before = presence.view(window());
    await presence.flush();
    expect(open().view(window())).toEqual(before);
    after(2 * DAY_MS);
    expect(open().view(window("a")).devices[0]?.changes).toEqual([
      { atMs: START_MS + MINUTE_MS, state: "online" },
    ]);
  });

  it("forgets after 30 days, on disk too, and keeps the last state", async () => {
    const { presence, evidence, open, after, window } = setUp();
    presence.observe([device("a", false), device("b", true)]);
    after(MINUTE_MS);
    presence.observe([device("a", true)]);
    after(31 * DAY_MS);
    presence.observe([device("a", true)]);
    await presence.flush();
    const { devices, days } = open().view({ ...window(), startMs: 0 });
    expect(devices).toEqual([
      { id: "n-a", name: "a", changes: [{ atMs: START_MS + MINUTE_MS, state: "online" }] },
    ]);
    expect(days).toHaveLength(1);
    expect(evidence.list("presence/").map(([key]) => key)).toEqual([
      "presence/day/2026-12-21",
      "presence/device/n-a",
      "presence/spans",
    ]);
  });

  it("counts devices by the hour and by the day", () => {
    const { presence, after, window } = setUp();
    presence.observe([device("a", true)]);
    after(MINUTE_MS);
    presence.observe([device("a", true), device("b", false)]);
    after(HOUR_MS);
    presence.observe([device("a", false)]);
    after(DAY_MS);
    presence.observe([device("a", true)]);
    const view = presence.view({ ...window(), startMs: 0 });
    expect(view.hours).toEqual([
      { atMs: START_MS, devices: 2, online: 1 },
      { atMs: START_MS + HOUR_MS, devices: 1, online: 0 },
      { atMs: START_MS + HOUR_MS + DAY_MS, devices: 1, online: 1 },
    ]);
    expect(view.days).toEqual([
      { atMs: Date.parse("2026-11-20"), devices: 1, online: 0 },
      { atMs: Date.parse("2026-11-21"), devices: 1, online: 1 },
    ]);
  });

  it("is bounded: the device that left first makes way, and changes are the newest 200", () => {
    const { presence, after, window } = setUp({ maxDevices: 2 });
    presence.observe([device("a", true), device("b", true), device("c", true)]);
    expect(presence.view(window()).devices.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(presence.view(window()).truncated).toBe(true);
    after(MINUTE_MS);
    presence.observe([device("b", true)]);
    after(MINUTE_MS);
    presence.observe([device("b", true), device("c", true)]);
    expect(presence.view(window()).devices.map(({ name }) => name)).toEqual(["b", "c"]);
    expect(presence.view(window()).truncated).toBe(false);
    for (let run = 0; run < 300; run += 1) {
      after(MINUTE_MS);
      presence.observe([device("b", run % 2 === 0)]);
    }
    expect(presence.view(window("b")).devices[0]?.changes).toHaveLength(200);
  });

  it("lets several that left make way in the order they left, but none that came back", () => {
    const { presence, after, window } = setUp({ maxDevices: 4 });
    const names = (): string[] => presence.view(window()).devices.map(({ name }) => name);
    for (const present of ["abcd", "acd", "cd", "d"]) {
      presence.observe(present.split("").map((name) => device(name, true)));
      after(MINUTE_MS);
    }
    presence.observe([device("b", true), device("e", true), device("f", true), device("g", true)]);
    expect(names()).toEqual(["b", "d", "e", "f"]);
    expect(presence.view(window()).truncated).toBe(true);
  });

  it("takes little time for an observation of many devices above the limit", () => {
    const { presence, window } = setUp();
    const devices = Array.from({ length: 100_000 }, (_, at) => device(String(at), true));
    const before = process.cpuUsage();
    presence.observe(devices);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
    expect([presence.view(window()).devices.length, presence.view(window()).truncated]).toEqual([
      10_000,
      true,
    ]);
  });

  it("stores with the next observation what could not be stored", async () => {
    const { presence, failing, lines, open, after, window } = setUp();
    failing.now = true;
    presence.observe([device("a", true)]);
    await presence.flush();
    expect(lines.join("\n")).toContain("presence of devices is not stored");
    expect(open().view(window()).devices).toEqual([]);
    failing.now = false;
    after(MINUTE_MS);
    presence.observe([device("a", true)]);
    await presence.flush();
    expect(open().view(window())).toEqual(presence.view(window()));
  });

  it("keeps the order of changes when the clock is set back", () => {
    const { presence, after, window } = setUp();
    presence.observe([device("a", true)]);
    after(-10 * MINUTE_MS);
    presence.observe([device("a", false)]);
    expect(presence.view(window()).devices[0]?.changes).toEqual([
      { atMs: START_MS - 10 * MINUTE_MS, state: "offline" },
    ]);
    const { observed } = presence.view(window());
    expect(observed).toEqual([
      { fromMs: START_MS - 10 * MINUTE_MS, toMs: START_MS - 10 * MINUTE_MS },
    ]);
  });
});
