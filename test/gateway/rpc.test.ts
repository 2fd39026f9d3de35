import { once } from "node:events";
import { connect as connectHttp2, constants } from "node:http2";
import { fromBinary } from "@bufbuild/protobuf";
import { ViolationsSchema } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { describe, expect, it, onTestFinished } from "vitest";
import { JobService } from "../../src/gen/steward/dedup/v1/jobs_pb.ts";
import { SystemService } from "../../src/gen/steward/dedup/v1/system_pb.ts";
import { StewardError } from "../../src/kernel/base/errors.ts";
import { Secret } from "../../src/kernel/base/secret.ts";
import type { Call } from "../../src/kernel/service.ts";
import {
  connectCall,
  grpcClient,
  jobService,
  startGateway,
  systemService,
} from "./start-gateway.ts";

const getJob = "/steward.dedup.v1.JobService/GetJob";
const listJobs = "/steward.dedup.v1.JobService/ListJobs";
const watchJob = "/steward.dedup.v1.JobService/WatchJob";

/**
 * What a POST of these bytes over HTTP/2 is answered: its status, and its headers, body and
 * trailers as one text, nothing escaped.
 */
async function posted(
  url: string,
  path: string,
  type: string,
  body: Uint8Array,
): Promise<{ status: number; text: string }> {
  const session = connectHttp2(url);
  onTestFinished(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": type,
    te: "trailers",
  });
  let [status, text] = [0, ""];
  const look = (headers: Record<string, unknown>): void => {
    status ||= Number(headers[":status"] ?? 0);
    for (const [name, value] of Object.entries(headers))
      if (name.startsWith("grpc-")) text += `${name}: ${String(value)}\n`;
  };
  stream
    .on("response", look)
    .on("trailers", look)
    .on("data", (chunk: Buffer) => (text += chunk.toString()));
  stream.end(body);
  await once(stream, "close");
  return { status, text: decodeURIComponent(text) };
}

async function caught(promise: Promise<unknown>): Promise<ConnectError> {
  return ConnectError.from(
    await promise.then(
      () => Promise.reject(new Error("no error")),
      (error: unknown) => error,
    ),
  );
}

describe("one port", () => {
  it("answers Connect, gRPC-Web and gRPC, unary and streaming, over HTTP/1.1 and HTTP/2", async () => {
    const { url } = await startGateway();
    const transports = [
      createConnectTransport({ baseUrl: url, httpVersion: "1.1" }),
      createConnectTransport({ baseUrl: url, httpVersion: "2" }),
      createConnectTransport({ baseUrl: url, httpVersion: "1.1", useBinaryFormat: true }),
      createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1" }),
      createGrpcWebTransport({ baseUrl: url, httpVersion: "2" }),
      createGrpcTransport({ baseUrl: url }),
    ];
    for (const transport of transports) {
      const jobs = createClient(JobService, transport);
      expect((await jobs.getJob({ jobId: "j1" })).data?.id).toBe("j1");
      const events: string[] = [];
      for await (const message of jobs.watchJob({ jobId: "j1" })) events.push(message.event);
      expect(events).toEqual(["progress", "complete"]);
    }
  });

  it("answers REST and grpc-js clients beside them", async () => {
    const { url, host } = await startGateway();
    const rest = await fetch(`${url}/api/v1/jobs/j2`);
    expect(await rest.json()).toMatchObject({ data: { id: "j2" } });
    expect((await grpcClient(host).unary(JobService.method.getJob, { jobId: "j3" })).data?.id).toBe(
      "j3",
    );
  });
});

describe("a method nobody serves", () => {
  it("is unimplemented in every protocol", async () => {
    const { url, host } = await startGateway({ services: [systemService()] });
    expect(await connectCall(url, getJob, "{}")).toMatchObject({
      status: 404,
      json: { code: "unimplemented" },
    });
    await expect(
      grpcClient(host).unary(JobService.method.getJob, { jobId: "x" }),
    ).rejects.toMatchObject({ code: 12, details: expect.stringContaining(getJob) as string });
    const web = createClient(
      JobService,
      createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1" }),
    );
    expect((await caught(web.getJob({ jobId: "x" }))).code).toBe(Code.Unimplemented);
  });
});

describe("a request's rules", () => {
  it("are checked before the handler, and the findings travel as violations", async () => {
    let called = false;
    const { url, host } = await startGateway({
      services: [jobService({ listJobs: () => ((called = true), { data: [] }) })],
    });
    const error = await caught(
      createClient(JobService, createGrpcTransport({ baseUrl: url })).listJobs({ limit: 201 }),
    );
    expect(error.code).toBe(Code.InvalidArgument);
    expect(error.rawMessage).toBe("limit must be between 1 and 200");
    const [violation] = error.findDetails(ViolationsSchema)[0]?.violations ?? [];
    expect(violation).toMatchObject({
      message: "limit must be between 1 and 200",
      ruleId: "int32.gte_lte",
    });
    expect(violation?.field?.elements).toMatchObject([{ fieldName: "limit", fieldNumber: 3 }]);
    await expect(
      grpcClient(host).unary(JobService.method.listJobs, { limit: 0 }),
    ).rejects.toMatchObject({ code: 3 });
    const json = await connectCall(url, listJobs, '{"limit":500}');
    expect(json.status).toBe(400);
    const [detail] = json.json["details"] as { type: string; value: string }[];
    expect(detail?.type).toBe("buf.validate.Violations");
    expect(
      fromBinary(ViolationsSchema, Buffer.from(detail?.value ?? "", "base64")).violations,
    ).toHaveLength(1);
    expect(called).toBe(false);
  });

  it("refuse unknown fields of JSON by name, over Connect and gRPC alike", async () => {
    const { url } = await startGateway();
    const answer = await connectCall(url, getJob, '{"jobId":"a","colour":"red"}');
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      code: "invalid_argument",
      message: expect.stringMatching(/"colour" is unknown/) as string,
    });
    const message = Buffer.from('{"jobId":"a","colour":"red"}');
    const frame = Buffer.concat([Uint8Array.of(0, 0, 0, 0, message.length), message]);
    const grpc = await fetch(`${url}${getJob}`, {
      method: "POST",
      headers: { "content-type": "application/grpc-web+json" },
      body: frame,
    });
    const trailers = await grpc.text();
    expect(trailers).toMatch(/grpc-status: 3/);
    expect(trailers).toMatch(/colour/);
  });

  it.each([
    ["a misspelt field", '{"jobld":"a"}', 'key "jobld" is unknown; did you mean jobId?'],
    ["a field that is like none", '{"colour":"a"}', 'key "colour" is unknown; known are jobId'],
  ])("says what %s may have meant, over Connect, gRPC-Web and gRPC", async (_what, text, said) => {
    const { url } = await startGateway();
    expect((await connectCall(url, getJob, text)).json["message"]).toMatch(said);
    const frame = Buffer.concat([Uint8Array.of(0, 0, 0, 0, text.length), Buffer.from(text)]);
    const web = await fetch(`${url}${getJob}`, {
      method: "POST",
      headers: { "content-type": "application/grpc-web+json" },
      body: frame,
    });
    expect(
      decodeURIComponent(`${web.headers.get("grpc-message") ?? ""}${await web.text()}`),
    ).toContain(said);
    const session = connectHttp2(url);
    onTestFinished(() => session.destroy());
    const stream = session.request({
      ":method": "POST",
      ":path": getJob,
      "content-type": "application/grpc+json",
      te: "trailers",
    });
    const told = new Promise<string>((resolve) => {
      const look = ({ "grpc-message": message }: Record<string, unknown>): void =>
        void (typeof message === "string" && resolve(message));
      stream.on("response", look).on("trailers", look);
    });
    stream.resume();
    stream.end(frame);
    expect(decodeURIComponent(await told)).toContain(said);
  });

  it.each(["", "{", "[]", '{"jobId":5}', "null-ish"])("refuse the body %j", async (body) => {
    const { url } = await startGateway();
    expect(await connectCall(url, getJob, body)).toMatchObject({
      status: 400,
      json: { code: "invalid_argument" },
    });
  });

  describe.each([
    ["cut off", Uint8Array.of(0xff, 0xff), "premature EOF"],
    ["holding text that is no UTF-8", Uint8Array.of(0x0a, 1, 0xff), "utf-8"],
  ])("are broken by protobuf %s", (_what, message, why) => {
    const frame = Buffer.concat([Uint8Array.of(0, 0, 0, 0, message.length), message]);
    const reflect = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    const cases: [string, string, Uint8Array, string][] = [
      [getJob, "application/proto", message, "steward.dedup.v1.GetJobRequest"],
      ...(
        [
          [getJob, "steward.dedup.v1.GetJobRequest"],
          [watchJob, "steward.dedup.v1.WatchJobRequest"],
          [reflect, "grpc.reflection.v1.ServerReflectionRequest"],
        ] as const
      ).flatMap(([path, name]): [string, string, Uint8Array, string][] =>
        [
          "application/grpc",
          "application/grpc-web+proto",
          ...(path === getJob ? [] : ["application/connect+proto"]),
        ].map((type) => [path, type, frame, name]),
      ),
    ];
    it.each(cases)("and %s says so over %s", async (path, type, body, name) => {
      const { url, lines } = await startGateway();
      const { status, text } = await posted(url, path, type, body);
      expect(text).toContain(`the request is not a valid ${name}: `);
      expect(text).toMatch(new RegExp(`${why}; encode it`, "i"));
      expect(text).toMatch(
        type === "application/proto" || type.includes("connect")
          ? /"code":"invalid_argument"/
          : /grpc-status: 3\b/,
      );
      expect(status).toBe(type === "application/proto" ? 400 : 200);
      expect(lines.filter((line) => line.includes("level=error"))).toEqual([]);
    });
  });

  it("are not what a handler's error speaks of, whatever its words", async () => {
    const thrown = (): never => {
      throw new ConnectError("parse binary: premature EOF", Code.Internal);
    };
    const { url } = await startGateway({
      services: [
        jobService({
          getJob: thrown,
          async *watchJob() {
            yield thrown();
          },
        }),
      ],
    });
    expect(await posted(url, getJob, "application/proto", new Uint8Array())).toMatchObject({
      status: 500,
      text: expect.stringContaining('"code":"internal"') as string,
    });
    expect((await posted(url, watchJob, "application/grpc", new Uint8Array(5))).text).toMatch(
      /grpc-status: 13/,
    );
  });

  it("refuse a message larger than 4 MiB, also when it is so only unpacked, and the connection goes on", async () => {
    const { url, host } = await startGateway();
    const large = "a".repeat(4 * 1024 * 1024);
    await expect(
      grpcClient(host).unary(JobService.method.getJob, { jobId: large }),
    ).rejects.toMatchObject({ code: 8 });
    expect(await connectCall(url, getJob, JSON.stringify({ jobId: large }))).toMatchObject({
      status: 429,
      json: { code: "resource_exhausted" },
    });
    const { gzipSync } = await import("node:zlib");
    const packed = await fetch(`${url}${getJob}`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
      body: gzipSync(JSON.stringify({ jobId: large })),
    });
    expect(packed.status).toBe(429);
    expect((await connectCall(url, getJob, '{"jobId":"a"}')).status).toBe(200);
  });
});

describe("an error of a handler", () => {
  it("keeps its meaning and its remedy", async () => {
    const { host, url } = await startGateway({
      services: [
        jobService({
          getJob: () => {
            throw new StewardError("not_found", "there is no job j", {
              remedy: "list jobs to see what there is",
            });
          },
          cancelJob: () => {
            throw new StewardError("exhausted", "too many at once", { retryAfterMs: 2500 });
          },
        }),
      ],
    });
    await expect(
      grpcClient(host).unary(JobService.method.getJob, { jobId: "j" }),
    ).rejects.toMatchObject({
      code: 5,
      details: "there is no job j; list jobs to see what there is",
    });
    const busy = await connectCall(url, "/steward.dedup.v1.JobService/CancelJob", "{}");
    expect(busy.headers.get("retry-after")).toBe("3");
  });

  it("shows no internals, and the log has them under the request's id", async () => {
    const { url, host, lines } = await startGateway({
      services: [
        jobService({
          getJob: () => {
            throw new Error("password hunter2 at /var/lib");
          },
          async *watchJob() {
            yield { event: "progress" };
            throw new Error("password hunter2 at /var/lib");
          },
        }),
      ],
    });
    const unary = await connectCall(url, getJob, "{}", { "x-request-id": "find-me" });
    expect(unary).toMatchObject({ status: 500, json: { code: "internal" } });
    expect(JSON.stringify(unary.json)).not.toContain("hunter2");
    const stream = grpcClient(host).stream(JobService.method.watchJob, { jobId: "j" });
    const failure = await new Promise<Error>((resolve) =>
      stream.on("data", () => undefined).on("error", resolve),
    );
    expect(failure).toMatchObject({ code: 13 });
    expect(failure.message).not.toContain("hunter2");
    expect(
      lines.find((line) => line.includes("hunter2") && line.includes("find-me")),
    ).toBeDefined();
  });
});

describe("a deadline", () => {
  it("reaches the handler's signal and answers in time although the handler does not end", async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { host, gateway } = await startGateway({
      services: [
        systemService({
          getHealth: (_request, { signal }) =>
            new Promise(() => signal.addEventListener("abort", () => resolve(signal.reason))),
        }),
      ],
    });
    await expect(
      grpcClient(host).unary(SystemService.method.getHealth, {}, { deadlineMs: 2_000 }),
    ).rejects.toMatchObject({ code: 4 });
    // A client that gives up at the same moment may be heard first.
    expect(await promise).toMatchObject({
      name: "StewardError",
      code: expect.stringMatching(/^(deadline|cancelled)$/) as string,
    });
    await expect.poll(() => gateway.inFlight()).toBe(0);
  });

  it("of Connect is answered by the server", async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    const { url } = await startGateway({
      services: [
        systemService({
          getHealth: (_request, { signal }) =>
            new Promise(() => signal.addEventListener("abort", () => resolve(signal.reason))),
        }),
      ],
    });
    const path = "/steward.dedup.v1.SystemService/GetHealth";
    expect(await connectCall(url, path, "{}", { "connect-timeout-ms": "50" })).toMatchObject({
      status: 504,
      json: { code: "deadline_exceeded" },
    });
    expect(await promise).toMatchObject({ code: "deadline" });
    // By gRPC's own header and from a client that goes on waiting, so that nothing but the server's
    // clock can end it.
    const answer = await fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/grpc-web+proto", "grpc-timeout": "30m" },
      body: new Uint8Array(5),
    });
    expect(`${answer.headers.get("grpc-status") ?? ""}${await answer.text()}`).toMatch(
      /4|grpc-status: 4/,
    );
  });

  it("does not come where the client gave none, and metadata and address reach the handler in every protocol", async () => {
    const calls: Call[] = [];
    const { url, host } = await startGateway({
      services: [
        systemService({
          getHealth: (_request, call) => {
            calls.push(call);
            return {};
          },
        }),
      ],
    });
    await grpcClient(host, { "x-vault-token": "hvs.1" }).unary(SystemService.method.getHealth, {});
    await connectCall(url, "/steward.dedup.v1.SystemService/GetHealth", "{}", {
      "X-Vault-Token": "hvs.1",
    });
    await fetch(`${url}/api/v1/health`, { headers: { "X-Vault-Token": "hvs.1" } });
    expect(
      calls.map((call) => [
        call.header("X-Vault-Token"),
        call.header("x-none"),
        call.remote.address,
        call.remote.port > 0,
      ]),
    ).toEqual(Array.from({ length: 3 }, () => ["hvs.1", undefined, "127.0.0.1", true]));
  });
});

describe("access", () => {
  const auth = { token: Secret.of("word", "test"), allowedHosts: [] };
  const wrong = Buffer.from("op:word").toString("base64");

  it("is refused before the body is read, in the words of each protocol", async () => {
    const { url, host } = await startGateway({ auth });
    const plain = await connectCall(url, getJob, "not even JSON");
    expect(plain).toMatchObject({ status: 401, json: { code: "unauthenticated" } });
    expect(plain.headers.get("www-authenticate")).toMatch(/Bearer/);
    await expect(
      grpcClient(host).unary(JobService.method.getJob, { jobId: "j" }),
    ).rejects.toMatchObject({ code: 16 });
    const stream = createClient(
      JobService,
      createConnectTransport({ baseUrl: url, httpVersion: "1.1" }),
    ).watchJob({ jobId: "j" });
    expect(
      (
        await caught(
          (async () => {
            for await (const message of stream) expect(message).toBeUndefined();
          })(),
        )
      ).code,
    ).toBe(Code.Unauthenticated);
  });

  it("is given to the token and to public methods", async () => {
    const { url, host } = await startGateway({ auth });
    expect(
      (await connectCall(url, getJob, '{"jobId":"j"}', { authorization: "Bearer word" })).status,
    ).toBe(200);
    expect(
      (await connectCall(url, getJob, '{"jobId":"j"}', { authorization: `Basic ${wrong}` })).status,
    ).toBe(200);
    expect((await connectCall(url, "/steward.dedup.v1.SystemService/GetHealth", "{}")).status).toBe(
      200,
    );
    expect(
      (
        await grpcClient(host, { authorization: "Bearer word" }).unary(JobService.method.getJob, {
          jobId: "j",
        })
      ).data?.id,
    ).toBe("j");
  });

  it("is refused to pages of other sites", async () => {
    const { url } = await startGateway();
    expect(await connectCall(url, getJob, "{}", { origin: "http://evil.example" })).toMatchObject({
      status: 403,
      json: { code: "permission_denied" },
    });
    expect(await connectCall(url, getJob, "{}", { "sec-fetch-site": "cross-site" })).toMatchObject({
      status: 403,
    });
    expect(
      (
        await connectCall(url, getJob, '{"jobId":"j"}', {
          origin: url,
          "sec-fetch-site": "same-origin",
        })
      ).status,
    ).toBe(200);
  });
});

describe("a stream", () => {
  it("ends its handler when the client vanishes, although the handler listens to nothing", async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const endless = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<never>(() => undefined),
        return: () => (
          resolve("returned"),
          Promise.resolve({ done: true as const, value: undefined })
        ),
      }),
    };
    const { host, gateway } = await startGateway({
      services: [jobService({ watchJob: () => endless })],
    });
    const stream = grpcClient(host).stream(JobService.method.watchJob, { jobId: "j" });
    stream.on("error", () => undefined);
    await expect.poll(() => gateway.streams()).toBe(1);
    stream.cancel();
    expect(await promise).toBe("returned");
    await expect.poll(() => gateway.streams()).toBe(0);
  });

  it("ends its handler when a client that reads nothing vanishes", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let sent = 0;
    const { url, gateway } = await startGateway({
      services: [
        jobService({
          async *watchJob() {
            try {
              for (; ; sent += 1) yield { event: "x".repeat(8 * 1024) };
            } finally {
              resolve();
            }
          },
        }),
      ],
    });
    // grpc-js reads on whatever its reader does, so this client is a bare one.
    const session = connectHttp2(url);
    onTestFinished(() => session.destroy());
    const stream = session.request({
      ":method": "POST",
      ":path": "/steward.dedup.v1.JobService/WatchJob",
      "content-type": "application/grpc",
      te: "trailers",
    });
    stream.on("error", () => undefined).pause();
    stream.end(new Uint8Array(5));
    let before = -1;
    await expect
      .poll(
        () => {
          const still = sent > 0 && sent === before;
          before = sent;
          return still;
        },
        { interval: 50 },
      )
      .toBe(true);
    stream.close(constants.NGHTTP2_CANCEL);
    await promise;
    await expect.poll(() => gateway.inFlight()).toBe(0);
  });

  it("ends with UNAVAILABLE when the process stops, while single answers are still given", async () => {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    const { host, gateway } = await startGateway({
      services: [
        systemService({ getHealth: async () => (await release, { data: { status: "late" } }) }),
        jobService({
          async *watchJob(_request, { signal }) {
            yield { event: "progress" };
            await new Promise((_resolve, reject) =>
              signal.addEventListener("abort", () => reject(signal.reason as Error)),
            );
          },
        }),
      ],
    });
    const client = grpcClient(host);
    const stream = client.stream(JobService.method.watchJob, { jobId: "j" });
    const ended = new Promise<Error>((done) => stream.on("error", done));
    await new Promise((done) => stream.once("data", done));
    const single = client.unary(SystemService.method.getHealth, {});
    await expect.poll(() => [gateway.inFlight(), gateway.streams()]).toEqual([1, 1]);
    const stopped = gateway.stop(10_000);
    expect(await ended).toMatchObject({ code: 14, details: "Steward is stopping" });
    resolve();
    expect((await single).data?.status).toBe("late");
    await stopped;
  });
});
