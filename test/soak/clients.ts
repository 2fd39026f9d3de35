/**
 * The HTTP clients of the load: kept and fresh connections, HTTP/2 sessions that come and go,
 * streams that are left early.
 */
import { request, type Agent, type IncomingHttpHeaders } from "node:http";
import { connect, constants, type ClientHttp2Session } from "node:http2";
import { connect as connectSocket } from "node:net";

/** An answer, read whole. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** What to send. `agent: false` opens a connection of its own. */
export interface Sending {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly agent?: Agent | false;
  readonly signal: AbortSignal;
}

/** One request over HTTP/1.1. A body is sent as JSON. */
export function call(
  url: string,
  method: string,
  path: string,
  { headers = {}, body, agent = false, signal }: Sending,
): Promise<Answer> {
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const type =
    sent === undefined
      ? {}
      : { "content-type": "application/json", "content-length": String(Buffer.byteLength(sent)) };
  return new Promise((resolve, reject) => {
    request(url + path, { method, agent, signal, headers: { ...type, ...headers } }, (answer) => {
      const parts: Buffer[] = [];
      answer
        .on("data", (part: Buffer) => parts.push(part))
        .once("error", reject)
        .once("end", () => {
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text: Buffer.concat(parts).toString(),
          });
        });
    })
      .once("error", reject)
      .end(sent);
  });
}

/** Like `call`. @throws when the status is another one. */
export async function expectStatus(
  status: number,
  url: string,
  method: string,
  path: string,
  sending: Sending,
): Promise<Answer> {
  const answer = await call(url, method, path, sending);
  if (answer.status !== status)
    throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 200)}`);
  return answer;
}

/**
 * Reads a stream of server-sent events for so many events, or to its end, and leaves. Resolves with
 * how many came.
 */
export function readEvents(
  url: string,
  path: string,
  events: number,
  { headers = {}, signal }: Sending,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { headers, signal, agent: false }, (answer) => {
      let seen = 0;
      if (answer.statusCode !== 200) reject(new Error(`GET ${path}: ${answer.statusCode}`));
      answer
        .setEncoding("utf8")
        .on("data", (part: string) => {
          seen += part.split("\n\n").length - 1;
          if (seen >= events) {
            resolve(seen);
            sent.destroy();
          }
        })
        .once("end", () => resolve(seen))
        .once("error", reject);
    });
    sent.once("error", reject).end();
  });
}

/**
 * A session of its own for `use`, closed after it in one of three ways by turns: politely, by
 * GOAWAY, by cutting the connection.
 */
export async function withSession(
  url: string,
  turn: number,
  use: (session: ClientHttp2Session) => Promise<void>,
): Promise<void> {
  const session = connect(url);
  const failed = new Promise<never>((_, reject) => session.on("error", reject));
  try {
    await Promise.race([use(session), failed]);
  } finally {
    leave(session, turn);
  }
}

function leave(session: ClientHttp2Session, turn: number): void {
  if (session.destroyed) return;
  if (turn % 3 === 0) session.close();
  else if (turn % 3 === 1) session.goaway(constants.NGHTTP2_NO_ERROR);
  setImmediate(() => session.destroy());
}

/**
 * One stream of a session: sends `body`, reads until `bytes` came or the end, and resets the stream
 * if it has not ended.
 */
export function exchange(
  session: ClientHttp2Session,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  bytes: number = Infinity,
): Promise<{
  readonly status: number;
  readonly grpcStatus: string | undefined;
  readonly bytes: number;
}> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers);
    let status = 0;
    let grpcStatus: string | undefined;
    let read = 0;
    const done = (): void => resolve({ status, grpcStatus, bytes: read });
    stream
      .once("response", (head) => {
        status = Number(head[":status"]);
        grpcStatus = head["grpc-status"] as string | undefined;
      })
      .once(
        "trailers",
        (trailers) => void (grpcStatus = trailers["grpc-status"] as string | undefined),
      );
    stream
      .on("data", (part: Buffer) => {
        read += part.length;
        if (read < bytes) return;
        done();
        stream.close(constants.NGHTTP2_CANCEL);
      })
      .once("end", done)
      .once("error", reject);
    stream.end(body);
  });
}

/** gRPC's frame around a message. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.alloc(5 + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, 5);
  return framed;
}

/**
 * Sends text on a connection of its own, reads nothing and cuts it after `ms`. Resolves then; the
 * daemon may have cut it before.
 */
export function lingering(
  url: string,
  text: string,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connectSocket(Number(port), hostname).pause();
    const timer = setTimeout(() => socket.destroy(), ms);
    const abort = (): void => void socket.destroy();
    signal.addEventListener("abort", abort, { once: true });
    socket
      .on("error", () => undefined)
      .once("close", () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", abort);
        resolve();
      });
    socket.write(text);
  });
}
