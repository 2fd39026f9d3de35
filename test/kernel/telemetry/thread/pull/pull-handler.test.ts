import { request } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { createListener } from "../../../../../src/kernel/listen/listener.ts";
import type { Listener } from "../../../../../src/kernel/listen/listener.ts";
import { systemClock } from "../../../../../src/kernel/base/clock.ts";
import type { Gathering } from "../../../../../src/kernel/telemetry/thread/pull/gatherings.ts";
import { PullStats } from "../../../../../src/kernel/telemetry/thread/pull/pull-stats.ts";
import { createPullHandler } from "../../../../../src/kernel/telemetry/thread/pull/pull-handler.ts";
import { createManualClock } from "../../../supervisor/manual-clock.ts";
import { memoryLog } from "../../fixtures.ts";

const address = { host: "127.0.0.1", port: 0 };
let listener: Listener | undefined;
afterEach(async () => listener?.stop(0));

/** A handler behind a port, with a gathering that ends when the test says so. */
async function open(timeoutMs: number) {
  const clock = createManualClock();
  const stats = new PullStats({
    now: () => clock.now(),
    changed: () => undefined,
    observe: () => undefined,
  });
  const gathering = Promise.withResolvers<Gathering>();
  const asked = Promise.withResolvers<boolean>();
  const handle = createPullHandler(
    {
      clock,
      stats: stats,
      gather: (coalesce) => {
        asked.resolve(coalesce);
        return gathering.promise;
      },
    },
    {
      listen: address,
      token: undefined,
      allowUnauthenticated: false,
      maxInFlight: 4,
      timeoutMs,
      coalesce: true,
      tls: undefined,
    },
  );
  const running = createListener(
    { name: "metrics", setting: "scrape.listen", address, credential: true, handle },
    { clock: systemClock, log: memoryLog() },
  );
  listener = running;
  await running.start();
  const ask = () => fetch(`http://127.0.0.1:${running.port}/metrics`);
  return { clock, stats, gathering, asked: asked.promise, ask, port: running.port };
}

describe("A pull", () => {
  it("that cannot be gathered in its time is answered 503, and the gathering is given back when it ends", async () => {
    const { clock, stats, gathering, asked, ask } = await open(8_000);
    const answer = ask();
    expect(await asked).toBe(true);
    await clock.advance(8_000);
    const { status, headers } = await answer;
    expect([status, headers.get("retry-after")]).toEqual([503, "1"]);
    expect(stats.view(undefined)).toMatchObject({
      requests: { success: 0, unavailable: 1, error: 0 },
      inFlight: 0,
      lastMs: 8_000,
    });
    const released = new Promise<void>((resolve) =>
      gathering.resolve({ gathered: [], missing: 0, release: resolve }),
    );
    await released;
  });

  it("waits as long as it takes with a time of 0", async () => {
    const { clock, gathering, asked, ask } = await open(0);
    const answer = ask();
    await asked;
    await clock.advance(600_000);
    gathering.resolve({ gathered: [], missing: 0, release: () => undefined });
    expect((await answer).status).toBe(200);
  });

  it("whose client leaves is an error of its own, and its place is free at once", async () => {
    const { stats, asked, port } = await open(8_000);
    const client = request({ host: "127.0.0.1", port, path: "/metrics" }).on(
      "error",
      () => undefined,
    );
    client.end();
    await asked;
    client.destroy();
    while (stats.inFlight > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(stats.view(undefined).requests).toEqual({ success: 0, unavailable: 0, error: 1 });
  });
});
