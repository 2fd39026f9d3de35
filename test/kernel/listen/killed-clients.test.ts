import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { spawn } from "../../support/spawn.ts";
import { bodyLength } from "./raw-client.ts";
import { tlsListener } from "./tls-listener.ts";
import { hasOpenssl, makePair, testFolder, writePair } from "./test-certificates.ts";
import { isLongRun } from "../../support/long-run.ts";

/** Of some 300 kills one leaves a connection that Node takes for open. */
const KILLS = isLongRun ? 1_000 : 8;
const load = fileURLToPath(new URL("./fixtures/load.ts", import.meta.url));

it.skipIf(!hasOpenssl)(
  `clients over HTTP/2 and TLS that are killed under load, ${KILLS} of them, leave neither requests nor connections`,
  { timeout: 300_000 + KILLS * 3_000 },
  async () => {
    const { listener } = tlsListener(writePair(testFolder(), makePair("load")), {
      limits: { stallMs: 1_000 },
      handle: async (request, response) => {
        await bodyLength(request).catch(() => 0);
        if (response.destroyed) return;
        response.writeHead(200).write("x".repeat(20_000));
        response.end("y".repeat(9_000));
      },
    });
    await listener.start();
    for (let kill = 0; kill < KILLS; kill += 1) {
      const child = spawn(process.execPath, [load, String(listener.port)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      await once(child.stdout, "data");
      await setTimeout((kill * 7) % 30);
      child.kill("SIGKILL");
      await once(child, "exit");
      await expect.poll(() => [listener.connections(), listener.inFlight()]).toEqual([0, 0]);
    }
    await listener.stop(1_000);
  },
);
