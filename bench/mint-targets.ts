/**
 * The servers that bench/tokens.ts compares, each in a process of its own: the daemon of a
 * checkout, and the forwarder with and without flushes (bench/mint-forwarder.ts). All send their
 * mints to one simulated code host.
 */
import { type ChildProcess, fork, spawn, type StdioOptions } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { CodeHostReady } from "../src/demo/code-host/process.ts";

/** The unit of CPU time in /proc/PID/stat; the kernel takes it from the exact run time. */
const TICK_US = 10_000;
const FORKED: StdioOptions = ["ignore", "ignore", "inherit", "ipc"];

/** A server that mints. */
export interface MintTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** CPU time of the whole process so far, in the kernel too, in microseconds. */
  cpuUs(): number;
  /** Ends the process and removes its files. */
  stop(): Promise<void>;
}

/** The simulated code host. */
export interface MintHost {
  readonly ready: CodeHostReady;
  stop(): Promise<void>;
}

/** Starts the code host of a checkout. */
export async function startCodeHost(checkout: string): Promise<MintHost> {
  const child = fork(join(checkout, "src/demo/code-host/process.ts"), ["{}"], { stdio: FORKED });
  return { ready: await firstMessage<CodeHostReady>(child), stop: () => end(child) };
}

/** Starts a forwarder; with `directory` it waits for two flushes of a file there. */
export async function startForwarder(host: CodeHostReady, directory?: string): Promise<MintTarget> {
  const folder =
    directory === undefined ? undefined : mkdtempSync(join(directory, "steward-bench-"));
  const options = {
    codeHost: host.url,
    appId: host.appId,
    privateKeyPem: host.privateKeyPem,
    connections: 64,
    ...(folder === undefined ? {} : { flushed: join(folder, "records") }),
  };
  const program = join(import.meta.dirname, "mint-forwarder.ts");
  const child = fork(program, [JSON.stringify(options)], { stdio: FORKED });
  const { url } = await firstMessage<{ url: string }>(child);
  return {
    url: `${url}/v1/github/token`,
    headers: {},
    cpuUs: () => cpuUs(child),
    async stop() {
      await end(child);
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** How a daemon is started. */
export interface DaemonOptions {
  /** Its state lies in a folder of its own below this. */
  readonly directory: string;
  /** Added to each of its flushes. */
  readonly flushMs: number;
}

/** Of a checkout: of its built tree, where there is one. */
function launcherOf(checkout: string): string {
  const built = join(checkout, "dist/bin/steward");
  return existsSync(built) ? built : join(checkout, "bin/steward");
}

/** Starts the daemon of a checkout by its launcher and configures its mount for the code host. */
export async function startDaemon(
  checkout: string,
  host: CodeHostReady,
  options: DaemonOptions,
): Promise<MintTarget> {
  const { directory, flushMs } = options;
  const state = mkdtempSync(join(directory, "steward-bench-"));
  const config = join(state, "steward.yaml");
  const gateway = 'gateway: { listen: "127.0.0.1:0" }';
  writeFileSync(
    config,
    `${gateway}\nstate: { directory: ${join(state, "state")} }\nservices: { dedup: false }\n`,
  );
  const slowed =
    flushMs === 0
      ? {}
      : {
          NODE_OPTIONS: `--import ${join(import.meta.dirname, "slow-flush.ts")}`,
          SLOW_FLUSH_MS: String(flushMs),
        };
  const child = spawn(launcherOf(checkout), ["-config", config], {
    env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", ...slowed },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const logged: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => logged.push(line));
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", (line) =>
      resolve(line.replace(/^.* on /, "")),
    );
    child.once("exit", () => reject(new Error(logged.join("\n"))));
  });
  const token = /root token[^:]*: (\S+)/.exec(logged.join("\n"))?.[1] ?? "";
  const headers = { "x-vault-token": token };
  const body = JSON.stringify({
    app_id: host.appId,
    prv_key: host.privateKeyPem,
    base_url: host.url,
  });
  const configured = await fetch(`${url}/v1/github/config`, { method: "POST", headers, body });
  if (!configured.ok) throw new Error(`config: ${configured.status} ${await configured.text()}`);
  return {
    url: `${url}/v1/github/token`,
    headers,
    cpuUs: () => cpuUs(child),
    async stop() {
      await end(child);
      rmSync(state, { recursive: true, force: true });
    },
  };
}

function cpuUs({ pid }: ChildProcess): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // From the third field on (proc_pid_stat(5)): the second is a name that may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

function firstMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    child.once("message", (message) => resolve(message as T));
    child.once("exit", (code) => reject(new Error(`ended with ${code}`)));
  });
}

function end(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}
