import { Agent, get } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { afterAll, expect, it, onTestFinished } from "vitest";
import {
  cleanEnvironment,
  listenAddress,
  removeTemporaryFolders,
  temporaryFolder,
  watchStart,
} from "../contract/daemon.ts";
import { LAUNCHER } from "../support/launcher.ts";
import { spawn } from "../support/spawn.ts";

/** Four times what an idle daemon has open, and less than its listeners admit. */
const DESCRIPTORS = 256;

afterAll(removeTemporaryFolders);

it.skipIf(process.platform !== "linux")(
  "a daemon whose descriptors are used up by connections goes on measuring itself, and serves again once they are gone",
  async () => {
    const child = spawn("/bin/sh", ["-c", `ulimit -n ${DESCRIPTORS}; exec "$0"`, LAUNCHER], {
      env: {
        ...cleanEnvironment,
        STEWARD_STATE__DIRECTORY: temporaryFolder(),
        STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
        STEWARD_SCRAPE__ENABLED: "true",
        STEWARD_SCRAPE__LISTEN: "127.0.0.1:0",
      },
      cwd: tmpdir(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const daemon = await watchStart(child);
    const ended = daemon.exited.then(({ code }): never => {
      throw new Error(`the daemon ended with ${code}: ${daemon.stderr.at(-1)}`);
    });
    ended.catch(() => undefined);
    await expect.poll(() => listenAddress(daemon, "metrics")).toBeDefined();
    // One connection to each listener, which is there before the others.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const samples = async (): Promise<number> => {
      const { text } = await answer(`${daemon.url}/api/status.json`, agent);
      return (JSON.parse(text) as { runtime: { heap_alloc_series: unknown[] } }).runtime
        .heap_alloc_series.length;
    };
    const openFiles = async (): Promise<number> => {
      const { text } = await answer(`http://${listenAddress(daemon, "metrics")}/metrics`, agent);
      expect(text).toMatch(/^svc_runtime_memory_heap_alloc_bytes /m);
      return Number(/^process_open_fds (.+)$/m.exec(text)?.[1]);
    };
    const before = await samples();
    expect(await openFiles()).toBeLessThan(DESCRIPTORS);
    const idle = idleConnections(Number(new URL(daemon.url).port), DESCRIPTORS);
    onTestFinished(() => idle.end());
    // Connections that were closed for their idleness are replaced.
    const whileHeld =
      <T>(read: () => Promise<T>) =>
      async (): Promise<T> => {
        idle.fill();
        return await read();
      };
    const taken = async (): Promise<void> => {
      await expect.poll(whileHeld(openFiles), { interval: 100 }).toBe(DESCRIPTORS);
      await expect.poll(whileHeld(samples), { interval: 100 }).toBeGreaterThan(before + 1);
      await expect.poll(whileHeld(openFiles), { interval: 100 }).toBe(DESCRIPTORS);
    };
    await Promise.race([taken(), ended]);
    idle.end();
    const healthz = async (): Promise<unknown> => (await answer(`${daemon.url}/healthz`)).status;
    await expect.poll(healthz, { interval: 100 }).toBe(200);
    await expect.poll(openFiles, { interval: 100 }).toBeLessThan(DESCRIPTORS);
    expect((await daemon.stop()).code).toBe(0);
  },
);

function answer(
  url: string,
  agent?: Agent,
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  return new Promise((resolve, reject) => {
    get(url, agent === undefined ? {} : { agent }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response
        .on("data", (piece: string) => (text += piece))
        .on("end", () => resolve({ status: response.statusCode, text }))
        .on("error", reject);
    }).on("error", reject);
  });
}

/** Connections that send nothing; `fill` makes as many as are missing. */
function idleConnections(port: number, count: number): { fill(): void; end(): void } {
  const open = new Set<Socket>();
  return {
    fill() {
      while (open.size < count) {
        const socket = connect(port, "127.0.0.1");
        open.add(socket);
        socket.on("error", () => undefined).once("close", () => open.delete(socket));
      }
    },
    end() {
      for (const socket of open) socket.destroy();
    },
  };
}
