/**
 * Answering wrongly on purpose: each fault performed on a real connection, ended when the client
 * leaves or the host stops.
 */
import { delay } from "../../kernel/base/clock.ts";
import { closing, send, type Outgoing } from "../serving/outgoing.ts";
import { drip, oversize, reset, truncate, type Exchange } from "../serving/wrong-answers.ts";
import { refusal, type Reply } from "./answers.ts";
import type { Fault } from "./faults.ts";

/** A connection to misbehave on. */
export interface Victim extends Exchange {
  /** Performs the operation, once. */
  readonly perform: () => Reply;
  readonly dress: (reply: Reply) => Outgoing;
}

const HTML = { "content-type": "text/html; charset=utf-8" };
const UNICORN =
  "<!DOCTYPE html>\n<html><head><title>Unicorn! &middot; GitHub</title></head><body><p><strong>We had issues producing the response to your request.</strong></p></body></html>\n";

/** Applies a fault to one request. */
export async function misbehave(fault: Fault, victim: Victim): Promise<void> {
  if ("effect" in fault && fault.effect && fault.kind !== "delay") victim.perform();
  const instead = replacement(fault);
  if (instead !== undefined) return send(victim.response, victim.dress(instead));
  switch (fault.kind) {
    case "hang":
      return;
    case "reset":
      return reset(victim.request);
    case "delay":
      return later(fault, victim);
    case "drip":
      return drip(victim.dress(victim.perform()), fault.bytes ?? 1, fault.intervalMs, victim);
    case "truncate":
      return truncate(victim.dress(victim.perform()), fault.bytes, victim);
    case "oversize":
      return oversize(victim.dress(victim.perform()), fault, victim);
    case "no_expiry":
      return send(
        victim.response,
        victim.dress(patched(victim.perform(), { expires_at: undefined })),
      );
    case "null_repositories":
      return send(victim.response, victim.dress(patched(victim.perform(), { repositories: null })));
    case "patch":
      return send(victim.response, victim.dress(patched(victim.perform(), fault.members)));
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
  victim: Victim,
): Promise<void> {
  const early = fault.effect === true ? victim.perform() : undefined;
  const left = closing(victim.response);
  await delay(victim.clock, fault.ms, left).then(
    () => send(victim.response, victim.dress(early ?? victim.perform())),
    () => undefined,
  );
}
