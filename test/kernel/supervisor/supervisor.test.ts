import { beforeEach, describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import type { Component, Supervisor } from "../../../src/kernel/supervisor/component.ts";
import { createSupervisor } from "../../../src/kernel/supervisor/supervisor.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";

let clock: ManualClock;
let events: string[];
let lines: string[];
let supervisor: Supervisor;

beforeEach(() => {
  clock = createManualClock();
  events = [];
  lines = [];
  supervisor = createSupervisor({
    clock,
    log: createLog({
      level: "debug",
      format: "text",
      now: () => 0,
      write: (line) => lines.push(line),
    }),
  });
});

interface Probe extends Component {
  /** The `failed` callback of the newest start. */
  fail: (error: unknown) => void;
}

function probe(name: string, needs: string[] = [], more: Partial<Component> = {}): Probe {
  const self: Probe = {
    name,
    needs,
    readiness: "required",
    fail: () => {},
    start: async (_signal, failed) => {
      self.fail = failed;
      events.push(`+${name}`);
    },
    stop: async () => void events.push(`-${name}`),
    ...more,
  };
  supervisor.add(self);
  return self;
}

const never = (): Promise<void> => new Promise(() => {});
const phases = (): Record<string, string> =>
  Object.fromEntries(supervisor.states().map((state) => [state.name, state.phase]));

describe("order", () => {
  it("starts each after what it needs and stops in reverse", async () => {
    probe("gateway", ["dedup", "pool"]);
    probe("dedup", ["state"]);
    probe("state");
    probe("pool");
    await supervisor.start();
    expect(supervisor.ready()).toEqual({ ok: true, reasons: [] });
    expect(await supervisor.stop(30_000)).toEqual({ late: [], failed: [], tookMs: 0 });
    expect(events).toEqual([
      "+state",
      "+dedup",
      "+pool",
      "+gateway",
      "-gateway",
      "-pool",
      "-dedup",
      "-state",
    ]);
    expect(phases()).toEqual({
      gateway: "stopped",
      dedup: "stopped",
      state: "stopped",
      pool: "stopped",
    });
    expect(clock.timers()).toBe(0);
  });

  it("stops what takes work from outside before the others", async () => {
    probe("state");
    probe("gateway", ["state"], { stopsFirst: true });
    probe("monitor", ["state"]);
    await supervisor.start();
    await supervisor.stop(30_000);
    expect(events.slice(3)).toEqual(["-gateway", "-monitor", "-state"]);
  });

  it("refuses circles, unknown needs, equal names and late additions as our own mistakes", async () => {
    probe("a", ["b"]);
    probe("b", ["a"]);
    await expect(supervisor.start()).rejects.toThrow(
      "components need each other in a circle: a → b → a",
    );
    const another = createSupervisor({
      clock,
      log: createLog({ level: "error", format: "text", now: () => 0, write: () => {} }),
    });
    supervisor = another;
    probe("a", ["z"]);
    await expect(another.start()).rejects.toThrow("a needs z, which is there");
    supervisor = createSupervisor({
      clock,
      log: createLog({ level: "error", format: "text", now: () => 0, write: () => {} }),
    });
    probe("a");
    await supervisor.start();
    expect(() => probe("b")).toThrow("b is added before the start");
  });
});

describe("stopping", () => {
  it("works without start and twice, with one report", async () => {
    probe("a");
    expect(await supervisor.stop(1000)).toEqual({ late: [], failed: [], tookMs: 0 });
    expect(await supervisor.stop(1000)).toEqual({ late: [], failed: [], tookMs: 0 });
    expect(events).toEqual([]);
    expect(supervisor.ready()).toMatchObject({ ok: false });
  });

  it("is not ready from its first moment", async () => {
    probe("a", [], { stop: never });
    await supervisor.start();
    void supervisor.stop(1000);
    expect(supervisor.ready()).toEqual({ ok: false, reasons: ["stopping", "a: stopping"] });
  });

  it("reports who is late or fails and goes on with the others", async () => {
    probe("state");
    probe("hangs", ["state"], { stop: never, stopTimeoutMs: 4000 });
    probe("fails", ["state"], {
      stop: () => Promise.reject(new StewardError("internal", "no end")),
    });
    probe("throws", ["state"], {
      stop: () => {
        throw new StewardError("internal", "at once");
      },
    });
    await supervisor.start();
    const stopping = supervisor.stop(30_000);
    await clock.advance(4000);
    expect(await stopping).toEqual({
      late: ["hangs"],
      failed: [
        { name: "throws", reason: "at once" },
        { name: "fails", reason: "no end" },
      ],
      tookMs: 4000,
    });
    expect(events.at(-1)).toBe("-state");
    expect(supervisor.states()).toContainEqual(
      expect.objectContaining({
        name: "hangs",
        phase: "failed",
        reason: "did not stop within 4000 ms",
      }),
    );
  });

  it("keeps a rest of the deadline for those that come after one that hangs", async () => {
    const given: number[] = [];
    probe("first", [], { stop: async (ms) => void given.push(ms) });
    probe("hangs", ["first"], { stop: never, stopTimeoutMs: 60_000 });
    await supervisor.start();
    const stopping = supervisor.stop(1000);
    await clock.advance(1000);
    expect((await stopping).late).toEqual(["hangs"]);
    expect(given).toEqual([250]);
  });

  it("ends its waiting at once when it is asked again with no time", async () => {
    probe("a");
    probe("hangs", ["a"], { stop: never });
    await supervisor.start();
    const stopping = supervisor.stop(30_000);
    await clock.advance(100);
    const again = supervisor.stop(0);
    await clock.advance(0);
    expect(await again).toMatchObject({ late: ["hangs"], tookMs: 100 });
    expect(await stopping).toBe(await again);
    expect(events.at(-1)).toBe("-a");
  });

  it("interrupts a start that is under way", async () => {
    probe("a");
    probe("slow", ["a"], {
      start: (signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason as Error)),
        ),
    });
    probe("after", ["slow"]);
    const starting = supervisor.start();
    await clock.advance(10);
    expect(phases()).toEqual({ a: "ready", slow: "starting", after: "idle" });
    const stopping = supervisor.stop(1000);
    await expect(starting).rejects.toMatchObject({ code: "cancelled" });
    expect(await stopping).toMatchObject({ late: [], failed: [] });
    expect(events).toEqual(["+a", "-slow", "-a"]);
  });
});

describe("a start that fails", () => {
  const broken = (): Promise<void> =>
    Promise.reject(new StewardError("conflict", "the port is taken"));

  it("of a required component fails the whole and undoes what had started", async () => {
    probe("state");
    probe("gateway", ["state"], { start: broken });
    probe("after", ["gateway"]);
    await expect(supervisor.start()).rejects.toThrow("the port is taken");
    expect(events).toEqual(["+state", "-gateway", "-gateway", "-state"]);
    expect(supervisor.ready().ok).toBe(false);
  });

  it("of an optional component is shown and holds back only those that need it", async () => {
    probe("extra", [], { start: broken, readiness: "reported" });
    probe("on-top", ["extra"], { readiness: "none" });
    probe("gateway");
    await supervisor.start();
    await clock.advance(0);
    expect(phases()).toEqual({ extra: "failed", "on-top": "idle", gateway: "ready" });
    expect(supervisor.ready()).toEqual({ ok: true, reasons: [] });
    expect(supervisor.states()[1]?.reason).toBe("waits for extra");
  });

  it("leads to later attempts where there is a back-off, and those held back follow", async () => {
    let attempts = 0;
    const start = async (): Promise<void> => {
      attempts += 1;
      if (attempts < 3) await broken();
    };
    probe("extra", [], { start, readiness: "reported", restart: { firstMs: 100, maxMs: 1000 } });
    probe("on-top", ["extra"], { readiness: "reported" });
    await supervisor.start();
    await clock.advance(99);
    expect(attempts).toBe(1);
    await clock.advance(1 + 199);
    expect(attempts).toBe(2);
    await clock.advance(1);
    expect(phases()).toEqual({ extra: "ready", "on-top": "ready" });
  });

  it("that never ends is given up after its time", async () => {
    probe("hangs", [], { start: never, startTimeoutMs: 500 });
    const starting = expect(supervisor.start()).rejects.toThrow(
      "hangs did not start within 500 ms",
    );
    await clock.advance(500);
    await starting;
    expect(events).toContain("-hangs");
  });

  it("is also one that breaks while it starts, or in the moment it is done", async () => {
    probe("early", [], {
      start: async (_signal, failed) => failed(new StewardError("internal", "broke early")),
    });
    await expect(supervisor.start()).rejects.toThrow("broke early");
  });
});

describe("a crash", () => {
  it("without a back-off is the last, and the process is not ready but lives", async () => {
    const pool = probe("pool");
    probe("gateway", ["pool"]);
    await supervisor.start();
    pool.fail(new StewardError("internal", "a worker is gone"));
    await clock.advance(0);
    expect(phases()).toEqual({ pool: "failed", gateway: "ready" });
    expect(supervisor.ready()).toEqual({ ok: false, reasons: ["pool: a worker is gone"] });
    expect(events).toEqual(["+pool", "+gateway", "-pool"]);
    expect(lines.join("")).toContain("component failed and is not restarted");
  });

  it("shows nothing of somebody else's text, wherever it comes from", async () => {
    const canary = (): never => {
      throw Object.assign(new Error("ENOENT: no such file, open '/root/canary'"), {
        code: "ENOENT",
      });
    };
    const crashed = probe("crashed", [], { readiness: "reported" });
    probe("unwell", [], { readiness: "reported", health: canary });
    probe("refuses", [], { readiness: "reported", start: async () => canary() });
    await supervisor.start();
    crashed.fail(new Error("connect to 10.0.0.7 with canary"));
    await clock.advance(0);
    expect(supervisor.states().map(({ phase, reason }) => `${phase} ${reason}`)).toEqual([
      "failed internal error",
      "degraded not found (ENOENT); see the log",
      "failed not found (ENOENT); see the log",
    ]);
    expect(lines.join("")).toContain("canary");
  });

  it("is followed by a stop and, after the back-off, a start", async () => {
    const sync = probe("sync", [], { restart: { firstMs: 1000, maxMs: 4000 } });
    await supervisor.start();
    sync.fail(new Error("gone"));
    await clock.advance(999);
    expect([phases()["sync"], supervisor.ready().ok]).toEqual(["degraded", false]);
    await clock.advance(1);
    expect([phases()["sync"], supervisor.ready().ok]).toEqual(["ready", true]);
    expect(events).toEqual(["+sync", "-sync", "+sync"]);
    expect(supervisor.states()[0]?.crashes).toBe(1);
  });

  it("five times in a minute fails the component, not the process", async () => {
    const sync = probe("sync", [], { restart: { firstMs: 100, maxMs: 400 } });
    await supervisor.start();
    const waits: number[] = [];
    for (let crash = 1; crash <= 5; crash++) {
      sync.fail(new Error("gone"));
      const beganMs = clock.monotonic();
      while (phases()["sync"] !== "ready" && phases()["sync"] !== "failed") await clock.advance(50);
      waits.push(clock.monotonic() - beganMs);
    }
    expect(waits).toEqual([100, 200, 400, 400, 50]);
    expect(phases()["sync"]).toBe("failed");
  });

  it("five times over a longer time does not", async () => {
    const sync = probe("sync", [], { restart: { firstMs: 100, maxMs: 400 } });
    await supervisor.start();
    for (let crash = 1; crash <= 9; crash++) {
      sync.fail(new Error("gone"));
      await clock.advance(20_000);
      expect(phases()["sync"]).toBe("ready");
    }
  });

  it("told by a callback of an earlier life does not count", async () => {
    const sync = probe("sync", [], { restart: { firstMs: 100, maxMs: 400 } });
    await supervisor.start();
    const old = sync.fail;
    old(new Error("gone"));
    old(new Error("gone again"));
    await clock.advance(100);
    old(new Error("still gone"));
    expect(supervisor.states()[0]).toMatchObject({ phase: "ready", crashes: 1 });
    await supervisor.stop(100);
    sync.fail(new Error("after the end"));
    expect(phases()["sync"]).toBe("stopped");
  });

  it("does not bring a component back while the process stops", async () => {
    const sync = probe("sync", [], { restart: { firstMs: 1000, maxMs: 1000 } });
    await supervisor.start();
    sync.fail(new Error("gone"));
    await clock.advance(500);
    expect(await supervisor.stop(100)).toMatchObject({ late: [], failed: [] });
    await clock.advance(5000);
    expect(events).toEqual(["+sync", "-sync", "-sync"]);
    expect(clock.timers()).toBe(0);
  });
});

describe("health", () => {
  it("of a required component decides over readiness, of a reported one only shows", async () => {
    let well = false;
    probe("state", [], {
      health: () => (well ? { ok: true } : { ok: false, reason: "the disk is full" }),
    });
    probe("archive", [], {
      readiness: "reported",
      health: () => {
        throw new StewardError("upstream", "unreachable");
      },
    });
    expect(supervisor.ready()).toMatchObject({ ok: false, reasons: ["starting", "state: idle"] });
    await supervisor.start();
    expect(supervisor.ready()).toEqual({ ok: false, reasons: ["state: the disk is full"] });
    well = true;
    expect(supervisor.ready()).toEqual({ ok: true, reasons: [] });
    expect(supervisor.states()[1]).toMatchObject({ phase: "degraded", reason: "unreachable" });
  });

  it("of a required component that works in part shows with its remedy and leaves readiness open", async () => {
    probe("archive", [], {
      health: () => ({ ok: false, partial: true, reason: "a folder is away", remedy: "mount it" }),
    });
    await supervisor.start();
    expect(supervisor.ready()).toEqual({ ok: true, reasons: [] });
    expect(supervisor.states()[0]).toMatchObject({
      phase: "degraded",
      readiness: "reported",
      reason: "a folder is away",
      remedy: "mount it",
    });
  });
});
