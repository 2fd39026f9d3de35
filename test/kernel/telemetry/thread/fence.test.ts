/** What comes from a writer behind a fence leaves the process only while that is open. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFence, type Fence } from "../../../../src/kernel/base/fence.ts";
import { systemClock } from "../../../../src/kernel/base/clock.ts";
import { createTelemetryWriter } from "../../../../src/kernel/telemetry/writer/writer.ts";
import { startReceiver, type Receiver } from "../../../support/otlp/receiver.ts";
import { happened, level, NEVER_MS, scrape, span, spec, startTelemetry } from "../fixtures.ts";

const HOUR_MS = 3_600_000;
let receiver: Receiver;
let fence: Fence;

beforeEach(async () => {
  receiver = await startReceiver({ protocol: "http" });
  fence = createFence(systemClock);
});
afterEach(() => receiver.close());

async function start() {
  const target = { protocol: "http", endpoint: receiver.endpoint } as const;
  const batch = { ...target, batchDelayMs: HOUR_MS };
  const telemetry = await startTelemetry({
    metrics: { ...target, intervalMs: NEVER_MS },
    logs: batch,
    traces: batch,
    pull: true,
  });
  telemetry.scope(spec("process")).gauge(level, 1, { "host.name": undefined, state: "own" });
  const writer = createTelemetryWriter({
    clock: systemClock,
    logs: { capacity: 64, limits: { body: 1_000, attribute: 1_000 } },
    spans: { capacity: 64 },
  });
  const port = telemetry.port(fence.memory);
  writer.attach(port!, { logs: true, spans: true });
  const scope = writer.scope(spec("network"));
  scope.gauge(level, 1, { "host.name": undefined, state: "fenced" });
  let mark = 1_000;
  const send = async (name: string): Promise<void> => {
    scope.log(happened, "x", { who: name, count: 1 });
    writer.span(() => ({ ...span(name) }));
    writer.mark(++mark);
    expect(await telemetry.flush(30_000, mark)).toBe(true);
  };
  return { telemetry, writer, send };
}

const states = (): unknown[] => receiver.points().map(({ attributes }) => attributes["state"]);

describe("A fence", () => {
  it("that is open lets series, records and spans through, and all but its own once it is closed", async () => {
    fence.openFor(HOUR_MS);
    const { telemetry, send } = await start();
    await using _telemetry = telemetry;
    await send("first");
    expect(new Set(states())).toEqual(new Set(["own", "fenced"]));
    expect(receiver.logs().map(({ attributes }) => attributes["who"])).toEqual(["first"]);
    expect(receiver.spans().map(({ name }) => name)).toEqual(["first"]);
    expect(await scrape(telemetry)).toContain('state="fenced"');

    receiver.clear();
    fence.close();
    await send("second");
    expect(states()).toEqual(["own"]);
    expect([receiver.logs(), receiver.spans()]).toEqual([[], []]);
    expect(await scrape(telemetry)).not.toContain('state="fenced"');
    const { ledger } = telemetry.status();
    // What stayed behind is counted, and failed nothing.
    expect([ledger?.logs, ledger?.traces]).toMatchObject([
      { held: 0, dropped: 1 },
      { held: 0, dropped: 1 },
    ]);
    expect(ledger?.signals.logs.failures).toBe(0);
    expect(ledger?.snapshotsSkipped).toBe(0);
  });
});
