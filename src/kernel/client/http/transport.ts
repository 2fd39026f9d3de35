/**
 * The connections of one client: a pool for one origin, so that nothing, and no credential, can go
 * elsewhere.
 */
import type { ConnectionOptions } from "node:tls";
import type { Dispatcher, Pool } from "undici";
import type { TrustRule } from "../types.ts";
import type { ReplyHeaders } from "../reply-headers.ts";

interface Outgoing {
  readonly address: URL;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array | undefined;
  /** Called when the request begins to be sent on a connection. */
  readonly sent: () => void;
}

/** A response; its body must be read or abandoned through its iterator. */
export interface Incoming {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly body: AsyncIterable<Uint8Array>;
  /** Drops the connection unless the body was read completely. */
  readonly drop: () => void;
}

/** Sends requests, without retries, limits or credentials. */
export interface Transport {
  send(outgoing: Outgoing, signal: AbortSignal): Promise<Incoming>;
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly connections: number;
  readonly connectMs: number;
  readonly trust: TrustRule | undefined;
  readonly socketPath: string | undefined;
}

/** A pool for the origin of `base`. The HTTP library is loaded with the first request. */
export function createTransport(base: URL, options: TransportOptions): Transport {
  let pool: Promise<Pool> | undefined;
  let closed = false;

  async function open(): Promise<Pool> {
    const undici = await import("undici");
    return new undici.Pool(base.origin, {
      connections: options.connections,
      pipelining: 1,
      allowH2: false,
      // The caller's deadline bounds these, by a clock that is passed in.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: {
        timeout: options.connectMs,
        ...(options.socketPath === undefined ? {} : { socketPath: options.socketPath }),
        ...(options.trust === undefined ? {} : tlsOf(options.trust)),
      },
    });
  }

  return {
    async send(outgoing, signal) {
      if (closed) throw new Error("the client is closed");
      pool ??= open();
      const dispatcher = (await pool).compose(notice(outgoing.sent));
      const answer = await dispatcher.request({
        origin: base.origin,
        path: outgoing.address.pathname + outgoing.address.search,
        method: outgoing.method,
        headers: outgoing.headers,
        body: outgoing.body ?? null,
        signal,
      });
      // An abandoned or aborted body emits an error of its own, which its reader already has.
      answer.body.on("error", () => undefined);
      return {
        status: answer.statusCode,
        headers: flatten(answer.headers),
        body: answer.body,
        drop: () => void answer.body.destroy(),
      };
    },
    async close() {
      closed = true;
      await (await pool)?.destroy();
    },
  };
}

function tlsOf({
  ca,
  pair,
  insecureSkipVerify,
}: TrustRule): Pick<ConnectionOptions, "ca" | "cert" | "key" | "rejectUnauthorized"> {
  return {
    ...pair,
    ...(ca === undefined ? {} : { ca }),
    ...(insecureSkipVerify === true ? { rejectUnauthorized: false } : {}),
  };
}

// The library reports when a request is sent; before that it cannot have had an effect.
function notice(sent: () => void): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart(controller, context) {
        sent();
        handler.onRequestStart?.(controller, context);
      },
      onRequestUpgrade: (...event) => handler.onRequestUpgrade?.(...event),
      onResponseStart: (...event) => handler.onResponseStart?.(...event),
      onResponseData: (...event) => handler.onResponseData?.(...event),
      onResponseEnd: (...event) => handler.onResponseEnd?.(...event),
      onResponseError: (...event) => handler.onResponseError?.(...event),
    });
}

function flatten(headers: Readonly<Record<string, string | string[] | undefined>>): ReplyHeaders {
  const flat: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined)
      flat[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}
