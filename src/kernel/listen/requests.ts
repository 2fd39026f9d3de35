/** The requests a listener is answering: their places, the time their bodies may take, and what becomes of them when the port drains. */
import type { Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { createAdmission, type Admission } from "./admission.ts";
import type { Connections } from "./connections.ts";
import { refuse, streamOf, type Handler, type ServerRequest, type ServerResponse } from "./exchange.ts";
import type { ListenLimits } from "./limits.ts";

/** Requests between their head and the end of their answer. */
export interface Requests {
  /** Answers one request through the handler, within the limits. Never throws. */
  readonly serve: Handler;
  /** Requests on an HTTP/1.1 connection. */
  readonly count: (socket: Socket) => number;
  inFlight(): number;
  /** Requests refused so far: there was no place for them, or their body took too long. */
  readonly refused: Readonly<Refusals>;
  /** Lets every HTTP/1.1 connection end with the answer it carries. */
  drain(): void;
}

/** What is asked of a handler's owner. */
export interface RequestsOptions {
  readonly openEnded: (path: string) => boolean;
  /** Paths that are answered however many others are. */
  readonly placeless: (path: string) => boolean;
  /** Hears when a connection over HTTP/1.1 carries one request more, and one less. */
  readonly connections: Pick<Connections, "begin" | "end">;
  readonly handle: Handler;
}

interface Refusals {
  busy: number;
  slow_body: number;
}

interface Exchange {
  readonly request: ServerRequest;
  readonly response: ServerResponse;
  /** Resolves when the answer is over, or its connection. */
  readonly ended: Promise<void>;
  /** Answer and connection are gone. */
  over: boolean;
  readonly end: () => void;
}

/** Nothing in flight yet. */
export function createRequests(limits: ListenLimits, options: RequestsOptions, deps: { clock: Clock; log: Log }): Requests {
  const admission = createAdmission({ places: limits.inFlight, waitMs: limits.admissionMs }, deps.clock);
  const onSocket = new Map<Socket, Set<Exchange>>();
  const refused: Refusals = { busy: 0, slow_body: 0 };
  let draining = false;

  const serve = async (request: ServerRequest, response: ServerResponse): Promise<void> => {
    const exchange = openExchange(request, response);
    if (streamOf(request) === undefined) {
      const { socket } = request;
      const before = track(onSocket, socket, exchange);
      options.connections.begin(socket);
      void exchange.ended.then(() => {
        options.connections.end(socket);
        if (draining && onSocket.get(socket)?.size === 0) socket.destroySoon();
      });
      // Answers that wait for their turn would pile up in memory as fast as requests of a few bytes can be sent.
      if (before.length > limits.pipelined) return void socket.destroy();
      await before.at(-1)?.ended;
      if (exchange.over) return;
    }
    if (!options.openEnded(request.url ?? "")) cutSlowBody(exchange, limits.bodyMs, deps.clock, refused);
    await answer(exchange, { admission: options.placeless(request.url ?? "") ? NO_PLACES : admission, refused, handle: options.handle, log: deps.log });
  };
  return {
    serve,
    count: (socket) => onSocket.get(socket)?.size ?? 0,
    inFlight: () => admission.inFlight(),
    refused,
    drain() {
      draining = true;
      for (const exchanges of onSocket.values()) exchanges.forEach(closeAfter);
    },
  };
}

function openExchange(request: ServerRequest, response: ServerResponse): Exchange {
  const { promise, resolve } = Promise.withResolvers<void>();
  const exchange: Exchange = {
    request, response, ended: promise, over: false,
    end: () => {
      exchange.over = true;
      resolve();
    },
  };
  response.once("close", exchange.end);
  return exchange;
}

/** Admission for those that take no place. */
const NO_PLACES: Admission = { enter: () => Promise.resolve(true), leave: () => undefined, inFlight: () => 0 };

/**
 * Returns the exchanges of the connection that are not over yet, in order. A pipelined answer that never got its turn
 * hears nothing of the end of its connection: the connection tells all.
 */
function track(onSocket: Map<Socket, Set<Exchange>>, socket: Socket, exchange: Exchange): readonly Exchange[] {
  let exchanges = onSocket.get(socket);
  if (exchanges === undefined) {
    const opened = new Set<Exchange>();
    onSocket.set(socket, opened);
    socket.once("close", () => {
      onSocket.delete(socket);
      for (const each of opened) each.end();
    });
    exchanges = opened;
  }
  const before = [...exchanges];
  exchanges.add(exchange);
  void exchange.ended.then(() => exchanges.delete(exchange));
  return before;
}

function closeAfter({ response }: Exchange): void {
  if (!response.headersSent) response.setHeader("connection", "close");
}

async function answer(exchange: Exchange, { admission, refused, handle, log }: { admission: Admission; refused: Refusals; handle: Handler; log: Log }): Promise<void> {
  const { request, response } = exchange;
  const admitted = await admission.enter();
  if (!admitted) refused.busy += 1;
  if (!admitted) return refuse(request, response, 503, "too many requests at once", { headers: { "retry-after": "1" } });
  try {
    if (!exchange.over) await handle(request, response);
  } catch (error) {
    log.error("a request failed", { method: request.method, path: request.url, error });
    refuse(request, response, 500, "internal error");
  } finally {
    void exchange.ended.then(() => admission.leave());
  }
}

function cutSlowBody({ request, response }: Exchange, bodyMs: number, clock: Clock, refused: Refusals): void {
  if (!hasBody(request)) return;
  const timer = clock.timer(clock.monotonic() + bodyMs, () => {
    if (request.complete) return;
    refused.slow_body += 1;
    // Node tells a request nothing of its connection's end once its answer is out: whoever reads the body must hear of it.
    if (streamOf(request) === undefined) response.once("close", () => request.destroy());
    refuse(request, response, 408, "the body took too long", { last: true });
  });
  request.once("end", () => timer[Symbol.dispose]()).once("close", () => timer[Symbol.dispose]());
}

function hasBody(request: ServerRequest): boolean {
  const stream = streamOf(request);
  if (stream !== undefined) return !stream.endAfterHeaders;
  return request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0;
}
