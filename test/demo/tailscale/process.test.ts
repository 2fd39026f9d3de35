/** The control plane in a thread of its own. */
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import type { TailscaleReady } from "../../../src/demo/tailscale/process.ts";
import { ask } from "../control-plane/support.ts";

describe("a control plane in a thread", () => {
  it("says where it is, answers, and ends when it is told to", async () => {
    const worker = new Worker(new URL("../../../src/demo/tailscale/process.ts", import.meta.url), {
      workerData: { devices: 5, tailnet: "example.org" },
    });
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    const ready = await new Promise<TailscaleReady>((resolve, reject) =>
      worker.once("message", resolve).once("error", reject),
    );
    expect(ready.tailnet).toBe("example.org");
    expect(
      (
        await ask(`${ready.url}/api/v2/tailnet/-/devices`, {
          headers: { authorization: `Bearer ${ready.credentials.apiKey}` },
        })
      ).json.devices,
    ).toHaveLength(5);
    expect((await ask(`${ready.agentsUrl}/exit-fra/metrics`)).status).toBe(200);
    worker.postMessage({ kind: "stop" });
    expect(await ended).toBe(0);
  });
});
