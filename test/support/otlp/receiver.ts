/**
 * A receiver of OTLP over real gRPC (grpc-js) and over HTTP, which decodes what arrives and answers
 * as a test wants.
 */
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import type { handleUnaryCall } from "@grpc/grpc-js";
import { decodeLogs, decodeMetrics, decodeSpans } from "./decode.ts";
import type { ReceivedLog, ReceivedPoint, ReceivedSpan } from "./decode.ts";

const GRPC_METRICS = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
const GRPC_LOGS = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";
const GRPC_TRACES = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/**
 * How requests are answered: accepted, refused with a status, accepted in part, or not at all until
 * released.
 */
export type Answer =
  | { readonly kind: "accept" }
  | {
      readonly kind: "refuse";
      readonly grpc: number;
      readonly http: number;
      readonly headers?: Readonly<Record<string, string>>;
      /** The words of a gRPC refusal. */ readonly words?: string;
      /** Only this signal is refused. */ readonly only?: Signal;
    }
  | {
      /** Log batches with a record of this body are refused. */ readonly kind: "poisoned";
      readonly body: string;
      readonly grpc: number;
      readonly http: number;
    }
  | { readonly kind: "partial"; readonly rejected: number }
  | {
      readonly kind: "hold";
      readonly until: Promise<void>;
      /** Called for each request that is held. */ readonly arrived?: () => void;
    };

/** A running receiver. */
export interface Receiver {
  readonly protocol: "grpc" | "http";
  readonly port: number;
  readonly endpoint: string;
  answer: Answer;
  /** One entry for each accepted request of metrics: its points. */
  readonly batches: (readonly ReceivedPoint[])[];
  readonly logBatches: (readonly ReceivedLog[])[];
  readonly spanBatches: (readonly ReceivedSpan[])[];
  /** Size in bytes of each accepted request, after decompression. */
  readonly sizes: number[];
  /** Requests refused so far. */
  refused: number;
  /** Headers or metadata of the last request. */
  headers: Readonly<Record<string, unknown>>;
  points(): readonly ReceivedPoint[];
  logs(): readonly ReceivedLog[];
  spans(): readonly ReceivedSpan[];
  clear(): void;
  close(): Promise<void>;
}

/** Options of a receiver. */
export interface ReceiverOptions {
  readonly protocol: "grpc" | "http";
  /** Larger requests are refused as the protocol does it. */
  readonly maxBytes?: number;
  /** 0 unless given. */
  readonly port?: number;
  /** Plain unless given. PEM texts. */
  readonly tls?: ReceiverTls;
}

/** The receiver's pair, and whose client certificates it asks for; nobody's unless given. */
export interface ReceiverTls {
  readonly cert: string;
  readonly key: string;
  readonly clientCa?: string;
}

/** Starts a receiver on loopback. */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const state = {
    answer: { kind: "accept" } as Answer,
    batches: [] as (readonly ReceivedPoint[])[],
    logBatches: [] as (readonly ReceivedLog[])[],
    spanBatches: [] as (readonly ReceivedSpan[])[],
    sizes: [] as number[],
    refused: 0,
    headers: {},
  };
  const { port, close } = await (options.protocol === "grpc"
    ? listenGrpc(options, state)
    : listenHttp(options, state));
  return Object.assign(state, {
    protocol: options.protocol,
    port,
    endpoint: `${options.tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    close,
    points: () => state.batches.flat(),
    logs: () => state.logBatches.flat(),
    spans: () => state.spanBatches.flat(),
    clear: () => {
      state.batches.length = 0;
      state.logBatches.length = 0;
      state.spanBatches.length = 0;
      state.sizes.length = 0;
    },
  });
}

type State = Pick<
  Receiver,
  "answer" | "batches" | "logBatches" | "spanBatches" | "sizes" | "refused" | "headers"
>;
type Signal = "metrics" | "logs" | "traces";
const SIGNALS: readonly Signal[] = ["metrics", "logs", "traces"];

function take(state: State, signal: Signal, bytes: Uint8Array): void {
  state.sizes.push(bytes.length);
  if (signal === "metrics") state.batches.push(decodeMetrics(bytes));
  else if (signal === "logs") state.logBatches.push(decodeLogs(bytes));
  else state.spanBatches.push(decodeSpans(bytes));
}

/**
 * ExportMetricsServiceResponse { partial_success = 1 { rejected = 1 } } by hand: all signals have
 * the same shape.
 */
function response(answer: Answer): Buffer {
  if (answer.kind !== "partial") return Buffer.alloc(0);
  if (answer.rejected > 127) throw new RangeError("one byte of varint");
  return Buffer.from([0x0a, 0x02, 0x08, answer.rejected]);
}

async function held(answer: Answer): Promise<void> {
  if (answer.kind !== "hold") return;
  answer.arrived?.();
  await answer.until;
}

/** The answer, if it refuses this request. */
function refusal(
  answer: Answer,
  signal: Signal,
  bytes: Uint8Array,
): (Answer & { readonly kind: "refuse" }) | undefined {
  if (answer.kind === "poisoned") {
    const isPoisoned =
      signal === "logs" && decodeLogs(bytes).some(({ body }) => body === answer.body);
    return isPoisoned ? { kind: "refuse", grpc: answer.grpc, http: answer.http } : undefined;
  }
  return answer.kind === "refuse" && (answer.only ?? signal) === signal ? answer : undefined;
}

async function listenGrpc(
  { port = 0, maxBytes = -1, tls }: ReceiverOptions,
  state: State,
): Promise<{ port: number; close: () => Promise<void> }> {
  const server = new Server({ "grpc.max_receive_message_length": maxBytes });
  const raw = (bytes: Buffer): Buffer => bytes;
  const method = (path: string) => ({
    Export: {
      path,
      requestStream: false,
      responseStream: false,
      requestDeserialize: raw,
      requestSerialize: raw,
      responseDeserialize: raw,
      responseSerialize: raw,
    },
  });
  const handle =
    (signal: Signal): handleUnaryCall<Buffer, Buffer> =>
    (call, done) => {
      state.headers = call.metadata.getMap();
      void (async () => {
        const { answer } = state;
        await held(answer);
        const refused = refusal(answer, signal, call.request);
        if (refused !== undefined) state.refused += 1;
        if (refused !== undefined)
          return done({ code: refused.grpc, details: refused.words ?? "refused by the test" });
        take(state, signal, call.request);
        done(null, response(answer));
      })();
    };
  server.addService(method(GRPC_METRICS), { Export: handle("metrics") });
  server.addService(method(GRPC_LOGS), { Export: handle("logs") });
  server.addService(method(GRPC_TRACES), { Export: handle("traces") });
  const bound = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, grpcCredentials(tls), (error, each) =>
      error ? reject(error) : resolve(each),
    ),
  );
  return {
    port: bound,
    close: () => {
      server.forceShutdown();
      return Promise.resolve();
    },
  };
}

function grpcCredentials(tls: ReceiverTls | undefined): ServerCredentials {
  if (tls === undefined) return ServerCredentials.createInsecure();
  const { cert, key, clientCa } = tls;
  const pem = (text: string): Buffer => Buffer.from(text);
  return ServerCredentials.createSsl(
    clientCa === undefined ? null : pem(clientCa),
    [{ cert_chain: pem(cert), private_key: pem(key) }],
    clientCa !== undefined,
  );
}

async function listenHttp(
  { port = 0, maxBytes = Number.POSITIVE_INFINITY, tls }: ReceiverOptions,
  state: State,
): Promise<{ port: number; close: () => Promise<void> }> {
  const answer = (request: IncomingMessage, reply: ServerResponse): void =>
    void answerHttp(request, reply, state, maxBytes);
  const asked =
    tls?.clientCa === undefined
      ? {}
      : { ca: tls.clientCa, requestCert: true, rejectUnauthorized: true };
  const server =
    tls === undefined
      ? createServer(answer)
      : createTlsServer({ cert: tls.cert, key: tls.key, ...asked }, answer);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answerHttp(
  request: IncomingMessage,
  reply: ServerResponse,
  state: State,
  maxBytes: number,
): Promise<void> {
  const { answer } = state;
  state.headers = request.headers;
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return;
  }
  const body = Buffer.concat(chunks);
  const bytes = request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
  const signal = SIGNALS.find((each) => request.url?.endsWith(`/v1/${each}`));
  await held(answer);
  if (signal === undefined) return void reply.writeHead(404).end();
  if (bytes.length > maxBytes) return void reply.writeHead(413).end();
  const refused = refusal(answer, signal, bytes);
  if (refused !== undefined) state.refused += 1;
  if (refused !== undefined)
    return void reply.writeHead(refused.http, refused.headers).end("refused by the test");
  take(state, signal, bytes);
  reply.writeHead(200, { "content-type": "application/x-protobuf" }).end(response(answer));
}
