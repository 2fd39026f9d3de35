/**
 * The requests of a listener: classified by their heads, admitted within the limits of their share,
 * and ended when their bodies take too long or the port drains (docs/architecture/admission.md).
 */
import type { Socket } from "node:net";
import type { Clock } from "../base/clock.ts";
import { StewardError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { createBodyBudget, type BodyBudget } from "./admission/body-budget.ts";
import type { Connections } from "./admission/connections.ts";
import {
  closeUnlessBodyIsShort,
  discardBody,
  hasBody,
  refuse,
  streamOf,
  type ServerRequest,
  type ServerResponse,
} from "./exchange.ts";
import type { Handler, Refuse } from "./handler.ts";
import type { ListenLimits, ShareLimits } from "./admission/limits.ts";
import {
  createRequestSlots,
  type HeldRequest,
  type RequestSlots,
} from "./admission/request-slots.ts";
import type { Refusals } from "./admission/refusals.ts";
import { SHARES, type Classification, type Classify, type Share } from "./admission/shares.ts";
import { createStreams, type Streams } from "./admission/streams.ts";
import { endUnreadBody } from "./admission/unread-body.ts";

/** Requests from their head to the end of their response. */
export interface Requests {
  /** Serves one request of a connection through the handler, within the limits. Never throws. */
  readonly serve: Serve;
  /** Number of requests on an HTTP/1.1 connection. */
  readonly count: (socket: Socket) => number;
  /** Requests that hold a slot. */
  inFlight(): number;
  /** Long-lived responses. */
  streams(): number;
  /** Lets every HTTP/1.1 connection end with its current response. */
  drain(): void;
}

/** Receives a request from the parser of its connection. */
export type Serve = (
  request: ServerRequest,
  response: ServerResponse,
  connection: Socket,
) => Promise<void>;

export interface RequestsOptions {
  readonly classify: Classify;
  readonly connections: Pick<Connections, "begin" | "end">;
  readonly refusals: Refusals;
  readonly refuse: Refuse;
  readonly handle: Handler;
}

/** The capacity of one share. */
interface Capacity {
  readonly limits: ShareLimits;
  readonly slots: RequestSlots;
  readonly streams: Streams;
  readonly bodies: BodyBudget;
}

interface Exchange extends HeldRequest {
  readonly request: ServerRequest;
  readonly response: ServerResponse;
  readonly connection: Socket;
  readonly classification: Classification;
  /** Resolves when the response is complete, or its connection closed. */
  readonly ended: Promise<void>;
  /** Response and connection are gone. */
  over: boolean;
  readonly end: () => void;
}

const RETRY_AFTER_MS = 1000;
const BUSY = new StewardError("exhausted", "too many requests at once; try again in a second", {
  rule: "requests",
  remedy: "try again in a second",
  retryAfterMs: RETRY_AFTER_MS,
});
const STREAMS = new StewardError(
  "exhausted",
  "too many streams are open; close one, or try again later",
  { rule: "streams", remedy: "close one, or try again later", retryAfterMs: 10 * RETRY_AFTER_MS },
);

/** Answers as text, for listeners without a dialect. */
export const refuseAsText: Refuse = (request, response, error) =>
  refuse(request, response, error.code === "too_large" ? 413 : 503, error.message, {
    headers: { "retry-after": String(Math.ceil((error.retryAfterMs ?? RETRY_AFTER_MS) / 1000)) },
  });

export function createRequests(
  limits: ListenLimits,
  options: RequestsOptions,
  deps: { clock: Clock; log: Log },
): Requests {
  const { connections, refusals } = options;
  const capacities: Readonly<Record<Share, Capacity>> = {
    owner: createCapacity(limits, "owner", deps.clock),
    stranger: createCapacity(limits, "stranger", deps.clock),
    probe: createCapacity(limits, "probe", deps.clock),
  };
  const onSocket = new Map<Socket, Set<Exchange>>();
  const sum = (count: (capacity: Capacity) => number): number =>
    SHARES.reduce((total, share) => total + count(capacities[share]), 0);
  let draining = false;

  const serve: Serve = async (request, response, connection) => {
    const exchange = openExchange(request, response, {
      connection,
      classification: options.classify(request),
      refusals,
    });
    const { share, kind } = exchange.classification;
    connections.begin(connection, share);
    void exchange.ended.then(() => connections.end(connection, share));
    if (streamOf(request) === undefined) {
      const before = track(onSocket, connection, exchange);
      void exchange.ended.then(() => {
        if (draining && onSocket.get(connection)?.size === 0) connection.destroySoon();
      });
      // Waiting responses would fill the memory as fast as requests of a few bytes can be sent.
      if (before.length > limits.pipelined) return void connection.destroy();
      await before.at(-1)?.ended;
      if (exchange.over) return;
    }
    endUnreadBody(request, deps.clock);
    if (kind !== "conversation")
      cutSlowBody(exchange, capacities[share].limits.bodyMs, deps.clock, refusals);
    await (kind === "request" ? answerInSlot : answerStream)(exchange, {
      capacity: capacities[share],
      options,
      log: deps.log,
    });
  };
  return {
    serve,
    count: (socket) => onSocket.get(socket)?.size ?? 0,
    inFlight: () => sum(({ slots }) => slots.inUse()),
    streams: () => sum(({ streams }) => streams.inUse()),
    drain() {
      draining = true;
      for (const exchanges of onSocket.values()) exchanges.forEach(closeAfter);
    },
  };
}

function createCapacity(limits: ListenLimits, share: Share, clock: Clock): Capacity {
  const own = limits[share];
  const evicts = ({ owner: "nobody", stranger: "slowest", probe: "oldest" } as const)[share];
  return {
    limits: own,
    streams: createStreams(own, clock),
    bodies: createBodyBudget(own),
    slots: createRequestSlots(
      {
        slots: own.requests,
        perAddress: own.requestsPerAddress,
        waitMs: limits.admissionMs,
        evicts,
      },
      clock,
    ),
  };
}

function openExchange(
  request: ServerRequest,
  response: ServerResponse,
  {
    connection,
    classification,
    refusals,
  }: Pick<Exchange, "connection" | "classification"> & { refusals: Refusals },
): Exchange {
  const { promise, resolve } = Promise.withResolvers<void>();
  const exchange: Exchange = {
    request,
    response,
    connection,
    classification,
    address: classification.address,
    ended: promise,
    over: false,
    end: () => {
      exchange.over = true;
      resolve();
    },
    waitsForClient: () => !request.complete || unreadBytes(request, response) > 0,
    evict() {
      refusals.add("busy", classification.share);
      cutWithAnswer(request, response, {
        status: 503,
        text: "too many requests at once, and this one waited for its client",
        headers: { "retry-after": "1" },
      });
    },
  };
  response.once("close", exchange.end);
  return exchange;
}

/** Response bytes waiting to be sent. */
function unreadBytes(request: ServerRequest, response: ServerResponse): number {
  const stream = streamOf(request);
  if (stream !== undefined) return stream.writableLength;
  return response.writableLength + (response.writableEnded ? request.socket.writableLength : 0);
}

/**
 * Returns the unfinished exchanges of the connection in order. A pipelined response that never got
 * its turn is not notified of the end of its connection, so the connection notifies all.
 */
function track(
  onSocket: Map<Socket, Set<Exchange>>,
  socket: Socket,
  exchange: Exchange,
): readonly Exchange[] {
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

interface AnswerDeps {
  readonly capacity: Capacity;
  readonly options: RequestsOptions;
  readonly log: Log;
}

/** Holds the slot until the response is complete. */
async function answerInSlot(exchange: Exchange, deps: AnswerDeps): Promise<void> {
  const { slots } = deps.capacity;
  if (!(await slots.enter(exchange))) return refuseExchange(exchange, deps.options, "busy", BUSY);
  void exchange.ended.then(() => slots.leave(exchange));
  await handle(exchange, undefined, deps);
}

/** A long-lived response needs no slot. */
async function answerStream(exchange: Exchange, deps: AnswerDeps): Promise<void> {
  const stream = deps.capacity.streams.open(exchange.connection, exchange.classification.address);
  if (stream === undefined) return refuseExchange(exchange, deps.options, "streams", STREAMS);
  void exchange.ended.then(() => stream[Symbol.dispose]());
  await handle(exchange, stream.expired, deps);
}

function refuseExchange(
  { request, response, classification }: Exchange,
  options: RequestsOptions,
  reason: "busy" | "streams",
  error: StewardError,
): void {
  options.refusals.add(reason, classification.share);
  closeUnlessBodyIsShort(request, response);
  discardBody(request);
  options.refuse(request, response, error);
}

async function handle(
  exchange: Exchange,
  expired: AbortSignal | undefined,
  { capacity, options, log }: AnswerDeps,
): Promise<void> {
  const {
    request,
    response,
    classification: { share },
  } = exchange;
  const body = capacity.bodies.allowance(() => options.refusals.add("bodies", share));
  try {
    if (!exchange.over) await options.handle(request, response, { share, body, expired });
  } catch (error) {
    log.error("request failed", { method: request.method, path: request.url, error });
    refuse(request, response, 500, "internal error");
  } finally {
    body.release();
  }
}

function cutSlowBody(
  { request, response, classification }: Exchange,
  bodyMs: number,
  clock: Clock,
  refusals: Refusals,
): void {
  if (!hasBody(request)) return;
  const timer = clock.timer(clock.monotonic() + bodyMs, () => {
    if (request.complete) return;
    refusals.add("slow_body", classification.share);
    cutWithAnswer(request, response, { status: 408, text: "the body took too long" });
  });
  request.once("end", () => timer[Symbol.dispose]()).once("close", () => timer[Symbol.dispose]());
}

function cutWithAnswer(
  request: ServerRequest,
  response: ServerResponse,
  {
    status,
    text,
    headers = {},
  }: { status: number; text: string; headers?: Record<string, string> },
): void {
  // Node does not notify a request of its connection's end once its response is out: the reader of
  // the body must be notified here.
  if (streamOf(request) === undefined) response.once("close", () => request.destroy());
  refuse(request, response, status, text, { last: true, headers });
}
