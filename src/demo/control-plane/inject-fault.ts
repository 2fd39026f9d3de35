/**
 * Applies an injected fault to a request on its real connection. A fault ends when the client
 * disconnects or the simulator stops.
 */
import { createGzip, gzipSync } from "node:zlib";
import { parse } from "jsonc-parser";
import { delay } from "../../kernel/base/clock.ts";
import { closing, send, type Outgoing } from "../serving/outgoing.ts";
import {
  drip,
  FILLER_BYTES,
  oversize,
  reset,
  truncate,
  type Exchange,
} from "../serving/wrong-answers.ts";
import { numbersAsStrings, unknownEnums, withoutMembers, wrongTypes } from "./damage.ts";
import type { Fault } from "./faults.ts";
import type { Reply } from "./reply.ts";

/** A request to answer with a fault. */
export interface FaultyExchange extends Exchange {
  /** Performs the operation, once. */
  readonly perform: () => Reply;
  readonly toOutgoing: (reply: Reply) => Outgoing;
  /** An error in the control plane's own form. */
  readonly refuse: (status: number, message: string) => Reply;
}

const HTML = { "content-type": "text/html; charset=utf-8" };
const PAGE =
  "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>\n";

/** Applies a fault to one request. */
export async function injectFault(fault: Fault, exchange: FaultyExchange): Promise<void> {
  const instead = replacement(fault, exchange) ?? damaged(fault, exchange);
  if (instead !== undefined) return send(exchange.response, exchange.toOutgoing(instead));
  switch (fault.kind) {
    case "reset":
      return reset(exchange.request);
    case "delay":
      return later(fault.ms, exchange);
    case "stall":
      return stall(exchange.toOutgoing(exchange.perform()), fault, exchange);
    case "drip":
      return drip(
        exchange.toOutgoing(exchange.perform()),
        fault.bytes ?? 1,
        fault.intervalMs,
        exchange,
      );
    case "truncate":
      return truncate(exchange.toOutgoing(exchange.perform()), fault.bytes, exchange);
    case "truncated_gzip":
      return truncatedGzip(exchange.toOutgoing(exchange.perform()), exchange);
    case "oversize":
      return oversize(exchange.toOutgoing(exchange.perform()), fault, exchange);
    case "gzip_bomb":
      return bomb(exchange.toOutgoing(exchange.perform()), fault.bytes, exchange);
    default: // `hang`: never answered.
  }
}

function replacement(fault: Fault, { refuse, perform, clock }: FaultyExchange): Reply | undefined {
  switch (fault.kind) {
    case "status":
      return withHeaders(refuse(fault.status, fault.message ?? "simulated failure"), fault.headers);
    case "done_but_error":
      perform();
      return refuse(fault.status, "simulated failure");
    case "limited":
      return withHeaders(refuse(429, "rate limit exceeded"), retryAfter(fault, clock.now()));
    case "html":
      return { status: fault.status ?? 502, body: PAGE, headers: HTML };
    case "redirect":
      return { status: fault.status ?? 307, body: "", headers: { location: fault.location } };
    case "deep":
      return { status: 200, body: `${"[".repeat(fault.levels)}${"]".repeat(fault.levels)}` };
    case "empty":
      return { status: fault.status ?? perform().status, body: "" };
    case "garbage":
      return { status: 200, body: '\u0000{"devices": \u001f<<<' };
    default:
      return undefined;
  }
}

/** The headers that say when to come again. */
export function retryAfter(
  {
    retryAfterS,
    as = "seconds",
  }: { readonly retryAfterS?: number; readonly as?: "seconds" | "date" },
  nowMs: number,
): Record<string, string> {
  if (retryAfterS === undefined) return {};
  return {
    "retry-after":
      as === "seconds" ? String(retryAfterS) : new Date(nowMs + retryAfterS * 1000).toUTCString(),
  };
}

function withHeaders(reply: Reply, headers: Readonly<Record<string, string>> | undefined): Reply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

function damaged(fault: Fault, { perform }: FaultyExchange): Reply | undefined {
  const change = changeOf(fault);
  if (change === undefined) return undefined;
  const reply = perform();
  if (reply.status >= 300 || reply.body === undefined) return reply;
  // A policy has comments and commas at the end.
  return {
    ...reply,
    body: JSON.stringify(change(parse(reply.body.toString(), [], { allowTrailingComma: true }))),
  };
}

function changeOf(fault: Fault): ((body: unknown) => unknown) | undefined {
  switch (fault.kind) {
    case "numbers_as_strings":
      return numbersAsStrings;
    case "wrong_types":
      return wrongTypes;
    case "missing_fields":
      return (body) => withoutMembers(body, fault.names);
    case "unknown_enums":
      return (body) => unknownEnums(body, fault.names);
    case "change":
      return fault.change;
    default:
      return undefined;
  }
}

async function later(ms: number, exchange: FaultyExchange): Promise<void> {
  await delay(exchange.clock, ms, closing(exchange.response)).then(
    () => send(exchange.response, exchange.toOutgoing(exchange.perform())),
    () => undefined,
  );
}

async function stall(
  { status, headers, body }: Outgoing,
  { bytes, ms }: { readonly bytes?: number; readonly ms?: number },
  { response, clock }: FaultyExchange,
): Promise<void> {
  const first = bytes ?? Math.floor(body.length / 2);
  const left = closing(response);
  response.writeHead(status, headers);
  response.write(body.subarray(0, first));
  if (ms !== undefined)
    await delay(clock, ms, left).then(
      () => void response.end(body.subarray(first)),
      () => undefined,
    );
}

function truncatedGzip({ status, headers, body }: Outgoing, { response }: FaultyExchange): void {
  const zipped = gzipSync(
    headers["content-encoding"] === undefined ? body : Buffer.alloc(FILLER_BYTES, " "),
  );
  const half = zipped.subarray(0, Math.floor(zipped.length / 2));
  send(response, {
    status,
    headers: { ...headers, "content-encoding": "gzip", "content-length": String(half.length) },
    body: half,
  });
}

async function bomb(
  { status, headers, body }: Outgoing,
  bytes: number,
  { response }: FaultyExchange,
): Promise<void> {
  const left = closing(response);
  const blanks = Buffer.alloc(FILLER_BYTES, " ");
  const { "content-length": _length, ...rest } = headers;
  const zip = createGzip();
  response.writeHead(status, { ...rest, "content-encoding": "gzip" });
  zip.pipe(response);
  left.addEventListener("abort", () => zip.destroy(), { once: true });
  for (let missing = bytes; missing > 0 && !left.aborted; missing -= FILLER_BYTES) {
    await new Promise<void>((resolve) =>
      zip.write(blanks.subarray(0, Math.min(FILLER_BYTES, missing)), () => resolve()),
    );
  }
  if (!left.aborted) zip.end(body);
}
