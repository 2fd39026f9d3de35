/** Requests for one Lease object to the API of Kubernetes. */
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createDeadline } from "../../../kernel/async/deadline.ts";
import { delay, type Clock } from "../../../kernel/base/clock.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import { Secret } from "../../../kernel/base/secret.ts";
import { anonymous } from "../../../kernel/client/authorizers.ts";
import { createClientFactory } from "../../../kernel/client/client.ts";
import { failureOf } from "../../../kernel/client/failure.ts";
import { pathOf } from "../../../kernel/client/http/url.ts";
import type { Authorizer, Client, TrustRule } from "../../../kernel/client/types.ts";
import type { Environment } from "../../../kernel/config/key.ts";
import type { CoordinationOptions } from "../options.ts";
import { readLease, writeLease, type LeaseChange, type LeaseObject } from "./lease-object.ts";
import { apiOfPod, podFiles } from "./pod.ts";

/** A Lease has about a kilobyte, and Kubernetes allows 256 KiB of annotations. */
const MAX_BYTES = 1_048_576;
/** The election's own deadlines are shorter. */
const CALL_MS = 600_000;
const CONNECT_MS = 10_000;
/** Shortest pause before a watch that was refused or ended is begun again. */
const WATCH_PAUSE_MS = 500;

interface Watch {
  /** `resourceVersion` from which changes count. */
  readonly revision: string;
  readonly forMs: number;
}

export interface LeaseApi {
  /** Undefined when there is none. */
  read(signal: AbortSignal): Promise<LeaseObject | undefined>;
  /** Over `before`, or a new one; undefined when it was changed or created meanwhile. */
  write(
    before: LeaseObject | undefined,
    change: LeaseChange,
    signal: AbortSignal,
  ): Promise<LeaseObject | undefined>;
  /**
   * Calls `done` with each change, undefined for the deletion, until it returns true or the time is
   * up. A watch that cannot be had only waits.
   */
  watch(
    watch: Watch,
    signal: AbortSignal,
    done: (lease: LeaseObject | undefined) => boolean,
  ): Promise<void>;
  close(): void;
}

export interface LeaseApiDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly version: string;
  readonly environment: Environment;
}

export function createLeaseApi(deps: LeaseApiDeps, options: CoordinationOptions): LeaseApi {
  const { clock } = deps;
  const namespace =
    options.namespace === "" ? readFileSync(podFiles.namespace, "utf8").trim() : options.namespace;
  const list = pathOf`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
  const one = `${list}${pathOf`/${options.leaseName}`}`;
  let client: Client | undefined;

  /** A client whose connection failed is replaced: what it trusts is read anew. */
  async function using<T>(work: (client: Client) => Promise<T>): Promise<T> {
    client ??= open(deps, options);
    const current = client;
    try {
      return await work(current);
    } catch (error) {
      if (failureOf(error)?.class === "transport" && client === current) {
        client = undefined;
        void current.close();
      }
      throw error;
    }
  }

  async function changed(
    request: { readonly method: "POST" | "PUT"; readonly path: string; readonly bytes: string },
    signal: AbortSignal,
  ): Promise<LeaseObject | undefined> {
    const { method, path, bytes } = request;
    const body = { type: "application/json", bytes };
    try {
      const reply = await using((from) =>
        from.call({ operation: "write_lease", method, path, body, idempotent: false }, signal),
      );
      return readLease(reply.value);
    } catch (error) {
      const status = failureOf(error)?.status;
      // 404: it was deleted meanwhile.
      if (status === 409 || (status === 404 && method === "PUT")) return undefined;
      throw error;
    }
  }

  async function follow(
    { revision, forMs }: Watch,
    signal: AbortSignal,
    done: (lease: LeaseObject | undefined) => boolean,
  ): Promise<boolean> {
    const query = {
      watch: true,
      fieldSelector: `metadata.name=${options.leaseName}`,
      timeoutSeconds: Math.max(1, Math.ceil(forMs / 1_000)),
      ...(revision === "" ? {} : { resourceVersion: revision }),
    };
    const reply = await using((from) =>
      from.stream(
        { operation: "watch_lease", method: "GET", path: list, query, idempotent: true },
        signal,
      ),
    );
    try {
      for await (const event of eventsOf(reply.body)) {
        // Too old a revision, or another trouble of the watch: the next attempt reads the object.
        if (event.type === "ERROR") return true;
        if (done(event.type === "DELETED" ? undefined : readLease(event.object))) return true;
      }
      return false;
    } finally {
      reply.drop();
    }
  }

  return {
    async read(signal) {
      try {
        const request = {
          operation: "read_lease",
          method: "GET",
          path: one,
          idempotent: true,
        } as const;
        return readLease((await using((from) => from.call(request, signal))).value);
      } catch (error) {
        if (failureOf(error)?.status === 404) return undefined;
        throw error;
      }
    },
    write: (before, change, signal) =>
      before === undefined
        ? changed(
            { method: "POST", path: list, bytes: writeLease(options.leaseName, change) },
            signal,
          )
        : changed({ method: "PUT", path: one, bytes: writeLease(before, change) }, signal),
    async watch(watch, signal, done) {
      const endsMs = clock.monotonic() + watch.forMs;
      for (;;) {
        const leftMs = endsMs - clock.monotonic();
        if (leftMs <= 0) return;
        using deadline = createDeadline(clock, leftMs, signal, () => timeUp);
        try {
          if (await follow({ ...watch, forMs: leftMs }, deadline.signal, done)) return;
        } catch (error) {
          if (signal.aborted) throw error;
        }
        await delay(
          clock,
          Math.min(WATCH_PAUSE_MS, Math.max(0, endsMs - clock.monotonic())),
          signal,
        );
      }
    },
    close: () => void client?.close(),
  };
}

/** Ends a watch that has lasted as long as it should. */
const timeUp = new StewardError("deadline", "the watch is over");

interface WatchEvent {
  readonly type: string;
  readonly object: unknown;
}

/** The lines of a watch. A line beyond the limit ends it. */
async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<WatchEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") yield eventOf(line);
    if (rest.length > MAX_BYTES)
      throw new StewardError("upstream", "the watch of the Lease sent too long a line");
  }
}

function eventOf(line: string): WatchEvent {
  try {
    const { type, object } = JSON.parse(line) as Partial<WatchEvent>;
    return { type: typeof type === "string" ? type : "", object };
  } catch (cause) {
    throw new StewardError("upstream", "the watch of the Lease sent no JSON", { cause });
  }
}

function open(
  { clock, ids, version, environment }: LeaseApiDeps,
  options: CoordinationOptions,
): Client {
  const [endpoint = apiOfPod(environment)] = options.endpoints;
  if (endpoint === undefined)
    throw new StewardError("invalid", "no address of the API of Kubernetes is known", {
      remedy: "set coordination.endpoints",
    });
  return createClientFactory({ clock, ids, version }).create({
    name: "kubernetes",
    base: new URL(endpoint),
    auth: authorizerOf(options),
    redirects: "none",
    retry: { retries: 0, baseDelayMs: 1_000, maxDelayMs: 1_000 },
    breaker: "none",
    trust: trustOf(options, endpoint),
    limits: {
      connectMs: CONNECT_MS,
      attemptMs: CALL_MS,
      callMs: CALL_MS,
      wireBytes: MAX_BYTES,
      bodyBytes: MAX_BYTES,
      json: { bytes: MAX_BYTES, depth: 64, stringBytes: MAX_BYTES, elements: 10_000 },
      sliceMs: 10,
      connections: 2,
      inFlight: 4,
    },
  });
}

/** Reads the token at each request: the kubelet renews it in place. */
function authorizerOf({ tokenFile, endpoints, tls }: CoordinationOptions): Authorizer {
  const file =
    tokenFile !== ""
      ? tokenFile
      : endpoints.length === 0 || tls.certFile === ""
        ? podFiles.token
        : "";
  if (file === "") return anonymous;
  return {
    async authorization() {
      try {
        return Secret.of(`Bearer ${(await readFile(file, "utf8")).trim()}`, file);
      } catch (cause) {
        throw new StewardError("upstream", `the token file ${file} cannot be read`, {
          remedy: "check coordination.token_file and its permissions",
          cause,
        });
      }
    },
    refused: () => false,
  };
}

function trustOf({ tls, endpoints }: CoordinationOptions, endpoint: string): TrustRule {
  if (endpoint.startsWith("http:")) return {};
  const ca = tls.caFile !== "" ? tls.caFile : endpoints.length === 0 ? podFiles.ca : "";
  return {
    ...(ca === "" ? {} : { ca: readFileSync(ca, "utf8") }),
    ...(tls.certFile === ""
      ? {}
      : {
          pair: {
            cert: readFileSync(tls.certFile, "utf8"),
            key: readFileSync(tls.keyFile, "utf8"),
          },
        }),
  };
}
