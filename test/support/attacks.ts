/**
 * Clients without a credential that hold what they can get: slow heads, slow bodies, answers that
 * nobody reads, streams that nobody ends, bodies that nobody asked for. Shared by
 * test/faults/admission*.test.ts and bench/hold.ts.
 */
import {
  connect as connectHttp2,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
} from "node:http2";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** Where to, and by which protocol. */
export interface Target {
  /** `http://` or `https://`; certificates are not checked. */
  readonly url: string;
  readonly version: "h1" | "h2";
}

/** Clients under way. */
export interface Attack {
  /** Connections or streams that are still open. */
  standing(): number;
  /** Ends what is left. */
  stop(): void;
}

/** An attack, with the gauge that proves that it holds something of the daemon. */
interface AttackKind {
  begin(target: Target): Promise<Attack>;
  /** A gauge of the gateway; refused attackers leave it low. */
  readonly gauge: `svc_gateway_${"connections" | "requests_in_flight" | "streams"}`;
  /** Least value: half of all connections, all slots of strangers' requests, their streams. */
  readonly atLeast: number;
}

/** Attacks by name, with the limits as shipped. */
export const ATTACKS = {
  "2,000 slow heads": {
    begin: (target) => slowHeads(target, 2_000),
    gauge: "svc_gateway_connections",
    atLeast: 512,
  },
  "2,000 slow bodies": {
    begin: (target) => slowBodies(target, 2_000),
    gauge: "svc_gateway_requests_in_flight",
    atLeast: 32,
  },
  "300 half-sent bodies": {
    begin: (target) => slowBodies(target, 300),
    gauge: "svc_gateway_requests_in_flight",
    atLeast: 32,
  },
  "800 unread answers": {
    begin: (target) => unreadAnswers(target, 800),
    gauge: "svc_gateway_requests_in_flight",
    atLeast: 32,
  },
  "285 watches over 3 connections": {
    begin: (target) => watches(target, { count: 285, sessions: 3 }),
    gauge: "svc_gateway_streams",
    atLeast: 24,
  },
} as const satisfies Readonly<Record<string, AttackKind>>;

export type AttackName = keyof typeof ATTACKS;

/** Configuration that enables the pull endpoint, where these gauges are read. */
export const PULL_ENDPOINT = 'scrape: { enabled: true, listen: "127.0.0.1:0" }\n';

const DRIP_MS = 500;
/** Connections that are opened at once: more would only fill the system's own queue. */
const AT_ONCE = 100;

/** Heads that come a byte at a time and never end. */
function slowHeads(target: Target, count: number): Promise<Attack> {
  const begin =
    target.version === "h1"
      ? "GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
      : Buffer.concat([PREFACE, SETTINGS, frameHead(4096, HEADERS, 0, 1)]);
  return connections(target, count, (socket) => drip(socket, begin));
}

/**
 * Bodies that come a byte at a time and never end, to a path whose token may stand in its body: it
 * waits for that of every stranger.
 */
function slowBodies(target: Target, count: number): Promise<Attack> {
  const path = "/v1/sys/wrapping/unwrap";
  if (target.version === "h1")
    return connections(target, count, (socket) =>
      drip(
        socket,
        `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 10000\r\n\r\n{`,
      ),
    );
  return streams(target, { count, sessions: Math.ceil(count / 100) }, (session) => {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/json",
      "content-length": "10000",
    });
    const timer = setInterval(() => stream.writable && stream.write("{"), DRIP_MS);
    stream.once("close", () => clearInterval(timer));
    return stream;
  });
}

/** Answers that are asked for and not read; together larger than what the system keeps for a client. */
function unreadAnswers(target: Target, count: number): Promise<Attack> {
  const path = "/v1/sys/internal/specs/openapi";
  if (target.version === "h1") {
    return connections(target, count, (socket) => {
      socket.pause();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(90));
    });
  }
  // No window: not a byte of a body can be sent.
  return streams(
    target,
    { count, sessions: Math.ceil(count / 100), settings: { initialWindowSize: 0 } },
    (session) => session.request({ ":method": "GET", ":path": path }),
  );
}

/** gRPC health watches; over HTTP/1.1 by gRPC-Web, one on each connection. */
function watches(target: Target, options: { count: number; sessions: number }): Promise<Attack> {
  const path = "/grpc.health.v1.Health/Watch";
  if (target.version === "h1") {
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/grpc-web+proto\r\nContent-Length: 5\r\n\r\n`;
    return connections(
      target,
      options.count,
      (socket) => void socket.write(Buffer.concat([Buffer.from(head), EMPTY_MESSAGE])),
    );
  }
  return streams(target, options, (session) =>
    session
      .request({
        ":method": "POST",
        ":path": path,
        "content-type": "application/grpc",
        te: "trailers",
      })
      .end(EMPTY_MESSAGE),
  );
}

/** The body of a large request. */
export interface LargeBodies {
  readonly count: number;
  readonly bytes: number;
  readonly path: string;
  /** By its length, or in chunks. */
  readonly framing: "length" | "chunked";
}

/**
 * Whole large bodies over HTTP/1.1, sent as far as they are taken. Resolves when each was answered
 * or cut; with the statuses, 0 where there was none.
 */
export async function largeBodies(target: Target, options: LargeBodies): Promise<number[]> {
  return await (target.version === "h1" ? largeH1Bodies : largeH2Bodies)(target, options);
}

/** Four streams on each connection: each has its window, and the connection's. */
async function largeH2Bodies(
  { url }: Target,
  { count, bytes, path, framing }: LargeBodies,
): Promise<number[]> {
  const part = Buffer.alloc(64 * 1024, 0x20);
  const length = framing === "length" ? { "content-length": String(bytes) } : {};
  const sessions = Array.from({ length: Math.ceil(count / 4) }, () =>
    connectHttp2(url, { rejectUnauthorized: false }).on("error", () => undefined),
  );
  const statuses = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const stream = sessions[index % sessions.length]?.request({
        ":method": "POST",
        ":path": path,
        "content-type": "application/json",
        ...length,
      });
      if (stream === undefined) return 0;
      let status = 0;
      let sent = 0;
      const pour = (): void => {
        while (sent < bytes && stream.writable) {
          sent += part.length;
          if (!stream.write(part)) return;
        }
        if (stream.writable) stream.end();
      };
      // A stream that its server has closed does not end by itself in Node's client while a write
      // of it waits.
      stream
        .on("response", (headers) => (status = Number(headers[":status"])))
        .on("end", () => stream.destroy())
        .on("error", () => undefined)
        .on("drain", pour)
        .resume();
      pour();
      await closed(stream);
      return status;
    }),
  );
  for (const session of sessions) session.destroy();
  return statuses;
}

async function largeH1Bodies(
  target: Target,
  { count, bytes, path, framing }: LargeBodies,
): Promise<number[]> {
  const part = Buffer.alloc(64 * 1024, 0x20);
  const size = framing === "length" ? `Content-Length: ${bytes}` : "Transfer-Encoding: chunked";
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = await open(target);
      if (socket === undefined) return 0;
      let answer = "";
      let sent = 0;
      socket.on("data", (chunk: Buffer) => (answer += chunk.toString("latin1")));
      const pour = (): void => {
        while (sent < bytes && socket.writable) {
          sent += part.length;
          if (
            !socket.write(
              framing === "length"
                ? part
                : Buffer.concat([
                    Buffer.from(`${part.length.toString(16)}\r\n`),
                    part,
                    Buffer.from("\r\n"),
                  ]),
            )
          )
            return;
        }
        if (sent >= bytes && framing === "chunked" && socket.writable) socket.write("0\r\n\r\n");
      };
      socket
        .on("drain", pour)
        .write(
          `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n${size}\r\n\r\n`,
        );
      pour();
      await closed(socket);
      return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
    }),
  );
}

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");
const HEADERS = 1;
const SETTINGS = frameHead(0, 4, 0, 0);
/** An empty gRPC message. */
const EMPTY_MESSAGE = Buffer.alloc(5);

/** RFC 9113 §4.1. */
function frameHead(length: number, type: number, flags: number, stream: number): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return head;
}

function drip(socket: Socket, begin: string | Buffer): void {
  socket.write(begin);
  const timer = setInterval(() => socket.writable && socket.write("a"), DRIP_MS);
  socket.once("close", () => clearInterval(timer));
}

/** A connection that is ready to be written to; undefined when it was refused. */
async function open({ url, version }: Target): Promise<Socket | undefined> {
  const { hostname, port, protocol } = new URL(url);
  const secured = protocol === "https:";
  const socket = secured
    ? connectTls({
        host: hostname,
        port: Number(port),
        rejectUnauthorized: false,
        ALPNProtocols: [version === "h1" ? "http/1.1" : "h2"],
      })
    : connectTcp(Number(port), hostname);
  socket.on("error", () => undefined);
  const ready = await Promise.race([
    new Promise<true>((resolve) =>
      socket.once(secured ? "secureConnect" : "connect", () => resolve(true)),
    ),
    closed(socket),
  ]);
  return ready === true ? socket : undefined;
}

function closed(stream: Socket | ClientHttp2Stream): Promise<void> {
  return new Promise((resolve) => (stream.closed ? resolve() : void stream.once("close", resolve)));
}

async function connections(
  target: Target,
  count: number,
  begin: (socket: Socket) => void,
): Promise<Attack> {
  const sockets: Socket[] = [];
  let opened = 0;
  while (opened < count) {
    const batch = Math.min(AT_ONCE, count - opened);
    opened += batch;
    const ready = await Promise.all(Array.from({ length: batch }, () => open(target)));
    for (const socket of ready) {
      if (socket === undefined) continue;
      socket.resume();
      begin(socket);
      sockets.push(socket);
    }
  }
  return {
    standing: () => sockets.filter((socket) => !socket.closed).length,
    stop: () => sockets.forEach((socket) => socket.destroy()),
  };
}

interface StreamsOptions {
  readonly count: number;
  readonly sessions: number;
  readonly settings?: Readonly<Record<string, number>>;
}

async function streams(
  target: Target,
  { count, sessions, settings = {} }: StreamsOptions,
  begin: (session: ClientHttp2Session) => ClientHttp2Stream,
): Promise<Attack> {
  const opened: ClientHttp2Stream[] = [];
  const all: ClientHttp2Session[] = [];
  for (let at = 0; at < sessions; at += 1) {
    const session = connectHttp2(target.url, { rejectUnauthorized: false, settings });
    session.on("error", () => undefined);
    all.push(session);
    await new Promise<void>((resolve) =>
      session.once("remoteSettings", () => resolve()).once("close", () => resolve()),
    );
    for (
      let stream = 0;
      stream < Math.ceil(count / sessions) && opened.length < count && !session.destroyed;
      stream += 1
    ) {
      opened.push(begin(session).on("error", () => undefined));
    }
  }
  return {
    standing: () =>
      opened.filter((stream) => !stream.closed && stream.rstCode === constants.NGHTTP2_NO_ERROR)
        .length,
    stop: () => all.forEach((session) => session.destroy()),
  };
}
