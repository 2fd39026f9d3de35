/**
 * Shared server of both simulated control planes: a loopback port, faults, request log, delayed or
 * damaged responses.
 */
import { delay, type Clock } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { ServerRequest, ServerResponse } from "../../kernel/listen/exchange.ts";
import { createListener } from "../../kernel/listen/listener.ts";
import { createFaults, type Faults } from "./faults.ts";
import { injectFault } from "./inject-fault.ts";
import type { Call, Reply } from "./reply.ts";
import type { Routes } from "../routes.ts";
import { closing, readBody, send } from "../serving/outgoing.ts";
import { toOutgoing } from "./to-outgoing.ts";

export interface ControlPlaneDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

/** A request that came. */
interface SeenRequest<Operation extends string> {
  readonly operation: Operation;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly atMs: number;
}

/** A running simulator, as far as both have the same. */
export interface ControlPlane<Operation extends string> {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly faults: Faults<Operation>;
  /** Waits this long before each answer; 0 at first. */
  latencyMs: number;
  /** Requests per operation, rejected ones included. */
  requests(): Readonly<Partial<Record<Operation, number>>>;
  /** The latest requests, oldest first; at most 1000. */
  seen(): readonly SeenRequest<Operation>[];
  /** Finishes nothing: connections are cut. Works twice. */
  stop(): Promise<void>;
}

/** What makes one simulator differ from the other. */
export interface ControlPlaneSpec<Operation extends string> {
  readonly name: string;
  /** 0 when not given: any that is free. */
  readonly port?: number;
  readonly routes: Routes<Operation>;
  /** Where requests without a place lead. */
  readonly elsewhere: Operation;
  /** Sent with each answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether larger answers are compressed for clients that take it. */
  readonly gzip: boolean;
  readonly answer: (call: Call<Operation>) => Reply;
  readonly refuse: (status: number, message: string) => Reply;
}

const MAX_CONCURRENT = 4096;
const MAX_SEEN = 1000;
const BODY_BYTES = 4 * 1024 * 1024;

/** Starts to listen. Throws what the listener throws. */
export async function startControlPlane<Operation extends string>(
  spec: ControlPlaneSpec<Operation>,
  deps: ControlPlaneDeps,
): Promise<ControlPlane<Operation>> {
  const counts = new Map<Operation, number>();
  const seen: SeenRequest<Operation>[] = [];
  const faults = createFaults<Operation>();
  const see = (request: SeenRequest<Operation>): void => {
    counts.set(request.operation, (counts.get(request.operation) ?? 0) + 1);
    if (seen.push(request) > MAX_SEEN) seen.shift();
  };
  const listener = createListener(
    {
      name: spec.name,
      setting: `the address of the ${spec.name}`,
      address: { host: "127.0.0.1", port: spec.port ?? 0 },
      credential: false,
      limits: {
        connections: MAX_CONCURRENT,
        owner: { requests: MAX_CONCURRENT, requestsPerAddress: MAX_CONCURRENT },
      },
      handle: (request, response) =>
        serve(request, response, { spec, deps, faults, see, latencyMs: plane.latencyMs }),
    },
    deps,
  );
  const plane: ControlPlane<Operation> = {
    get url() {
      return `http://127.0.0.1:${listener.port}`;
    },
    get port() {
      return listener.port;
    },
    faults,
    latencyMs: 0,
    requests: () => Object.fromEntries(counts) as Partial<Record<Operation, number>>,
    seen: () => [...seen],
    stop: () => listener.stop(0),
  };
  await listener.start();
  return plane;
}

interface Serving<Operation extends string> {
  readonly spec: ControlPlaneSpec<Operation>;
  readonly deps: ControlPlaneDeps;
  readonly faults: Faults<Operation>;
  readonly see: (request: SeenRequest<Operation>) => void;
  readonly latencyMs: number;
}

async function serve<Operation extends string>(
  request: ServerRequest,
  response: ServerResponse,
  { spec, deps: { clock }, faults, see, latencyMs }: Serving<Operation>,
): Promise<void> {
  const [path = "", query = ""] = (request.url ?? "").split("?", 2);
  const method = request.method ?? "";
  const { operation, params } = spec.routes.find(method, path) ?? {
    operation: spec.elsewhere,
    params: [],
  };
  const encodings = request.headers["accept-encoding"];
  const outgoing = (reply: Reply): ReturnType<typeof toOutgoing> =>
    toOutgoing(
      reply,
      clock.now(),
      spec.headers,
      spec.gzip && typeof encodings === "string" ? encodings : undefined,
    );
  const body = await readBody(request, BODY_BYTES);
  if (typeof body !== "string")
    return body.failed === "gone"
      ? undefined
      : send(response, outgoing(spec.refuse(413, "request too large")));
  see({ operation, method, path, query, headers: request.headers, body, atMs: clock.now() });
  const waited = (ms: number): Promise<boolean> =>
    delay(clock, ms, closing(response)).then(
      () => true,
      () => false,
    );
  if (latencyMs > 0 && !(await waited(latencyMs))) return;
  const perform = (): Reply =>
    spec.answer({
      operation,
      method,
      path,
      params,
      query: new URLSearchParams(query),
      headers: request.headers,
      body,
      nowMs: clock.now(),
    });
  const fault = faults.take(operation);
  if (fault === undefined) {
    const reply = perform();
    if ((reply.delayMs ?? 0) > 0 && !(await waited(reply.delayMs ?? 0))) return;
    return send(response, outgoing(reply));
  }
  return injectFault(fault, {
    request,
    response,
    clock,
    perform,
    toOutgoing: outgoing,
    refuse: spec.refuse,
  });
}
