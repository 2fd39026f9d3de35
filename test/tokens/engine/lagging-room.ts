/**
 * An engine before a code host that answers 401 to each token's first 4.5 seconds, DELETE included.
 * Both go by one clock.
 */
import { demoCodeHost } from "../../../src/demo/code-host/demo.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { type EngineRoom, startEngineRoom } from "../support/engine.ts";
import { createMemoryHost } from "../support/host.ts";
import { createSkippingClock, type SkippingClock } from "./skipping-clock.ts";

const LAG_MS = 4_500;

interface LaggingRoom extends EngineRoom {
  readonly clock: SkippingClock;
}

export async function startLaggingRoom(
  clock: SkippingClock = createSkippingClock(),
): Promise<LaggingRoom> {
  const demo = await demoCodeHost(
    { clock, ids: systemIds, log: createMemoryHost().log },
    { replicationLagMs: LAG_MS },
  );
  const { codeHost } = demo;
  await codeHost.start();
  const room = await startEngineRoom({
    clock,
    config: {
      app_id: demo.appId,
      prv_key: demo.privateKeyPem,
      base_url: codeHost.url,
    },
  });
  return {
    ...room,
    clock,
    demo,
    codeHost,
    async [Symbol.asyncDispose]() {
      await room[Symbol.asyncDispose]();
      await codeHost.stop();
    },
  };
}
