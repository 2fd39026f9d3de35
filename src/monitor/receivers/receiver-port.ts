/**
 * The port of a receiver: opened when the monitor's networks run, tried again while it cannot be
 * opened, closed before they stop, so that what was acknowledged is exported.
 */
import { delay, type Clock } from "../../kernel/base/clock.ts";
import { ownMessage } from "../../kernel/base/errors.ts";
import type { Log } from "../../kernel/base/log.ts";
import { orAborted } from "../../kernel/async/wait.ts";
import { backoffMs, type Backoff } from "../../kernel/async/backoff.ts";
import { createListener, type Listener, type ListenerSpec } from "../../kernel/listen/listener.ts";
import type { CertificateStatus } from "../../kernel/listen/tls/certificates.ts";
import type { Component } from "../../kernel/supervisor/component.ts";
import type { ReceiverOptions } from "./options.ts";

const RETRY: Backoff = { firstMs: 1_000, maxMs: 60_000 };
/** Control planes are few; more connections are a mistake or an attack. */
const MAX_CONNECTIONS = 256;
const BODY_MS = 30_000;
/** Outlasts a request's head and its processing, so that the refusal of a late one still arrives. */
const STALL_MS = 50_000;
const STOP_MS = 10_000;
/** Requests of the other share at the same time; they are refused before their body is read. */
const OTHERS = 32;
const OTHERS_PER_ADDRESS = 16;

/** What differs between the receivers. */
export interface ReceiverSpec extends Pick<ListenerSpec, "classify" | "refuse" | "handle"> {
  /** `stream` or `webhook`. */
  readonly name: string;
  /** Configuration key of the address. */
  readonly setting: string;
  /**
   * The share of requests whose body is read: `owner` where the head carries the credential; a
   * `stranger` that is slow loses its place to one that waits.
   */
  readonly share: "owner" | "stranger";
  /** Bytes of all bodies together, in bodies of the largest size. */
  readonly bodies: number;
  /** Whether every route has a credential. */
  readonly credential: boolean;
  /** Components that start before and stop after it. */
  readonly needs: readonly string[];
  /** Opened when it resolves; it never rejects. Undefined: at once. */
  readonly after?: Promise<void> | undefined;
}

export interface ReceiverPort {
  readonly component: Component;
  certificate(): CertificateStatus | undefined;
}

export function createReceiverPort(
  deps: { readonly clock: Clock; readonly log: Log },
  spec: ReceiverSpec,
  options: ReceiverOptions,
): ReceiverPort {
  const { clock, log } = deps;
  const stopping = new AbortController();
  let listener: Listener | undefined;
  let opening: Promise<void> = Promise.resolve();
  let trouble: string | undefined = "it is not open yet";

  /** True once it is open. */
  async function open(attempt: number): Promise<boolean> {
    const next = createListener(listenerSpec(spec, options), { clock, log });
    try {
      await next.start();
    } catch (error) {
      trouble = ownMessage(error);
      log.error("the receiver cannot listen; retrying", {
        receiver: spec.name,
        reason: trouble,
        waitMs: backoffMs(attempt, RETRY),
      });
      await next.stop(0);
      return false;
    }
    if (stopping.signal.aborted) {
      await next.stop(0);
      return true;
    }
    listener = next;
    trouble = undefined;
    return true;
  }

  async function retry(): Promise<void> {
    for (let attempt = 1; !stopping.signal.aborted; attempt += 1) {
      await delay(clock, backoffMs(attempt, RETRY), stopping.signal).catch(() => undefined);
      if (stopping.signal.aborted || (await open(attempt + 1))) return;
    }
  }

  async function openAfter(ready: Promise<void>): Promise<void> {
    await orAborted(ready, stopping.signal).catch(() => undefined);
    if (!stopping.signal.aborted && !(await open(1))) await retry();
  }

  return {
    certificate: () => listener?.certificate(),
    component: {
      name: spec.name,
      needs: spec.needs,
      readiness: "required",
      stopTimeoutMs: STOP_MS,
      // A port in use must not end the monitor's thread.
      async start() {
        if (spec.after !== undefined) opening = openAfter(spec.after);
        else if (!(await open(1))) opening = retry();
      },
      async stop(deadlineMs) {
        stopping.abort();
        await opening;
        await listener?.stop(Math.min(deadlineMs, STOP_MS));
      },
      health: () =>
        trouble === undefined
          ? { ok: true }
          : {
              ok: false,
              reason: trouble,
              remedy: `stop the process that uses the port, or set ${spec.setting} to another address; Steward retries automatically`,
            },
    },
  };
}

function listenerSpec(spec: ReceiverSpec, options: ReceiverOptions): ListenerSpec {
  const { listen, tls, maxBodyBytes, maxConcurrentRequests } = options;
  const { classify, refuse, handle } = spec;
  return {
    name: spec.name,
    setting: spec.setting,
    address: listen,
    credential: spec.credential,
    ...(tls === undefined ? {} : { tls }),
    limits: {
      connections: MAX_CONNECTIONS,
      stallMs: STALL_MS,
      stranger: { requests: OTHERS, requestsPerAddress: OTHERS_PER_ADDRESS },
      [spec.share]: {
        requests: maxConcurrentRequests,
        requestsPerAddress: maxConcurrentRequests,
        bodyBytes: maxBodyBytes,
        bodiesBytes: maxBodyBytes * spec.bodies,
        bodyMs: BODY_MS,
      },
    },
    ...(classify === undefined ? {} : { classify }),
    ...(refuse === undefined ? {} : { refuse }),
    handle,
  };
}
