/**
 * The life of the plugin's process: handshake, services, shutdown. It ends when the host says so,
 * by SIGTERM, or when the host is gone.
 */
import { rmSync } from "node:fs";
import { Server } from "@grpc/grpc-js";
import { waitFor } from "../../kernel/async/wait.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { BackendFactory } from "../logical/types.ts";
import { addBackendService } from "./backend-service.ts";
import { createBroker } from "./broker.ts";
import { createIdentity } from "./certificate.ts";
import { connectToHost, serverCredentials } from "./connection.ts";
import { messageLimits } from "./grpc.ts";
import { handshakeLine, type HostSettings } from "./handshake.ts";
import { createInstances } from "./instances.ts";
import { addProcessServices } from "./process-services.ts";
import { removeStaleSockets, restrictSocket, socketPath } from "./socket.ts";

/** A host gives up after a minute when a plugin does not start. */
const FIRST_STREAM_MS = 60_000;

/** A host keeps its broker stream for life and does not open another one. */
const GONE_MS = 5_000;

/** How often the process looks whether it is still the host's child. */
const PARENT_MS = 2_000;

/** The host kills a plugin 2 s after it has told it to end. */
const DRAIN_MS = 1_000;

/** Calls at once on one connection; more wait at the host. */
const MAX_CALLS = 1_024;

export interface PluginDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  readonly factory: BackendFactory;
  /** Writes to standard output, at once. */
  readonly print: (text: string) => void;
  /** The process id of this process's parent now. */
  readonly parent: () => number;
  /** Ends the process when it fires. */
  readonly signal: AbortSignal;
}

/**
 * Serves until the end. Throws StewardError when the socket cannot be made.
 */
export async function servePlugin(
  { clock, ids, log, factory, print, parent, signal }: PluginDeps,
  { host, version }: { readonly host: HostSettings; readonly version: string },
): Promise<void> {
  const identity = await createIdentity({ clock, ids });
  const socket = socketPath(host.socketFolder, ids);
  const instances = createInstances({ factory, clock, log });
  const broker = createBroker(clock);
  const stopping = new AbortController();
  const { promise: ended, resolve: end } = Promise.withResolvers<string>();
  const gone = (): void => end("the host is gone");
  const presence = watchHost(clock, gone);
  using _parent = watchParent(clock, parent, gone);
  const server = new Server({ ...messageLimits, "grpc.max_concurrent_streams": MAX_CALLS });
  addBackendService(server, {
    instances,
    broker,
    connect: (listener) => connectToHost(listener, identity, host.certificate),
    log,
  });
  addProcessServices(
    server,
    { broker, version, shutdown: () => end("the host says so"), streams: presence.streams },
    stopping.signal,
  );
  const terminate = (): void => end("the process is to stop");
  if (signal.aborted) terminate();
  else signal.addEventListener("abort", terminate, { once: true });
  await listen(server, `unix:${socket}`, serverCredentials(identity, host.certificate));
  try {
    restrictSocket(socket, host.socketGroup);
    print(handshakeLine(socket, identity.der, host));
    const removed = await removeStaleSockets(host.socketFolder, clock);
    if (removed > 0) log.info("removed sockets that killed plugins left", { removed });
    log.info("plugin ends", { reason: await ended });
  } finally {
    presence[Symbol.dispose]();
    stopping.abort();
    await stop(server, clock);
    await instances.closeAll();
    rmSync(socket, { force: true });
  }
}

function listen(
  server: Server,
  address: string,
  credentials: ReturnType<typeof serverCredentials>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error) => {
      if (error === null) resolve();
      else
        reject(
          new StewardError("not_ready", `the plugin's socket cannot be made: ${error.message}`, {
            cause: error,
            remedy: "set TMPDIR in the host's environment to a folder that it may write to",
          }),
        );
    });
  });
}

/** Lets calls finish, but not for longer than the host waits. */
async function stop(server: Server, clock: Clock): Promise<void> {
  const drained = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
  await waitFor(drained, { clock, timeoutMs: DRAIN_MS });
  server.forceShutdown();
}

/** Calls `gone` once no broker stream has been open for a while: nobody else can ever connect. */
function watchHost(
  clock: Clock,
  gone: () => void,
): Disposable & { readonly streams: (change: 1 | -1) => void } {
  let open = 0;
  let timer = clock.timer(clock.monotonic() + FIRST_STREAM_MS, gone);
  return {
    streams(change) {
      open += change;
      timer[Symbol.dispose]();
      if (open === 0) timer = clock.timer(clock.monotonic() + GONE_MS, gone);
    },
    [Symbol.dispose]: () => timer[Symbol.dispose](),
  };
}

/**
 * Calls `gone` once the parent is another than at first. A host that is killed under load may leave
 * its connection open for ever: Node loses a failed write of HTTP/2 over TLS in rare cases, and
 * does not read meanwhile (https://github.com/nodejs/node/issues/55804).
 */
function watchParent(clock: Clock, parent: () => number, gone: () => void): Disposable {
  const first = parent();
  const look = (): Disposable =>
    clock.timer(clock.monotonic() + PARENT_MS, () => {
      if (parent() !== first) gone();
      else timer = look();
    });
  let timer = look();
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
