/**
 * Ways to answer wrongly that every simulator knows, each on a real connection and over when the
 * client leaves.
 */
import { delay, type Clock } from "../../kernel/base/clock.ts";
import {
  cut,
  streamOf,
  type ServerRequest,
  type ServerResponse,
} from "../../kernel/listen/exchange.ts";
import { closing, type Outgoing } from "./outgoing.ts";

/** The connection that is misused. */
export interface Exchange {
  readonly request: ServerRequest;
  readonly response: ServerResponse;
  readonly clock: Clock;
}

/** Bytes of filler that are written at once. */
export const FILLER_BYTES = 64 * 1024;

/** A reset where the protocol has one, so that the client gets no orderly end. */
export function reset(request: ServerRequest): void {
  if (streamOf(request) === undefined) request.socket.resetAndDestroy();
  else cut(request);
}

/** So many bytes at a time, with a wait behind each. */
export async function drip(
  { status, headers, body }: Outgoing,
  bytes: number,
  intervalMs: number,
  { response, clock }: Exchange,
): Promise<void> {
  const left = closing(response);
  response.writeHead(status, headers);
  response.flushHeaders();
  for (let from = 0; from < body.length && !left.aborted; from += Math.max(1, bytes)) {
    response.write(body.subarray(from, from + Math.max(1, bytes)));
    await delay(clock, intervalMs, left).catch(() => undefined);
  }
  response.end();
}

/** Sends the first part, by default half, then closes the connection. */
export function truncate(
  { status, headers, body }: Outgoing,
  bytes: number | undefined,
  { request, response }: Exchange,
): void {
  response.writeHead(status, headers);
  response.write(body.subarray(0, bytes ?? Math.floor(body.length / 2)), () => cut(request));
}

/** Blanks in front of the body up to a size; without a length when `chunked`. */
export async function oversize(
  { status, headers, body }: Outgoing,
  { bytes, chunked = false }: { readonly bytes: number; readonly chunked?: boolean },
  { response }: Exchange,
): Promise<void> {
  const left = closing(response);
  const blanks = Buffer.alloc(FILLER_BYTES, " ");
  const total = Math.max(bytes, body.length);
  const { "content-length": _length, ...rest } = headers;
  response.writeHead(status, chunked ? rest : { ...rest, "content-length": String(total) });
  for (let missing = total - body.length; missing > 0 && !left.aborted; missing -= FILLER_BYTES) {
    if (!response.write(blanks.subarray(0, Math.min(FILLER_BYTES, missing))))
      await drained(response, left);
  }
  response.end(body);
}

function drained(response: ServerResponse, left: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (left.aborted) return resolve();
    response.once("drain", resolve);
    left.addEventListener("abort", () => resolve(), { once: true });
  });
}
