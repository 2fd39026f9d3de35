/**
 * Applies an injected fault to a request on its real connection. A fault ends when the client
 * disconnects or the host stops.
 */
import { orAborted } from "../../kernel/async/wait.ts";
import { delay } from "../../kernel/base/clock.ts";
import { closing, send, type Outgoing } from "../serving/outgoing.ts";
import { drip, oversize, reset, truncate, type Exchange } from "../serving/wrong-answers.ts";
import { refusal, type Reply } from "./answers.ts";
import type { Fault } from "./faults.ts";

/** A request to answer with a fault. */
export interface FaultyExchange extends Exchange {
  /** Performs the operation, once. */
  readonly perform: () => Reply;
  readonly toOutgoing: (reply: Reply) => Outgoing;
}

const HTML = { "content-type": "text/html; charset=utf-8" };
const UNICORN =
  "<!DOCTYPE html>\n<html><head><title>Unicorn! &middot; GitHub</title></head><body><p><strong>We had issues producing the response to your request.</strong></p></body></html>\n";

/** Applies a fault to one request. */
export async function injectFault(fault: Fault, exchange: FaultyExchange): Promise<void> {
  if ("effect" in fault && fault.effect && fault.kind !== "delay") exchange.perform();
  const instead = replacement(fault);
  if (instead !== undefined) return send(exchange.response, exchange.toOutgoing(instead));
  switch (fault.kind) {
    case "hang":
      return;
    case "reset":
      return reset(exchange.request);
    case "delay":
      return later(fault, exchange);
    case "hold":
      await orAborted(fault.until, closing(exchange.response)).then(
        () => send(exchange.response, exchange.toOutgoing(exchange.perform())),
        () => undefined,
      );
      return;
    case "drip":
      return drip(
        exchange.toOutgoing(exchange.perform()),
        fault.bytes ?? 1,
        fault.intervalMs,
        exchange,
      );
    case "truncate":
      return truncate(exchange.toOutgoing(exchange.perform()), fault.bytes, exchange);
    case "oversize":
      return oversize(exchange.toOutgoing(exchange.perform()), fault, exchange);
    case "no_expiry":
      return send(
        exchange.response,
        exchange.toOutgoing(patched(exchange.perform(), { expires_at: undefined })),
      );
    case "null_repositories":
      return send(
        exchange.response,
        exchange.toOutgoing(patched(exchange.perform(), { repositories: null })),
      );
    case "patch":
      return send(
        exchange.response,
        exchange.toOutgoing(patched(exchange.perform(), fault.members)),
      );
    default:
  }
}

function replacement(fault: Fault): Reply | undefined {
  switch (fault.kind) {
    case "status":
      return refusal(fault.status, fault.message ?? "Server Error", {
        ...(fault.headers === undefined ? {} : { headers: { ...fault.headers } }),
        ...(fault.errors === undefined ? {} : { errors: fault.errors }),
      });
    case "html":
      return { status: fault.status ?? 502, body: UNICORN, headers: HTML };
    case "redirect":
      return {
        status: fault.status ?? 307,
        body: JSON.stringify({ message: "Moved", url: fault.location }),
        headers: { location: fault.location },
      };
    case "garbage":
      return { status: 201, body: '\u0000{"token": \u001f<<<' };
    default:
      return undefined;
  }
}

function patched(reply: Reply, members: Readonly<Record<string, unknown>>): Reply {
  if (reply.status >= 300 || reply.body === undefined) return reply;
  return {
    ...reply,
    body: JSON.stringify({ ...(JSON.parse(reply.body) as Record<string, unknown>), ...members }),
  };
}

async function later(
  fault: { readonly ms: number; readonly effect?: boolean },
  exchange: FaultyExchange,
): Promise<void> {
  const early = fault.effect === true ? exchange.perform() : undefined;
  const left = closing(exchange.response);
  await delay(exchange.clock, fault.ms, left).then(
    () => send(exchange.response, exchange.toOutgoing(early ?? exchange.perform())),
    () => undefined,
  );
}
