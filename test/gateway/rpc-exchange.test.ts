import { createServer, request as askHttp1 } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo, Server } from "node:net";
import { Code, ConnectError, createClient, createContextValues } from "@connectrpc/connect";
import type { UniversalServerRequest } from "@connectrpc/connect/protocol";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { readHead } from "../../gateway/node-http.ts";
import { encodeGrpcMessage, rpcRequest, withReadableMessage } from "../../gateway/rpc-exchange.ts";
import { JobService } from "../../src/gen/steward/dedup/v1/jobs_pb.ts";
import { StewardError } from "../../src/kernel/base/errors.ts";
import { unlimitedBody } from "../../src/kernel/listen/admission/body-budget.ts";
import type { ServerRequest, ServerResponse } from "../../src/kernel/listen/exchange.ts";
import { jobService, startGateway } from "./start-gateway.ts";

/** Hands each request as rpc takes it to `take`, over either HTTP. */
async function listen(
  version: 1 | 2,
  take: (universal: UniversalServerRequest, response: ServerResponse) => void,
): Promise<string> {
  const handle = (request: ServerRequest, response: ServerResponse): void => {
    const head = readHead(request);
    if (head === undefined) throw new Error("the head cannot be read");
    take(
      rpcRequest(request, response, {
        head,
        body: unlimitedBody,
        contextValues: createContextValues(),
      }),
      response,
    );
  };
  const server =
    version === 1
      ? createServer(handle)
      : createHttp2Server((request, response) =>
          handle(request as unknown as ServerRequest, response as unknown as ServerResponse),
        );
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => (server as Server).listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${((server as Server).address() as AddressInfo).port}`;
}

/** Posts over either HTTP; the answer's end, and how to leave before it. */
function post(version: 1 | 2, url: string): { ended: Promise<void>; leave: () => void } {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  if (version === 1) {
    const request = askHttp1(
      `${url}/a.B/C?x=1`,
      { method: "POST", agent: false, headers: { "x-many": ["one", "two"], te: "trailers" } },
      (answer) => void answer.resume().once("end", resolve),
    );
    request.on("error", () => resolve()).end("body");
    return { ended, leave: () => void request.destroy() };
  }
  const session = connectHttp2(url);
  onTestFinished(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": "/a.B/C?x=1",
    "x-many": ["one", "two"],
    te: "trailers",
  });
  stream
    .on("error", () => undefined)
    .once("close", resolve)
    .resume()
    .end("body");
  return { ended, leave: () => stream.close(8) };
}

describe.each([1, 2] as const)("a request over HTTP/%d as the rpc library takes it", (version) => {
  it("has what was sent: method, address, headers but HTTP's own fields, body", async () => {
    const seen: unknown[] = [];
    const url = await listen(
      version,
      ({ method, url: address, header, body, httpVersion }, response) =>
        void (async () => {
          let text = "";
          for await (const chunk of body as AsyncIterable<Uint8Array>)
            text += Buffer.from(chunk).toString();
          seen.push(
            httpVersion,
            method,
            address,
            header.get("x-many"),
            header.get("te"),
            header.get("host"),
            [...header.keys()].filter((name) => name.startsWith(":")),
            text,
          );
          response.end();
        })(),
    );
    await post(version, url).ended;
    expect(seen).toEqual([
      version === 1 ? "1.1" : "2.0",
      "POST",
      `${url}/a.B/C?x=1`,
      "one, two",
      "trailers",
      url.slice("http://".length),
      [],
      "body",
    ]);
  });

  it("does not fire its signal when it was answered", async () => {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    let signal: AbortSignal | undefined;
    const url = await listen(version, (universal, response) => {
      signal = universal.signal;
      response.once("close", resolve).end("answer");
    });
    await post(version, url).ended;
    await closed;
    expect(signal?.aborted).toBe(false);
  });

  it("fires it for a reason of the house when the client leaves", async () => {
    const { promise: reason, resolve } = Promise.withResolvers<unknown>();
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
    const url = await listen(version, ({ signal }) => {
      signal.addEventListener("abort", () => resolve(signal.reason));
      arrive();
    });
    const { leave } = post(version, url);
    await arrived;
    leave();
    expect(await reason).toMatchObject({ name: "StewardError", code: "cancelled" });
  });
});

describe("the message of a failed rpc", () => {
  const said = 'nöt "there" & 100 % sure: a+b=c\nnext, 日本';
  const fails = (): never => {
    throw new StewardError("conflict", said);
  };

  it("arrives as it was said over Connect, gRPC and gRPC-Web, from single answers and from streams that had begun", async () => {
    const { url } = await startGateway({
      services: [
        jobService({
          getJob: fails,
          async *watchJob() {
            yield { event: "progress" };
            fails();
          },
        }),
      ],
    });
    for (const transport of [
      createConnectTransport({ baseUrl: url, httpVersion: "1.1" }),
      createGrpcTransport({ baseUrl: url }),
      createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1" }),
    ]) {
      const jobs = createClient(JobService, transport);
      const events: string[] = [];
      const unary = await jobs
        .getJob({ jobId: "j" })
        .catch((error: unknown) => ConnectError.from(error));
      const stream = await (async () => {
        for await (const { event } of jobs.watchJob({ jobId: "j" })) events.push(event);
        return undefined;
      })().catch((error: unknown) => ConnectError.from(error));
      expect([unary, stream]).toMatchObject([
        { code: Code.FailedPrecondition, rawMessage: said },
        { code: Code.FailedPrecondition, rawMessage: said },
      ]);
      expect(events).toEqual(["progress"]);
    }
  });

  it("is escaped in gRPC's trailers where the protocol says so, and nowhere else", async () => {
    const { url } = await startGateway({ services: [jobService({ getJob: fails })] });
    const session = connectHttp2(url);
    onTestFinished(() => session.destroy());
    const stream = session.request({
      ":method": "POST",
      ":path": "/steward.dedup.v1.JobService/GetJob",
      "content-type": "application/grpc",
      te: "trailers",
    });
    const trailers = new Promise<Record<string, unknown>>(
      (resolve) => void stream.once("trailers", resolve),
    );
    stream.resume().end(new Uint8Array(5));
    expect(await trailers).toMatchObject({
      "grpc-status": "9",
      "grpc-message": 'n%C3%B6t "there" & 100 %25 sure: a+b=c%0Anext, %E6%97%A5%E6%9C%AC',
    });
  });

  it("is read when the trailers are, which the library writes last", () => {
    const trailer = new Headers({ "grpc-status": "0" });
    const answer = withReadableMessage({ status: 200, trailer });
    expect(answer.trailer).toBe(trailer);
    trailer.set("grpc-message", encodeURIComponent("a b"));
    expect([
      answer.trailer?.get("grpc-message"),
      answer.trailer?.get("grpc-message"),
      answer.trailer?.get("grpc-status"),
    ]).toEqual(["a b", "a b", "0"]);
    expect(withReadableMessage({ status: 200 })).toEqual({ status: 200 });
  });

  it("survives its encoding, whatever it is", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const encoded = encodeGrpcMessage(text);
        expect(encoded).toMatch(/^[\x20-\x7e]*$/);
        expect(decodeURIComponent(encoded)).toBe(Buffer.from(text).toString());
      }),
    );
  });
});
