/**
 * One attempt on the wire: credential, request, redirects, and validation of status and content
 * type.
 */
import type { Secret } from "../../base/secret.ts";
import { orAborted } from "../../async/wait.ts";
import { ACCEPT_ENCODING, type BodyLimits, plainBody, readPrefix } from "./body.ts";
import { classifyStatus, failed, failureOf } from "../failure.ts";
import { retryAfterMs } from "./retry-after.ts";
import type { Incoming, Transport } from "./transport.ts";
import type { Authorizer, Body } from "../types.ts";
import type { ReplyHeaders } from "../reply-headers.ts";
import { sameOrigin } from "./url.ts";

const MAX_REDIRECTS = 10;

/** Limit of an error response's body, unless configured. */
const ERROR_BODY_BYTES = 16 * 1024;

/** Shared by all attempts of a client. */
export interface ExchangeDeps {
  readonly transport: Transport;
  readonly auth: Authorizer;
  readonly limits: BodyLimits & { readonly errorBytes?: number };
  readonly redirects: "same-origin" | "none";
  readonly userAgent: string;
  readonly now: () => number;
}

/** A prepared call: can be sent any number of times. */
export interface Prepared {
  readonly address: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body | undefined;
  /** Media types; a response of another type is a failure. */
  readonly accept: string;
  readonly idempotent: boolean;
}

/** Facts of one attempt, filled in as it proceeds; valid after a failure, too. */
export interface Traces {
  /** 0 orAborted a response came. */
  status: number;
  /** Whether the request began to be sent. */
  sent: boolean;
  /** The credential that was sent. */
  credential: Secret | undefined;
  /** Called with the headers of each response. */
  readonly answered: (headers: ReplyHeaders) => void;
}

/** A successful response; its body is still to be read. */
export interface Opened {
  readonly status: number;
  readonly headers: ReplyHeaders;
  /** Decompressed and bounded. */
  readonly body: AsyncIterable<Uint8Array>;
  readonly drop: () => void;
}

/** Sends and follows redirects orAborted success; throws failures. */
export async function exchange(
  deps: ExchangeDeps,
  request: Prepared,
  traces: Traces,
  signal: AbortSignal,
): Promise<Opened> {
  traces.credential = await credential(deps.auth, signal);
  let current = request;
  for (let hop = 0; ; hop++) {
    const incoming = await orAborted(
      deps.transport.send(
        {
          address: current.address,
          method: current.method,
          headers: headersOf(deps, current, traces.credential),
          body: current.body?.bytes,
          sent: () => {
            traces.sent = true;
          },
        },
        signal,
      ),
      signal,
    );
    traces.status = incoming.status;
    traces.answered(incoming.headers);
    if (incoming.status >= 200 && incoming.status < 300) return accept(deps, current, incoming);
    const next =
      deps.redirects === "same-origin" && hop < MAX_REDIRECTS
        ? redirected(current, incoming)
        : undefined;
    if (next === undefined) throw await refusal(deps, incoming, signal);
    incoming.drop();
    current = next;
  }
}

async function credential(auth: Authorizer, signal: AbortSignal): Promise<Secret | undefined> {
  try {
    return await orAborted(auth.authorization(signal), signal);
  } catch (error) {
    if (signal.aborted || failureOf(error) !== undefined) throw error;
    throw failed({ class: "auth", status: 0 }, "no credential is available", error);
  }
}

function headersOf(
  deps: ExchangeDeps,
  request: Prepared,
  secret: Secret | undefined,
): Record<string, string> {
  return {
    accept: request.accept,
    "accept-encoding": ACCEPT_ENCODING,
    ...request.headers,
    "user-agent": deps.userAgent,
    ...(request.body === undefined ? {} : { "content-type": request.body.type }),
    ...(secret === undefined ? {} : { authorization: secret.use((value) => value) }),
  };
}

function accept(deps: ExchangeDeps, request: Prepared, incoming: Incoming): Opened {
  const { status, headers } = incoming;
  const type = (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const empty =
    status === 204 ||
    status === 205 ||
    request.method === "HEAD" ||
    headers["content-length"] === "0";
  if (!empty && type !== "" && !acceptable(request.accept, type)) {
    incoming.drop();
    throw failed(
      { class: "decode", status },
      `${/^[\w.+/-]{1,80}$/.test(type) ? type : "another content type"} instead of ${request.accept}`,
    );
  }
  const body = empty ? nothing() : plainBody(incoming.body, status, headers, deps.limits);
  return { status, headers, body, drop: incoming.drop };
}

async function* nothing(): AsyncGenerator<Uint8Array, void, undefined> {
  // A response without a body.
}

function acceptable(accepted: string, type: string): boolean {
  return accepted.split(",").some((entry) => {
    const wanted = entry.split(";", 1)[0]?.trim().toLowerCase() ?? "";
    if (wanted === "*/*" || wanted === type) return true;
    return wanted === "application/json" && (type.endsWith("+json") || type === "text/json");
  });
}

// Browsers follow 301 and 302 of a POST with GET, RFC 9110 allows POST: neither is the original
// request.
function redirected(request: Prepared, incoming: Incoming): Prepared | undefined {
  const { status, headers } = incoming;
  const reading = request.method === "GET" || request.method === "HEAD";
  if (![301, 302, 303, 307, 308].includes(status) || headers["location"] === undefined)
    return undefined;
  if (!reading && !((status === 307 || status === 308) && request.idempotent)) return undefined;
  const address = sameOrigin(request.address, headers["location"]);
  return address === undefined ? undefined : { ...request, address };
}

async function refusal(
  deps: ExchangeDeps,
  incoming: Incoming,
  signal: AbortSignal,
): Promise<Error> {
  const { status, headers } = incoming;
  const most = deps.limits.errorBytes ?? ERROR_BODY_BYTES;
  const plain = plainBody(incoming.body, status, headers, {
    wireBytes: most * 4,
    bodyBytes: most * 4,
  });
  const body = await orAborted(readPrefix(plain, most), signal).catch(() => "");
  incoming.drop();
  const waitMs = retryAfterMs(headers, deps.now());
  return failed({
    class: classifyStatus(status, headers),
    status,
    body,
    ...(waitMs === undefined ? {} : { retryAfterMs: waitMs }),
  });
}
