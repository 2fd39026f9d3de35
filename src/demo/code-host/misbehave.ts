/** Answering wrongly on purpose: each fault performed on a real connection, ended when the client leaves or the host stops. */
import { delay, type Clock } from "../../kernel/base/clock.ts";
import { cut, streamOf, type ServerRequest, type ServerResponse } from "../../kernel/listen/exchange.ts";
import { refusal, type Reply } from "./answers.ts";
import type { Fault } from "./faults.ts";
import { send, type Outgoing } from "./sending.ts";

/** A connection to misbehave on. */
export interface Victim {
  readonly request: ServerRequest;
  readonly response: ServerResponse;
  readonly clock: Clock;
  /** Performs the operation, once. */
  readonly perform: () => Reply;
  readonly dress: (reply: Reply) => Outgoing;
}

const HTML = { "content-type": "text/html; charset=utf-8" };
const UNICORN = "<!DOCTYPE html>\n<html><head><title>Unicorn! &middot; GitHub</title></head><body><p><strong>We had issues producing the response to your request.</strong></p></body></html>\n";
const CHUNK = 64 * 1024;

/** Does to one request what the fault says. */
export async function misbehave(fault: Fault, victim: Victim): Promise<void> {
  if ("effect" in fault && fault.effect && fault.kind !== "delay") victim.perform();
  const instead = replacement(fault);
  if (instead !== undefined) return send(victim.response, victim.dress(instead));
  switch (fault.kind) {
    case "hang": return;
    case "reset": return reset(victim.request);
    case "delay": return later(fault, victim);
    case "drip": return drip(victim.dress(victim.perform()), fault.bytes ?? 1, fault.intervalMs, victim);
    case "truncate": return truncate(victim.dress(victim.perform()), fault.bytes, victim);
    case "oversize": return oversize(victim.dress(victim.perform()), fault.bytes, victim);
    case "no_expiry": return send(victim.response, victim.dress(patched(victim.perform(), { expires_at: undefined })));
    case "null_repositories": return send(victim.response, victim.dress(patched(victim.perform(), { repositories: null })));
    case "patch": return send(victim.response, victim.dress(patched(victim.perform(), fault.members)));
    default:
  }
}

function replacement(fault: Fault): Reply | undefined {
  switch (fault.kind) {
    case "status": return refusal(fault.status, fault.message ?? "Server Error", { ...(fault.headers === undefined ? {} : { headers: { ...fault.headers } }), ...(fault.errors === undefined ? {} : { errors: fault.errors }) });
    case "html": return { status: fault.status ?? 502, body: UNICORN, headers: HTML };
    case "redirect": return { status: fault.status ?? 307, body: JSON.stringify({ message: "Moved", url: fault.location }), headers: { location: fault.location } };
    case "garbage": return { status: 201, body: "\u0000{\"token\": \u001f<<<" };
    default: return undefined;
  }
}

function patched(reply: Reply, members: Readonly<Record<string, unknown>>): Reply {
  if (reply.status >= 300 || reply.body === undefined) return reply;
  return { ...reply, body: JSON.stringify({ ...JSON.parse(reply.body) as Record<string, unknown>, ...members }) };
}

// A reset where the protocol has one, so that the client sees no orderly end.
function reset(request: ServerRequest): void {
  if (streamOf(request) === undefined) request.socket.resetAndDestroy();
  else cut(request);
}

async function later(fault: { readonly ms: number; readonly effect?: boolean }, victim: Victim): Promise<void> {
  const early = fault.effect === true ? victim.perform() : undefined;
  const left = closing(victim.response);
  await delay(victim.clock, fault.ms, left).then(() => send(victim.response, victim.dress(early ?? victim.perform())), () => undefined);
}

/** Fires when nobody is there to answer any more. */
export function closing(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  if (response.destroyed) gone.abort();
  return gone.signal;
}

async function drip({ status, headers, body }: Outgoing, bytes: number, intervalMs: number, { response, clock }: Victim): Promise<void> {
  const left = closing(response);
  response.writeHead(status, headers);
  response.flushHeaders();
  for (let from = 0; from < body.length && !left.aborted; from += Math.max(1, bytes)) {
    response.write(body.subarray(from, from + Math.max(1, bytes)));
    await delay(clock, intervalMs, left).catch(() => undefined);
  }
  response.end();
}

function truncate({ status, headers, body }: Outgoing, bytes: number | undefined, { request, response }: Victim): void {
  response.writeHead(status, headers);
  response.write(body.subarray(0, bytes ?? Math.floor(body.length / 2)), () => cut(request));
}

async function oversize({ status, headers, body }: Outgoing, bytes: number, { response }: Victim): Promise<void> {
  const left = closing(response);
  const blanks = Buffer.alloc(CHUNK, " ");
  const total = Math.max(bytes, body.length);
  response.writeHead(status, { ...headers, "content-length": String(total) });
  for (let missing = total - body.length; missing > 0 && !left.aborted; missing -= CHUNK) {
    if (!response.write(blanks.subarray(0, Math.min(CHUNK, missing)))) await drained(response, left);
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
