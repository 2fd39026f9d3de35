/** An upstream on loopback that does what a test tells it, and the clients that ask it. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createRawServer, type Socket } from "node:net";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { anonymous } from "../../../src/kernel/client/authorizers.ts";
import { createClientFactory } from "../../../src/kernel/client/client.ts";
import type {
  AttemptReport,
  CallRequest,
  Client,
  ClientLimits,
  ClientSpec,
} from "../../../src/kernel/client/types.ts";

/** A server and what it was asked. */
export interface Upstream extends AsyncDisposable {
  readonly url: URL;
  readonly requests: {
    readonly method: string;
    readonly url: string;
    readonly headers: IncomingMessage["headers"];
    readonly body: string;
  }[];
}

type Answer = (request: IncomingMessage, response: ServerResponse, count: number) => void;

/** Answers each request once its body has come; `count` begins with 1. */
export async function createUpstream(answer: Answer): Promise<Upstream> {
  const requests: Upstream["requests"] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("error", () => undefined);
    request.on("end", () => {
      requests.push({
        method: request.method ?? "",
        url: request.url ?? "",
        headers: request.headers,
        body: Buffer.concat(parts).toString(),
      });
      answer(request, response, requests.length);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** A server of bytes: told of each connection and its first bytes. */
export async function createRawUpstream(
  answer: (socket: Socket, count: number) => void,
): Promise<AsyncDisposable & { readonly url: URL; connections(): number }> {
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createRawServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    socket.on("data", () => {
      count += 1;
      answer(socket, count);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    connections: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

/** Small limits, so that each fires soon. */
export const limits: ClientLimits = {
  connectMs: 1_000,
  attemptMs: 5_000,
  callMs: 10_000,
  wireBytes: 100_000,
  bodyBytes: 200_000,
  json: { bytes: 200_000, depth: 32, stringBytes: 100_000, elements: 10_000 },
  sliceMs: 5,
  connections: 4,
  inFlight: 100,
};

/** Repeats at once. */
export const retry = { retries: 3, baseDelayMs: 2, maxDelayMs: 20 };

/** A client of the upstream that keeps what its attempts reported. */
export function createTestClient(
  url: URL,
  spec: Partial<Omit<ClientSpec, "limits">> & { readonly limits?: Partial<ClientLimits> } = {},
): Client & AsyncDisposable & { readonly reports: AttemptReport[] } {
  const reports: AttemptReport[] = [];
  const client = createClientFactory({
    clock: systemClock,
    ids: systemIds,
    version: "1.2.3",
  }).create({
    name: "archive",
    base: url,
    auth: anonymous,
    retry,
    redirects: "same-origin",
    observe: (report) => reports.push(report),
    ...spec,
    limits: { ...limits, ...spec.limits },
  });
  return { ...client, reports, [Symbol.asyncDispose]: () => client.close() };
}

export const get: CallRequest = {
  operation: "things",
  method: "GET",
  path: "/things",
  idempotent: true,
};
export const post: CallRequest = {
  ...get,
  method: "POST",
  body: { type: "application/json", bytes: '{"a":1}' },
  idempotent: false,
};

export const forever: AbortSignal = new AbortController().signal;

/** Answers JSON. */
export function sendJson(
  response: ServerResponse,
  value: unknown,
  headers: Record<string, string> = {},
  status = 200,
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(value));
}
