import { describe, expect, it } from "vitest";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createTelemetryWriter } from "../../../src/kernel/telemetry/writer/writer.ts";
import { noAnnotations } from "../../../src/monitor/annotations/annotator.ts";
import { createMemoryStore } from "../../../src/monitor/checkpoints/memory-store.ts";
import { allCollectors } from "../../../src/monitor/collectors/all.ts";
import { createNetwork, type MonitoredNetwork } from "../../../src/monitor/network/network.ts";
import type { PrivacyOptions } from "../../../src/monitor/options.ts";
import { createManualClock, type ManualClock } from "../../kernel/supervisor/manual-clock.ts";
import { aDevice } from "../collectors/entities.ts";
import { createFakeProvider, type Answers } from "../collectors/fake-provider.ts";
import { networkOptions } from "../collectors/harness.ts";

const MINUTE_MS = 60_000;

async function started(
  answers: Answers,
): Promise<{ readonly clock: ManualClock; readonly network: MonitoredNetwork }> {
  const clock = createManualClock();
  const log = createLog({ level: "error", format: "text", write: () => {}, now: () => 0 });
  const writer = createTelemetryWriter({ clock });
  const memory = createMemoryStore(clock)("home");
  const network = createNetwork(
    {
      clock,
      log,
      facts: {
        privacy: new Proxy({} as PrivacyOptions, { get: () => true, ownKeys: () => [] }),
        resource: {},
        several: false,
        version: "1.0.0",
        selfObservability: { enabled: true, instanceId: "" },
        metricIntervalMs: MINUTE_MS,
      },
      openScope: (spec) => writer.scope(spec),
      openProvider: () => createFakeProvider(answers),
      collectors: allCollectors,
      memory: () => memory,
      annotations: noAnnotations,
      events: { record: () => undefined },
      latestClientVersion: () => undefined,
      registered: () => undefined,
      succeeded: () => undefined,
      needs: [],
    },
    networkOptions(),
  );
  await network.component.start(new AbortController().signal, () => undefined);
  await clock.advance(5_000);
  return { clock, network };
}

describe("The presence of devices", () => {
  it("is observed when they are listed, however long the calls of single devices take", async () => {
    const { clock, network } = await started({
      devices: [aDevice("a"), aDevice("b")],
      deviceInvites: () => new Promise<never>(() => undefined),
    });
    await clock.advance(MINUTE_MS);
    const nowMs = clock.now();
    const view = network.presence()?.view({ startMs: 0, endMs: nowMs, device: "" });
    expect(view?.devices.map(({ id }) => id)).toEqual(["na", "nb"]);
    expect(view?.observed.length).toBe(1);
    const stopping = network.component.stop(1_000);
    await clock.advance(2_000);
    await stopping;
  });
});
