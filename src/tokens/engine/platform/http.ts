/**
 * HTTP client of the platform: pooled connections, environment proxies, small bodies read whole,
 * no redirects, no automatic retries. Results are values, since "nothing was sent" decides what
 * happens next (docs/decisions/tokens-platform-client.md).
 */
import type { Dispatcher } from "undici";
import type { Clock } from "../../../kernel/base/clock.ts";
import { FORBIDDEN_ADDRESS, isForbiddenHost } from "../forbidden-hosts.ts";
import type { BodySink } from "./body.ts";
import { openPools, type Pools, type ReachOptions } from "./pools.ts";
import type { ProxyOptions } from "./proxy.ts";

/** Connect, headers and body together. */
const WHOLE_MS = 10_000;

export interface HttpCall {
  readonly method: "GET" | "POST" | "DELETE";
  readonly origin: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Receives the body; refusing a chunk aborts the request. */
  readonly sink: BodySink;
  /** Aborts the request at any stage. */
  readonly signal?: AbortSignal;
}

/** A response of any status. */
export interface HttpReply {
  readonly lost?: undefined;
  readonly status: number;
  readonly statusText: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Monotonic milliseconds. */
  readonly sentAtMs: number;
}

/** No complete response. */
export interface HttpLost {
  readonly lost: "timeout" | "connection" | "too_large" | "cancelled";
  /** Whether any byte may have reached the server. */
  readonly sent: boolean;
  /** Error code, e.g. `ECONNREFUSED`; never external text. */
  readonly reason: string;
}

export interface Http {
  /** Never rejects. */
  send(call: HttpCall): Promise<HttpReply | HttpLost>;
  /** Aborts requests in progress. */
  close(): Promise<void>;
}

/** Reason of a request whose proxy is no address of a proxy. */
export const UNUSABLE_PROXY = "UNUSABLE_PROXY";

/**
 * Loads the HTTP library and connects on first use. By default no call reaches a link-local address
 * or metadata service, by name or address; a proxy resolves names itself.
 */
export function createHttp(clock: Clock, proxy: ProxyOptions, reach: ReachOptions = {}): Http {
  let opening: Promise<Pools> | undefined;
  let closed = false;
  /** Last origin that passed the check; a mount has one origin. */
  let callable = "";

  function isCallable(origin: string): boolean {
    if (reach.allowLinkLocal === true || origin === callable) return true;
    if (isForbiddenHost(new URL(origin).hostname)) return false;
    callable = origin;
    return true;
  }

  return {
    async send(call) {
      if (closed) return { lost: "cancelled", sent: false, reason: "CLOSED" };
      if (!isCallable(call.origin))
        return { lost: "connection", sent: false, reason: FORBIDDEN_ADDRESS };
      let pools: Pools;
      try {
        pools = await (opening ??= openPools(proxy, reach));
      } catch (error) {
        // The library is loaded from disk, where an update may have replaced it.
        opening = undefined;
        return { lost: "connection", sent: false, reason: codeOf(error) };
      }
      if (closed) return { lost: "cancelled", sent: false, reason: "CLOSED" };
      const pool = pools.pool(call.origin);
      if (pool === undefined) return { lost: "connection", sent: false, reason: UNUSABLE_PROXY };
      return exchange(pool, call, clock);
    },
    async close() {
      closed = true;
      const pools = await opening?.catch(() => undefined);
      await pools?.destroy();
    },
  };
}

function exchange(
  dispatcher: Dispatcher,
  call: HttpCall,
  clock: Clock,
): Promise<HttpReply | HttpLost> {
  return new Promise((resolve) => {
    const sentAtMs = clock.monotonic();
    const { signal } = call;
    let head:
      | {
          readonly status: number;
          readonly statusText: string;
          readonly headers: Readonly<Record<string, string>>;
        }
      | undefined;
    let sent = false;
    let settled = false;
    let controller: Dispatcher.DispatchController | undefined;

    const stop = (lost: HttpLost["lost"], reason: string): void => {
      settle({ lost, sent, reason });
      controller?.abort(new Error(reason));
    };
    const cancel = (): void => stop("cancelled", "CANCELLED");
    const timer = clock.timer(sentAtMs + WHOLE_MS, () => stop("timeout", "TIMEOUT"));

    function settle(outcome: HttpReply | HttpLost): void {
      if (settled) return;
      settled = true;
      timer[Symbol.dispose]();
      signal?.removeEventListener("abort", cancel);
      resolve(outcome);
    }

    if (signal?.aborted === true) return cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    dispatcher.dispatch(
      {
        origin: call.origin,
        path: call.path,
        method: call.method,
        headers: call.headers,
        body: call.body ?? null,
      },
      {
        onRequestStart(started) {
          controller = started;
          // Aborted while waiting for a connection: it must not be sent now.
          if (settled) return started.abort(new Error("GIVEN_UP"));
          sent = true;
        },
        onResponseStart(_controller, status, headers, statusText) {
          head = { status, statusText: statusText ?? "", headers: flattened(headers) };
        },
        onResponseData(_controller, chunk) {
          if (!settled && !call.sink.push(chunk)) stop("too_large", "TOO_LARGE");
        },
        onResponseEnd() {
          if (head === undefined) return settle({ lost: "connection", sent, reason: "NO_ANSWER" });
          settle({ ...head, body: call.sink.whole(), sentAtMs });
        },
        onResponseError(_controller, error) {
          const reason = codeOf(error);
          settle({
            lost:
              reason === "UND_ERR_CONNECT_TIMEOUT" || reason === "ETIMEDOUT"
                ? "timeout"
                : "connection",
            sent,
            reason,
          });
        },
      },
    );
  });
}

function flattened(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Readonly<Record<string, string>> {
  const flat: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined) flat[name] = typeof value === "string" ? value : value.join(", ");
  }
  return flat;
}

// Only the code, since a message may quote what was sent.
function codeOf(error: unknown): string {
  const code = (error as { readonly code?: unknown } | undefined)?.code;
  return typeof code === "string" && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : "CONNECTION";
}
