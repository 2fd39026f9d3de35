/**
 * A server that runs plugins: the Go program of `test/plugin-host`, driven by lines of JSON. Its
 * sockets, and the plugin's, are in a folder of its own.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { spawn } from "./spawn.ts";

const root = join(import.meta.dirname, "../..");
const cache = join(root, ".cache/go");
// Go's own installer puts it where PATH does not look.
const go = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/local/go/bin"]
  .map((folder) => join(folder, "go"))
  .find((file) => existsSync(file));

/** Why the host cannot be built here; undefined where it can. */
export const withoutPluginHost: string | undefined =
  go === undefined
    ? "no Go here"
    : existsSync(join(cache, "mod/github.com/hashicorp/go-plugin@v1.8.0"))
      ? undefined
      : "its modules are not in .cache/go; `.ci/run` fetches them";

/** The programs of `test/plugin-host`. */
export type PluginHostProgram = "plugin-host" | "minimal-plugin";

/** Builds one of the programs; its path. Nothing is fetched. */
export function buildGo(program: PluginHostProgram): string {
  const target = join(cache, "bin", program);
  const built = spawnSync(
    go ?? "",
    ["build", "-o", target, program === "plugin-host" ? "." : "./minimal"],
    {
      cwd: join(root, "test/plugin-host"),
      encoding: "utf8",
      // Nothing of the developer's own settings counts.
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: process.env["HOME"] ?? cache,
        GOENV: "off",
        GOPATH: cache,
        GOMODCACHE: join(cache, "mod"),
        GOPROXY: "off",
        GOTOOLCHAIN: "local",
        GOFLAGS: "-mod=readonly -trimpath -buildvcs=false",
        CGO_ENABLED: "0",
      },
    },
  );
  if (built.status !== 0) throw new Error(`go build ${program}: ${built.stderr}`);
  return target;
}

/** What the host makes of a request. */
export interface HostOutcome {
  /** As policies see it. */
  readonly operation: string;
  readonly error?: { readonly message: string; readonly status: number };
  readonly response?: {
    readonly data: Readonly<Record<string, unknown>> | null;
    readonly warnings: readonly string[] | null;
    readonly is_error: boolean;
    readonly raw?: { readonly body: string; readonly is_bytes: boolean };
    readonly secret?: {
      readonly ttl_seconds: number;
      readonly renewable: boolean;
      readonly internal_data: Readonly<Record<string, unknown>>;
      readonly issue_time_is_zero: boolean;
    };
  };
}

export interface PluginHost extends AsyncDisposable {
  readonly pid: number;
  /** Folder of the sockets. */
  readonly folder: string;
  /** Everything on standard error: the host's log with the plugin's. */
  readonly log: readonly string[];
  /** The result of an order (`test/plugin-host/main.go`). Rejects with what failed. */
  order<T = unknown>(action: string, more?: object): Promise<T>;
  request(mount: string, operation: string, path: string, more?: object): Promise<HostOutcome>;
  kill(): Promise<void>;
}

export interface PluginHostOptions {
  readonly command: string;
  readonly args?: readonly string[];
  /** Further variables for the plugin, as an operator registers them. */
  readonly env?: readonly string[];
  /** Hexadecimal; the file's own by default. */
  readonly sha256?: string;
  /** An existing folder for the sockets; it is then kept. */
  readonly folder?: string;
}

/** Starts a host in which nothing is mounted. */
export async function startPluginHost(options: PluginHostOptions): Promise<PluginHost> {
  const folder = options.folder ?? mkdtempSync("/tmp/steward-host-");
  const child = spawn(buildGo("plugin-host"), [], {
    env: { PATH: process.env["PATH"] ?? "", TMPDIR: folder, HOME: folder },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const log: string[] = [];
  createInterface({ input: child.stderr }).on("line", (line) => log.push(line));
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, result, failed } = JSON.parse(line) as {
      readonly id: number;
      readonly result: unknown;
      readonly failed?: string;
    };
    const waiter = waiting.get(id);
    waiting.delete(id);
    if (failed === undefined) waiter?.resolve(result);
    else waiter?.reject(new Error(failed));
  });
  void ended.then(() => {
    for (const { reject } of waiting.values()) reject(new Error("the host has ended"));
  });
  child.stdin.on("error", () => undefined);
  let last = 0;
  function order<T>(action: string, more: object = {}): Promise<T> {
    const id = ++last;
    const waiter = Promise.withResolvers<unknown>();
    waiting.set(id, waiter);
    child.stdin.write(`${JSON.stringify({ id, do: action, ...more })}\n`);
    return waiter.promise as Promise<T>;
  }
  const sha256 =
    options.sha256 ?? createHash("sha256").update(readFileSync(options.command)).digest("hex");
  await order("start", {
    command: options.command,
    args: options.args ?? [],
    env: options.env ?? [],
    sha256: Buffer.from(sha256, "hex").toString("base64"),
  });
  async function end(): Promise<void> {
    await ended;
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  }
  return {
    pid: child.pid ?? 0,
    folder,
    log,
    order,
    request: (mount, operation, path, more = {}) =>
      order("request", { mount, operation, path, ...more }),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await end();
    },
  };
}
