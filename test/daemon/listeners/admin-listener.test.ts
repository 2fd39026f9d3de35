import { createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { GatewayDeps } from "../../../gateway/gateway.ts";
import { adminListener } from "../../../src/daemon/listeners/admin-listener.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";
import { configOf } from "../status/config-of.ts";

let squatter: Server | undefined;

afterEach(() => void squatter?.close());

async function squat(): Promise<number> {
  squatter = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => squatter?.once("listening", resolve));
  return (squatter.address() as AddressInfo).port;
}

const deps: GatewayDeps = {
  services: [],
  plain: [],
  probes: {
    live: () => ({ ok: true, reasons: [] }),
    ready: () => ({ ok: true, reasons: [] }),
    serviceReady: () => true,
  },
  auth: { allowedHosts: [] },
  log: createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 }),
  clock: systemClock,
  ids: systemIds,
};
const signal = new AbortController().signal;

describe("the admin listener", () => {
  it("lets the process start while its port is taken, says so, and opens it when it is free", async () => {
    const port = await squat();
    const clock = createManualClock();
    const listener = adminListener(
      configOf({ STEWARD_ADMIN__LISTEN: `127.0.0.1:${port}` }),
      [],
      () => deps,
      clock,
    );
    await listener?.start(signal, () => undefined);
    expect(listener?.health?.()).toEqual({
      ok: false,
      reason: `127.0.0.1:${port} is already in use by another process`,
    });
    await clock.advance(500);
    await vi.waitFor(() => expect(clock.timers()).toBe(1), { timeout: 60_000 });
    expect(listener?.health?.().ok).toBe(false);
    await new Promise((resolve) => squatter?.close(resolve));
    await clock.advance(1_000);
    await vi.waitFor(() => expect(listener?.health?.()).toEqual({ ok: true }), { timeout: 60_000 });
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
    expect(listener?.certificate()).toBeUndefined();
    await listener?.stop(1_000);
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
  });

  it("stops while it waits, and without a start", async () => {
    const port = await squat();
    const clock = createManualClock();
    const config = configOf({ STEWARD_ADMIN__LISTEN: `127.0.0.1:${port}` });
    const listener = adminListener(config, [], () => deps, clock);
    await listener?.start(signal, () => undefined);
    await listener?.stop(1_000);
    expect(clock.timers()).toBe(0);
    await adminListener(config, [], () => deps, clock)?.stop(1_000);
  });
});
