/**
 * `bin/node bench/kernel-gateway.ts [SECONDS]`: calls per second of one method over REST, Connect
 * and gRPC beside a bare Node server that returns the same bytes, in the same run and from the same
 * client thread, rounds alternating. The servers run in this thread, the client in a worker. Prints
 * one line of JSON per way; ends 1 when REST is below half of bare.
 */
import { create, toBinary } from "@bufbuild/protobuf";
import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { Worker } from "node:worker_threads";
import { createGateway } from "../gateway/gateway.ts";
import {
  GetJobResponseSchema,
  JobService,
  JobStatus,
  JobType,
} from "../src/gen/steward/dedup/v1/jobs_pb.ts";
import { systemClock } from "../src/kernel/base/clock.ts";
import { systemIds } from "../src/kernel/base/ids.ts";
import { createLog } from "../src/kernel/base/log.ts";
import { bindService } from "../src/kernel/service.ts";
import type { LoadRequest } from "./load-client.ts";

const BAR = 0.5;
const ROUNDS = 5;
const CONNECTIONS = 16;
const seconds = Number(process.argv[2] ?? 10);

const job = {
  data: {
    id: "V1StGXR8_Z5jdHi6B-myT",
    type: JobType.SYNC,
    status: JobStatus.COMPLETED,
    progress: 1,
    progressMessage: "12 documents, 3 changed",
  },
};
const service = bindService(JobService, {
  listJobs: () => ({}),
  getJob: () => job,
  cancelJob: () => ({}),
  async *watchJob() {
    /* not asked for */
  },
});

/** A port that answers anything with these bytes. */
async function listenBare(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
}

async function startGateway(): Promise<{ port: number; stop: () => Promise<void> }> {
  const fine = { ok: true, reasons: [] };
  const log = createLog({
    level: "warn",
    format: "text",
    write: (line) => process.stderr.write(line),
    now: () => Date.now(),
  });
  const gateway = createGateway(
    {
      services: [service],
      plain: [],
      probes: { live: () => fine, ready: () => fine, serviceReady: () => true },
      auth: { allowedHosts: [] },
      clock: systemClock,
      ids: systemIds,
      log,
    },
    { address: { host: "127.0.0.1", port: 0 } },
  );
  await gateway.start();
  return { port: gateway.port, stop: () => gateway.stop(0) };
}

function frame(message: Uint8Array): Buffer {
  const framed = Buffer.alloc(5 + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, 5);
  return framed;
}

/** Asks once, for the bytes a bare server has to return. */
async function answerOf(
  port: number,
  load: Omit<LoadRequest, "port" | "ms" | "connections">,
): Promise<{ body: Buffer; type: string }> {
  const answer = await fetch(`http://127.0.0.1:${port}${load.path}`, {
    method: load.method,
    headers: load.headers,
    ...(load.body === undefined
      ? {}
      : { body: typeof load.body === "string" ? load.body : new Uint8Array(load.body) }),
  });
  return {
    body: Buffer.from(await answer.arrayBuffer()),
    type: answer.headers.get("content-type") ?? "",
  };
}

const client = new Worker(new URL("load-client.ts", import.meta.url));

/** Calls per second. Rejects when an answer is not a success. */
function run(load: LoadRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    client.once("message", (outcome: { calls: number; error?: string }) => {
      if (outcome.error === undefined) resolve(outcome.calls / (load.ms / 1000));
      else reject(new Error(outcome.error));
    });
    client.postMessage(load);
  });
}

/**
 * Both in turns; the ratio is the median over the rounds, for the machine's own ups and downs hit
 * both.
 */
async function compare(
  name: string,
  load: Omit<LoadRequest, "port" | "ms" | "connections">,
  port: number,
  barePort: number,
): Promise<number> {
  const ms = (seconds * 1000) / ROUNDS / 2;
  const common = { ...load, ms, connections: CONNECTIONS };
  const rates: { gateway: number; bare: number }[] = [];
  for (const at of [port, barePort]) await run({ ...common, port: at, ms: 500 });
  for (let round = 0; round < ROUNDS; round += 1)
    rates.push({
      gateway: await run({ ...common, port }),
      bare: await run({ ...common, port: barePort }),
    });
  const ratios = rates.map(({ gateway, bare }) => gateway / bare).sort((a, b) => a - b);
  const mean = (pick: (rate: { gateway: number; bare: number }) => number): number =>
    Math.round(rates.reduce((sum, rate) => sum + pick(rate), 0) / ROUNDS);
  const ratio = ratios[Math.floor(ROUNDS / 2)] ?? 0;
  process.stdout.write(
    `${JSON.stringify({ way: name, calls_per_second: mean(({ gateway }) => gateway), bare_calls_per_second: mean(({ bare }) => bare), ratio: Number(ratio.toFixed(3)), lowest: Number((ratios[0] ?? 0).toFixed(3)), highest: Number((ratios.at(-1) ?? 0).toFixed(3)) })}\n`,
  );
  return ratio;
}

const gateway = await startGateway();
const rest = {
  protocol: "h1",
  method: "GET",
  path: "/api/v1/jobs/V1StGXR8_Z5jdHi6B-myT",
  headers: {},
  body: undefined,
} as const;
const connect = {
  protocol: "h1",
  method: "POST",
  path: "/steward.dedup.v1.JobService/GetJob",
  headers: { "content-type": "application/json" },
  body: '{"jobId":"V1StGXR8_Z5jdHi6B-myT"}',
} as const;
const grpc = {
  protocol: "h2",
  method: "POST",
  path: connect.path,
  headers: { "content-type": "application/grpc", te: "trailers" },
  body: frame(
    toBinary(
      JobService.method.getJob.input,
      create(JobService.method.getJob.input, { jobId: job.data.id }),
    ),
  ),
} as const;

async function bareHttp1(load: typeof rest | typeof connect): Promise<Server> {
  const { body, type } = await answerOf(gateway.port, load);
  return createServer((request, response) => {
    request
      .resume()
      .once("end", () =>
        response.writeHead(200, { "content-type": type, "content-length": body.length }).end(body),
      );
  });
}

const grpcBytes = frame(toBinary(GetJobResponseSchema, create(GetJobResponseSchema, job)));
const bareGrpc = createHttp2Server((request, response) => {
  request.resume().once("end", () => {
    response.writeHead(200, { "content-type": "application/grpc" });
    response.addTrailers({ "grpc-status": "0" });
    response.end(grpcBytes);
  });
});

const restRatio = await compare(
  "rest",
  rest,
  gateway.port,
  await listenBare(await bareHttp1(rest)),
);
await compare("connect", connect, gateway.port, await listenBare(await bareHttp1(connect)));
await compare("grpc", grpc, gateway.port, await listenBare(bareGrpc));
await client.terminate();
await gateway.stop();
if (restRatio < BAR)
  process.stderr.write(
    `REST makes ${restRatio.toFixed(3)} of a bare server's calls per second; the bar is ${BAR}\n`,
  );
process.exit(restRatio < BAR ? 1 : 0);
