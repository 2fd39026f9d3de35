import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import type { Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { create, toBinary } from "@bufbuild/protobuf";
import { Secret } from "../../src/kernel/base/secret.ts";
import { CreateSampleRequestSchema, SampleKind } from "../gen/steward/test/v1/dedup_sample_pb.ts";
import { dedupService, otherServices } from "../gateway/sample-services.ts";
import { startGateway } from "../gateway/start-gateway.ts";
import { connectRaw } from "../kernel/listen/raw-client.ts";

const MIB = 1024 * 1024;
/** What may be read beyond a limit before the refusal (facts, reliability D.3 row 14). */
const BEYOND = 64 * 1024;
const TOKEN = "operator-token-of-this-test";
/** A request that is served, in protobuf's own JSON. */
const SAMPLE = '{"name":"n","kind":1}';
const RPC = "/steward.test.v1.DedupSampleService/CreateSample";

/** The head of a request, and eight bytes for each piece of a body below: 270 pieces at most. */
const FRAMES = 4_096;
/** Around the limit: bytes more than it, and whether that is served. */
const STEPS = [
  [-1, true],
  [0, true],
  [1, false],
] as const;

type Framing = "length" | "chunked";

interface Ask {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

interface Gateway {
  readonly port: number;
  readonly credential: Readonly<Record<string, string>>;
}

async function gateway(): Promise<Gateway> {
  const { gateway: started } = await startGateway({
    services: [dedupService(), ...otherServices()],
    auth: { token: Secret.of(TOKEN, "test"), allowedHosts: [] },
  });
  return { port: started.port, credential: { authorization: `Bearer ${TOKEN}` } };
}

/** Valid JSON of exactly that many bytes. */
function json(text: string, bytes: number): Uint8Array {
  return Buffer.from(text.slice(0, -1).padEnd(bytes - 1) + text.slice(-1));
}

/** A valid message of exactly that many bytes: what it has no field for is skipped. */
function message(bytes: number): Uint8Array {
  const known = toBinary(
    CreateSampleRequestSchema,
    create(CreateSampleRequestSchema, { name: "n", kind: SampleKind.PLAIN }),
  );
  const filler = bytes - known.length - 6;
  // Field 1000 as bytes, its length in four bytes of seven bits.
  const head = Buffer.from([
    0xc2,
    0x3e,
    ...[0, 7, 14, 21].map((shift) => ((filler >>> shift) & 0x7f) | (shift < 21 ? 0x80 : 0)),
  ]);
  return Buffer.concat([known, head, Buffer.alloc(filler)]);
}

function frame(payload: Uint8Array): Uint8Array {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([head, payload]);
}

function* pieces(body: Uint8Array, bytes = 16_000): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += bytes) yield body.subarray(at, at + bytes);
}

/**
 * Over HTTP/1.1 on a connection of its own; the head of the answer, and the bytes the server had
 * read when it had answered.
 */
async function ask(
  { port }: Gateway,
  { method, path, headers, body }: Ask,
  framing: Framing,
): Promise<{ answer: string; bytesRead: number }> {
  const client = await connectRaw(port);
  const local = client.socket.localPort;
  let bytesRead = -1;
  const finished = (event: unknown): void => {
    const { socket } = event as { socket: Socket };
    if (socket.remotePort === local) bytesRead = socket.bytesRead;
  };
  subscribe("http.server.response.finish", finished);
  onTestFinished(() => void unsubscribe("http.server.response.finish", finished));
  const size =
    framing === "length" ? `content-length: ${body.length}` : "transfer-encoding: chunked";
  client.socket.write(
    [
      `${method} ${path} HTTP/1.1`,
      "host: localhost",
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      size,
      "",
      "",
    ].join("\r\n"),
  );
  const answered = client.until(/^HTTP\/1\.1 [\s\S]*\r\n\r\n/);
  void (async () => {
    for (const piece of pieces(body)) {
      const sent = client.socket.write(
        framing === "length"
          ? piece
          : Buffer.concat([
              Buffer.from(`${piece.length.toString(16)}\r\n`),
              piece,
              Buffer.from("\r\n"),
            ]),
      );
      if (!sent)
        await Promise.race([once(client.socket, "drain"), once(client.socket, "close")]).catch(
          () => undefined,
        );
      if (client.socket.destroyed) return;
    }
    if (framing === "chunked") client.socket.write("0\r\n\r\n");
  })();
  const answer = await answered;
  await expect.poll(() => bytesRead, { interval: 2 }).toBeGreaterThan(0);
  client.socket.destroy();
  return { answer, bytesRead };
}

/** Over HTTP/2; the head, and the trailers where there are any. */
async function ask2(
  { port }: Gateway,
  { method, path, headers, body }: Ask,
): Promise<IncomingHttpHeaders> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  onTestFinished(() => session.destroy());
  const stream = session.request({ ":method": method, ":path": path, ...headers });
  stream.on("error", () => undefined);
  let trailers: IncomingHttpHeaders = {};
  stream.on("trailers", (sent: IncomingHttpHeaders) => (trailers = sent));
  stream.end(body);
  const [head] = (await once(stream, "response")) as [IncomingHttpHeaders];
  stream.resume();
  await once(stream, "close");
  return { ...head, ...trailers };
}

function statusOf(answer: string): number {
  return Number(answer.slice(9, 12));
}

const rest = {
  method: "POST",
  path: "/api/v1/samples",
  headers: { "content-type": "application/json" },
};
const put = { ...rest, method: "PUT", path: "/api/v1/samples/7" };

/** Every limit over HTTP/1.1, the answer below and above it, and what makes a body of a size. */
const limits = [
  [
    "REST with a limit of its own",
    2048,
    { ...rest, of: (bytes: number) => json('{"name":"n","kind":"plain"}', bytes) },
    202,
    413,
  ],
  [
    "REST of the document service",
    4 * MIB,
    { ...put, of: (bytes: number) => json('{"text":"t"}', bytes) },
    200,
    413,
  ],
  [
    "Connect in JSON",
    4 * MIB,
    { ...rest, path: RPC, of: (bytes: number) => json(SAMPLE, bytes) },
    200,
    429,
  ],
  [
    "Connect in protobuf",
    4 * MIB,
    { ...rest, path: RPC, headers: { "content-type": "application/proto" }, of: message },
    200,
    429,
  ],
] as const;

describe.each(limits)(
  "the limit of %s, %i bytes,",
  (_, limit, { of, ...head }, served, refused) => {
    it.each<Framing>(["length", "chunked"])("is exact for a body with %s", async (framing) => {
      const server = await gateway();
      for (const [more, fits] of STEPS) {
        const body = of(limit + more);
        expect(body).toHaveLength(limit + more);
        const { answer } = await ask(
          server,
          { ...head, headers: { ...head.headers, ...server.credential }, body },
          framing,
        );
        expect([more, statusOf(answer)]).toEqual([more, fits ? served : refused]);
      }
    });

    it.each<Framing>(["length", "chunked"])(
      "bounds what is read of a far larger body with %s",
      async (framing) => {
        const server = await gateway();
        const { answer, bytesRead } = await ask(
          server,
          {
            ...head,
            headers: { ...head.headers, ...server.credential },
            body: of(3 * limit + 10 * BEYOND),
          },
          framing,
        );
        expect(statusOf(answer)).toBe(refused);
        expect(bytesRead).toBeLessThanOrEqual(limit + BEYOND + FRAMES);
      },
    );

    it.each<Framing>(["length", "chunked"])(
      "is not what an unknown caller hears of, whose body with %s is not read",
      async (framing) => {
        const server = await gateway();
        const { answer, bytesRead } = await ask(
          server,
          { ...head, body: of(2 * limit + 10 * BEYOND) },
          framing,
        );
        expect(statusOf(answer)).toBe(401);
        expect(bytesRead).toBeLessThanOrEqual(BEYOND + 1024);
      },
    );
  },
);

describe("the limit of a message, 4 MiB,", () => {
  it.each(["application/grpc", "application/grpc-web"])("is exact over %s", async (type) => {
    const server = await gateway();
    for (const [more, fits] of STEPS) {
      const { answer: said, status } = await grpc(server, type, message(4 * MIB + more));
      expect([more, said, status]).toEqual([more, 200, fits ? "0" : "8"]);
    }
  });

  it.each(["REST", "Connect"])("is exact for %s over HTTP/2", async (surface) => {
    const server = await gateway();
    const head = surface === "REST" ? put : { ...rest, path: RPC };
    const text = surface === "REST" ? '{"text":"t"}' : SAMPLE;
    for (const [more, fits] of STEPS) {
      const answer = await ask2(server, {
        ...head,
        headers: { ...head.headers, ...server.credential },
        body: json(text, 4 * MIB + more),
      });
      expect([more, answer[":status"]]).toEqual([
        more,
        fits ? 200 : surface === "REST" ? 413 : 429,
      ]);
    }
  });
});

/** One call; its gRPC status from the trailers, or from the body where the web keeps them. */
async function grpc(
  server: Gateway,
  type: string,
  payload: Uint8Array,
): Promise<{ answer: number; status: string | undefined }> {
  const headers = { "content-type": type, te: "trailers", ...server.credential };
  if (type === "application/grpc") {
    const answer = await ask2(server, { ...rest, path: RPC, headers, body: frame(payload) });
    return {
      answer: Number(answer[":status"]),
      status: answer["grpc-status"] as string | undefined,
    };
  }
  const answer = await fetch(`http://127.0.0.1:${server.port}${RPC}`, {
    method: "POST",
    headers: { "content-type": type, ...server.credential },
    body: Buffer.from(frame(payload)),
  });
  return {
    answer: answer.status,
    status:
      answer.headers.get("grpc-status") ?? /grpc-status: *(\d+)/.exec(await answer.text())?.[1],
  };
}

describe("the limit of a head, 16 KiB,", () => {
  it("refuses with 431 what is larger, and serves what is a kibibyte below", async () => {
    const server = await gateway();
    for (const [bytes, status] of [
      [15 * 1024, 401],
      [16 * 1024 + 1, 431],
    ] as const) {
      const client = await connectRaw(server.port);
      client.socket.write(
        `GET /api/v1/samples/7 HTTP/1.1\r\nhost: localhost\r\nx-long: ${"a".repeat(bytes)}\r\n\r\n`,
      );
      expect(statusOf(await client.until(/\r\n\r\n/))).toBe(status);
    }
  });
});
