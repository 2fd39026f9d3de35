/** A real etcd for a test, on ports of its own, in a temporary folder. */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { credentials } from "@grpc/grpc-js";
import { expect, vi } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createEtcdStore } from "../../../src/monitor/coordination/etcd/store.ts";
import { freePort } from "../../support/free-port.ts";
import { spawn } from "../../support/spawn.ts";

export const hasEtcd: boolean = spawnSync("etcd", ["--version"]).status === 0;

export interface Etcd extends AsyncDisposable {
  /** `host:port`. */
  readonly endpoint: string;
}

export async function startEtcd(): Promise<Etcd> {
  const folder = mkdtempSync(join(tmpdir(), "steward-etcd-"));
  // etcd advertises its ports, so it must know them before it starts.
  const [client, peer] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${client}`;
  const peerUrl = `http://127.0.0.1:${peer}`;
  const options = {
    "data-dir": folder,
    "listen-client-urls": url,
    "advertise-client-urls": url,
    "listen-peer-urls": peerUrl,
    "initial-advertise-peer-urls": peerUrl,
    "initial-cluster": `default=${peerUrl}`,
  };
  const child = spawn(
    "etcd",
    Object.entries(options).map(([name, value]) => `--${name}=${value}`),
  );
  const ended = once(child, "exit");
  child.stdout?.resume();
  child.stderr?.resume();
  await vi.waitFor(async () => expect((await fetch(`${url}/health`)).ok).toBe(true), {
    timeout: 60_000,
    interval: 50,
  });
  return {
    endpoint: `127.0.0.1:${client}`,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

/** The text of a key; undefined while there is none. */
export async function readKey(
  { endpoint }: Pick<Etcd, "endpoint">,
  key: string,
): Promise<string | undefined> {
  const body = JSON.stringify({ key: Buffer.from(key).toString("base64") });
  const answer = await fetch(`http://${endpoint}/v3/kv/range`, { method: "POST", body });
  const { kvs = [] } = (await answer.json()) as { readonly kvs?: readonly { value: string }[] };
  return kvs[0] && Buffer.from(kvs[0].value, "base64").toString("utf8");
}

/** As an operator deletes it. */
export async function deleteKey({ endpoint }: Pick<Etcd, "endpoint">, key: string): Promise<void> {
  const body = JSON.stringify({ key: Buffer.from(key).toString("base64") });
  const answer = await fetch(`http://${endpoint}/v3/kv/deleterange`, { method: "POST", body });
  expect(await answer.json()).toMatchObject({ deleted: "1" });
}

/** A loopback proxy that can stop to pass anything on, without closing a connection. */
export interface Proxy extends Disposable {
  readonly endpoint: string;
  cut(): void;
  /** Passes on again; connections from before are closed. */
  mend(): void;
}

export async function startProxy(target: string): Promise<Proxy> {
  const [host = "", port = ""] = target.split(":");
  const sockets = new Set<Socket>();
  let cut = false;
  const server = createServer((near) => {
    sockets.add(near);
    near.on("error", () => {});
    if (cut) return;
    const far = connect(Number(port), host);
    sockets.add(far);
    far.on("error", () => {});
    near.on("data", (bytes) => cut || far.write(bytes));
    far.on("data", (bytes) => cut || near.write(bytes));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => void (cut = true),
    mend: () => {
      cut = false;
      for (const socket of sockets) socket.destroy();
      sockets.clear();
    },
    [Symbol.dispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

export const storeAt = (endpoint: string, holder: string, ttlMs: number) =>
  createEtcdStore({
    endpoints: [endpoint],
    credentials: () => credentials.createInsecure(),
    clock: systemClock,
    key: "/steward/lease",
    holder,
    ttlMs,
  });
