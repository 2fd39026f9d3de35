import { describe, expect, it, onTestFinished } from "vitest";
import { createCountHistory } from "../../../src/daemon/history/count-history.ts";
import { configureDaemon } from "../../../src/daemon/configuration.ts";
import { hostDedup } from "../../../src/daemon/services/dedup.ts";
import { hostTokens } from "../../../src/daemon/services/tokens.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import type { Pool } from "../../../src/kernel/pool/types.ts";
import type { StateFactory } from "../../../src/kernel/state/types.ts";
import type { Component } from "../../../src/kernel/supervisor/component.ts";
import { createSupervisor } from "../../../src/kernel/supervisor/supervisor.ts";
import { createTelemetryWriter } from "../../../src/kernel/telemetry/writer/writer.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";

const HOUR = 3_600_000;
const clock = createManualClock();
const log = createLog({ level: "error", format: "text", now: () => 0, write: () => undefined });
const configuration = configureDaemon(
  { config: undefined, demo: false },
  { HOME: "/nonexistent", STEWARD_STATE__DIRECTORY: "/nonexistent/state" },
);
const scope = createTelemetryWriter({ clock, sendsFigures: true }).scope({
  name: "test",
  resource: {},
  constants: {},
});

/** Stores that take as long to open as the disk needs: until their start is given up. */
function slowStores(): { readonly state: StateFactory; readonly opening: Promise<void> } {
  const { promise: opening, resolve } = Promise.withResolvers<void>();
  return {
    opening,
    state: {
      open: (_spec, signal) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
          resolve();
        }),
    },
  };
}

const made: Readonly<Record<string, (state: StateFactory) => Component | undefined>> = {
  dedup: (state) =>
    hostDedup({
      configuration,
      state,
      pool: {} as Pool,
      clock,
      ids: systemIds,
      log,
      jobChanged: () => undefined,
      needs: [],
      telemetry: { scope, tracing: undefined },
    }).components[0],
  tokens: (state) =>
    hostTokens({
      configuration,
      state: () => state,
      scope,
      log,
      needs: [],
      print: () => undefined,
      journalled: false,
    }).component,
  history: (state) =>
    createCountHistory({
      clock,
      log,
      state,
      counts: () => Promise.resolve({ documents: 0, groups: 0, leases: 0 }),
      needs: [],
    }).component,
};

describe("a start that reads stores through", () => {
  it.each(Object.keys(made))("is not given up because it takes hours: %s", async (name) => {
    const { state, opening } = slowStores();
    const component = made[name]?.(state);
    if (component === undefined) throw new Error(`${name} is a component`);
    const supervisor = createSupervisor({ clock, log });
    supervisor.add(component);
    onTestFinished(async () => void (await supervisor.stop(1_000)));
    const started = supervisor.start().catch(() => "the stop below ends it");
    await opening;
    await clock.advance(3 * HOUR);
    expect(supervisor.states()[0]?.phase).toBe("starting");
    // A stop does not wait for the disk.
    await Promise.all([supervisor.stop(1_000), started]);
    expect(supervisor.states()[0]?.phase).toBe("stopped");
  });
});
