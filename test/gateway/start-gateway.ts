/** A gateway over fake handlers on a free port, and clients of every protocol for it. */
import {
  create,
  fromBinary,
  toBinary,
  type DescMessage,
  type DescMethodBiDiStreaming,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import {
  Client,
  credentials,
  Metadata,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ServiceError,
} from "@grpc/grpc-js";
import { onTestFinished } from "vitest";
import {
  createGateway,
  type Gateway,
  type GatewayDeps,
  type GatewayOptions,
} from "../../gateway/gateway.ts";
import { JobService, JobStatus } from "../../src/gen/steward/dedup/v1/jobs_pb.ts";
import { SystemService } from "../../src/gen/steward/dedup/v1/system_pb.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import { bindService, type BoundService, type Handlers } from "../../src/kernel/service.ts";

/** The system service; `overrides` replace single handlers. */
export function systemService(
  overrides: Partial<Handlers<typeof SystemService.method>> = {},
): BoundService {
  return bindService(SystemService, {
    getHealth: () => ({ data: { status: "ok" } }),
    getReadiness: () => ({ data: { status: "ready" } }),
    ...overrides,
  });
}

/** The job service; `overrides` replace single handlers. */
export function jobService(
  overrides: Partial<Handlers<typeof JobService.method>> = {},
): BoundService {
  return bindService(JobService, {
    listJobs: () => ({ data: [] }),
    getJob: ({ jobId }) => ({ data: { id: jobId } }),
    cancelJob: ({ jobId }) => ({ data: { jobId, status: JobStatus.CANCELLED } }),
    async *watchJob() {
      yield { event: "progress", progress: 0.5 };
      yield { event: "complete", progress: 1 };
    },
    ...overrides,
  });
}

/** A started gateway, stopped when the test ends. `lines` collects the log. */
export async function startGateway(
  deps: Partial<GatewayDeps> = {},
  limits: GatewayOptions["limits"] = {},
  tls?: GatewayOptions["tls"],
): Promise<{ gateway: Gateway; url: string; host: string; lines: string[] }> {
  const lines: string[] = [];
  const gateway = createGateway(
    {
      services: [systemService(), jobService()],
      plain: [],
      probes: {
        live: () => ({ ok: true, reasons: [] }),
        ready: () => ({ ok: true, reasons: [] }),
        serviceReady: () => true,
      },
      auth: { allowedHosts: [] },
      clock: systemClock,
      ids: systemIds,
      log: createLog({
        level: "debug",
        format: "text",
        write: (line) => void lines.push(line),
        now: () => 0,
      }),
      ...deps,
    },
    { address: { host: "127.0.0.1", port: 0 }, limits, ...(tls === undefined ? {} : { tls }) },
  );
  await gateway.start();
  onTestFinished(() => gateway.stop(0));
  const host = `127.0.0.1:${gateway.port}`;
  return { gateway, url: `http://${host}`, host, lines };
}

/** A gRPC client, closed when the test ends. */
export interface GrpcClient {
  unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    init: MessageInitShape<I>,
    options?: { deadlineMs?: number },
  ): Promise<MessageShape<O>>;
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    init: MessageInitShape<I>,
  ): ClientReadableStream<MessageShape<O>>;
  talk<I extends DescMessage, O extends DescMessage>(
    method: DescMethodBiDiStreaming<I, O>,
  ): ClientDuplexStream<MessageShape<I>, MessageShape<O>>;
}

/** Connects with @grpc/grpc-js; `metadata` goes with every call. */
export function grpcClient(host: string, metadata: Record<string, string> = {}): GrpcClient {
  const client = new Client(host, credentials.createInsecure());
  onTestFinished(() => client.close());
  const headers = new Metadata();
  for (const [name, value] of Object.entries(metadata)) headers.set(name, value);
  const path = (method: { parent: { typeName: string }; name: string }): string =>
    `/${method.parent.typeName}/${method.name}`;
  const write =
    <D extends DescMessage>(desc: D) =>
    (message: MessageShape<D>): Buffer =>
      Buffer.from(toBinary(desc, message));
  const read =
    <D extends DescMessage>(desc: D) =>
    (bytes: Buffer): MessageShape<D> =>
      fromBinary(desc, bytes);
  return {
    unary: (method, init, options = {}) =>
      new Promise((resolve, reject) => {
        client.makeUnaryRequest(
          path(method),
          write(method.input),
          read(method.output),
          create(method.input, init),
          headers,
          { deadline: Date.now() + (options.deadlineMs ?? 10_000) },
          (error: ServiceError | null, answer) => {
            if (answer === undefined) reject(error ?? new Error("no answer"));
            else resolve(answer);
          },
        );
      }),
    stream: (method, init) =>
      client.makeServerStreamRequest(
        path(method),
        write(method.input),
        read(method.output),
        create(method.input, init),
        headers,
      ),
    talk: (method) =>
      client.makeBidiStreamRequest(path(method), write(method.input), read(method.output), headers),
  };
}

/** A unary call in Connect's JSON. */
export async function connectCall(
  url: string,
  path: string,
  body: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; json: Record<string, unknown>; headers: Headers }> {
  const answer = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  return {
    status: answer.status,
    json: (await answer.json()) as Record<string, unknown>,
    headers: answer.headers,
  };
}
