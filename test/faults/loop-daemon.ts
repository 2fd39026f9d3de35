/** A daemon whose event loop is measured while it is sent one request after the other. */
import { connect } from "node:net";
import { join } from "node:path";
import { rest, temporaryFolder } from "../contract/daemon.ts";
import { configure, startCodeHost, startVault, type VaultDaemon } from "../contract/vault.ts";
import type { LoopReading } from "../support/loop-meter.ts";

/** A daemon with a meter in its main thread. */
export interface MeasuredDaemon {
  readonly vault: VaultDaemon;
  stop(): Promise<void>;
  /** The longest turn of the event loop since the last reading. */
  read(): Promise<LoopReading>;
  /** Keeps the main thread busy. */
  block(ms: number): void;
}

/** Starts it with the limits as shipped, a mount that mints, and logins of roles. */
export async function startMeasured(): Promise<MeasuredDaemon> {
  const socket = join(temporaryFolder(), "loop.sock");
  const meter = join(import.meta.dirname, "../support/loop-meter.ts");
  const vault = await startVault({
    services: {},
    env: { NODE_OPTIONS: `--import=${meter}`, LOOP_METER_SOCKET: socket },
  });
  const host = await startCodeHost();
  await configure(vault, host);
  await vault.ask("POST", "sys/auth/approle", { body: { type: "approle" } });
  await rest(vault.daemon, "GET", "/api/v1/health");
  return {
    vault,
    stop: async () => void (await Promise.all([vault.daemon.stop(), host.stop()])),
    read: () => readLoop(socket),
    block: (ms) =>
      void connect(socket)
        .on("error", () => undefined)
        .end(String(ms)),
  };
}

/** Asks the meter behind a socket. */
export function readLoop(path: string): Promise<LoopReading> {
  return new Promise((resolve, reject) => {
    let text = "";
    const client = connect(path);
    client
      .setEncoding("utf8")
      .on("data", (part: string) => (text += part))
      .on("error", reject)
      .on("end", () => resolve(JSON.parse(text) as LoopReading));
  });
}
