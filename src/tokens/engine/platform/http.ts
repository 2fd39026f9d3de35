/**
 * HTTP client of the platform: one connection pool, environment proxies, small bodies read whole,
 * no redirects, no automatic retries. Results are values, since "nothing was sent" decides what
 * happens next (docs/decisions/tokens-platform-client.md).
 */
import type { lookup as systemLookup } from "node:dns";
import { rootCertificates } from "node:tls";
import type { Agent, Dispatcher } from "undici";
import type { Clock } from "../../../kernel/base/clock.ts";
import { FORBIDDEN_ADDRESS, guardedLookup, isForbiddenHost } from "../forbidden-hosts.ts";
import type { BodySink } from "./body.ts";

/** Connections per origin; the platform limits concurrent requests to about 100. */
const CONNECTIONS = 64;

const CONNECT_MS = 2_500;

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

/** Allowed destinations. */
export interface ReachOptions {
  /** Whether link-local addresses and cloud metadata services are allowed; default false. */
  readonly allowLinkLocal?: boolean;
  /** PEM of authorities in addition to the system's; empty for none. */
  readonly ca?: string;
  /** Resolves names; the system's by default. */
  readonly lookup?: typeof systemLookup;
}

/** Proxy settings from the environment. */
export interface ProxyOptions {
  readonly http: string | undefined;
  readonly https: string | undefined;
  readonly none: string | undefined;
}

/** Proxies from environment variables; lower case wins, as in other programs. */
export function proxyOf(environment: Readonly<Record<string, string | undefined>>): ProxyOptions {
  const read = (name: string): string | undefined =>
    environment[name.toLowerCase()] || environment[name] || undefined;
  return { http: read("HTTP_PROXY"), https: read("HTTPS_PROXY"), none: read("NO_PROXY") };
}

/**
 * Loads the HTTP library and connects on first use. By default no call reaches a link-local address
 * or metadata service, by name or address; a proxy resolves names itself.
 */
export function createHttp(
  clock: Clock,
  proxy: ProxyOptions,
  { allowLinkLocal = false, ca = "", lookup }: ReachOptions = {},
): Http {
  let opening: Promise<Agent | Dispatcher> | undefined;
  let open: Dispatcher | undefined;
  let closed = false;
  /** Last origin that passed the check; a mount has one origin. */
  let callable = "";

  function isCallable(origin: string): boolean {
    if (allowLinkLocal || origin === callable) return true;
    if (isForbiddenHost(new URL(origin).hostname)) return false;
    callable = origin;
    return true;
  }

  async function openPool(): Promise<Dispatcher> {
    const undici = await import("undici");
    const options = {
      // Timeouts use the injected clock below. Idle connections close after a few seconds.
      connections: CONNECTIONS,
      pipelining: 1,
      allowH2: false,
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveMaxTimeout: 60_000,
      connect: {
        timeout: CONNECT_MS,
        ...(ca === "" ? {} : { ca: [...rootCertificates, ca] }),
        ...(allowLinkLocal ? {} : { lookup: guardedLookup(lookup) }),
      },
    };
    open =
      proxy.http === undefined && proxy.https === undefined
        ? new undici.Agent(options)
        : new undici.EnvHttpProxyAgent({
            ...options,
            httpProxy: proxy.http ?? "",
            httpsProxy: proxy.https ?? "",
            noProxy: proxy.none ?? "",
          });
    return open;
  }

  return {
    async send(call) {
      if (closed) return { lost: "cancelled", sent: false, reason: "CLOSED" };
      if (!isCallable(call.origin))
        return { lost: "connection", sent: false, reason: FORBIDDEN_ADDRESS };
      const dispatcher = open ?? (await (opening ??= openPool()));
      return exchange(dispatcher, call, clock);
    },
    async close() {
      closed = true;
      await (await opening)?.destroy();
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
