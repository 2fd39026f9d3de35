/**
 * A client that sends exactly the bytes it is told to, and the listener that such tests talk to.
 */
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import type { ServerRequest } from "../../../src/kernel/listen/exchange.ts";
import type { Handler } from "../../../src/kernel/listen/handler.ts";
import type { LimitOverrides } from "../../../src/kernel/listen/admission/limits.ts";
import { createListener, type Listener } from "../../../src/kernel/listen/listener.ts";
import type { Classify } from "../../../src/kernel/listen/admission/shares.ts";

/** A connection whose every byte received is kept. */
export interface RawClient {
  readonly socket: Socket;
  received(): string;
  /**
   * Resolves with all that was received once it matches. Rejects when the connection closes before.
   */
  until(pattern: RegExp): Promise<string>;
  /** Resolves with all that was received when the server has closed the connection. */
  closed(): Promise<string>;
}

/** Connects to a port of this machine. */
export async function connectRaw(port: number): Promise<RawClient> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  onTestFinished(() => void socket.destroy());
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1")));
  socket.on("error", () => undefined);
  const gone = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await Promise.race([
    new Promise((resolve) => socket.once("connect", resolve)),
    gone.then(() => Promise.reject(new Error("refused"))),
  ]);
  return {
    socket,
    received: () => text,
    closed: () => gone.then(() => text),
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (!pattern.test(text)) return;
          socket.off("data", look);
          resolve(text);
        };
        socket.on("data", look);
        void gone.then(() => reject(new Error(`closed after ${JSON.stringify(text)}`)));
        look();
      }),
  };
}

/** Sends each piece after the one before was sent on its way. */
export async function sendPieces(
  client: RawClient,
  pieces: readonly (string | Uint8Array)[],
): Promise<void> {
  for (const piece of pieces) {
    await new Promise<void>((resolve) => {
      client.socket.write(piece, () => setImmediate(resolve));
    });
  }
}

/** Sends a byte every few milliseconds until the connection closes. */
export function trickle(client: RawClient, byte: string, everyMs: number): void {
  const timer = setInterval(() => client.socket.writable && client.socket.write(byte), everyMs);
  client.socket.once("close", () => clearInterval(timer));
}

/** Answers with method, path and the length of the body. */
export const echo: Handler = async (request, response) => {
  const length = await bodyLength(request);
  response.writeHead(200, { "content-type": "text/plain" });
  response.end(`${request.method} ${request.url} ${length}`);
};

/** Bytes of a body; rejects when it does not come whole. */
export async function bodyLength(request: ServerRequest): Promise<number> {
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) length += chunk.length;
  return length;
}

/** A started listener on a free port, stopped when the test ends. */
export async function listen(
  handle: Handler,
  limits: LimitOverrides = {},
  classify?: Classify,
): Promise<Listener> {
  const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });
  const listener = createListener(
    {
      name: "test",
      setting: "gateway.listen",
      address: { host: "127.0.0.1", port: 0 },
      credential: false,
      limits,
      handle,
      ...(classify === undefined ? {} : { classify }),
    },
    { clock: systemClock, log },
  );
  await listener.start();
  onTestFinished(() => listener.stop(0));
  return listener;
}
