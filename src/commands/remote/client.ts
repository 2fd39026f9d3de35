/** Sends requests to a running daemon and turns its refusals into errors with its own words. */
import { systemClock, type Clock } from "../../kernel/base/clock.ts";
import { StewardError, toStewardError, type Code } from "../../kernel/base/errors.ts";
import { systemIds } from "../../kernel/base/ids.ts";
import { printable } from "../../kernel/base/text/printable.ts";
import { anonymous, bearer } from "../../kernel/client/authorizers.ts";
import { createClientFactory } from "../../kernel/client/client.ts";
import { describeFailure, failureOf } from "../../kernel/client/failure.ts";
import type { CallRequest, Client, Query, StreamedReply } from "../../kernel/client/types.ts";
import { stewardVersion } from "../../daemon/version.ts";
import { UNREACHABLE, type Target } from "./target.ts";

const MIB = 2 ** 20;
/** A status document of ten thousand devices has 10 MB. */
const MAX_ANSWER_BYTES = 256 * MIB;
/**
 * A plan or a graph of a large archive takes seconds; a stream has a piece at least every 15
 * seconds.
 */
const WAIT_MS = 120_000;
const CONNECT_MS = 10_000;
const MAX_ERROR_CHARACTERS = 2_000;

/** One request below the daemon's address. */
export interface DaemonRequest {
  /** Default GET. */
  readonly method?: CallRequest["method"];
  /** Encoded where it holds foreign text (`pathOf`). */
  readonly path: string;
  readonly query?: Query;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface DaemonClient {
  /** The JSON of the answer; undefined for an empty one. Throws the daemon's refusal. */
  json<T>(request: DaemonRequest, signal: AbortSignal): Promise<T>;
  bytes(request: DaemonRequest, signal: AbortSignal): Promise<Uint8Array>;
  /** The answer as it arrives; read it or drop it. */
  stream(request: DaemonRequest, signal: AbortSignal): Promise<StreamedReply>;
  close(): Promise<void>;
}

export interface DaemonClientOptions {
  /** How long to wait for an answer, or for the next piece of a stream; two minutes. */
  readonly waitMs?: number;
  readonly clock?: Clock;
}

/** A client of one daemon. */
export function connectDaemon(
  target: Target,
  { waitMs = WAIT_MS, clock = systemClock }: DaemonClientOptions = {},
): DaemonClient {
  const client = open(target, { waitMs, clock });
  async function bytes(request: DaemonRequest, signal: AbortSignal): Promise<Uint8Array> {
    try {
      const reply = await client.call({ ...asCall(request), read: "bytes" }, signal);
      return reply.body;
    } catch (error) {
      throw signal.aborted ? signal.reason : refusal(error, target);
    }
  }
  return {
    bytes,
    close: () => client.close(),
    async json<T>(request: DaemonRequest, signal: AbortSignal) {
      const text = Buffer.from(await bytes(request, signal)).toString("utf8");
      return (text === "" ? undefined : JSON.parse(text)) as T;
    },
    async stream(request, signal) {
      try {
        return await client.stream(asCall(request), signal);
      } catch (error) {
        throw signal.aborted ? signal.reason : refusal(error, target);
      }
    },
  };
}

function open(
  { base, socketPath, token, ca }: Target,
  { waitMs, clock }: Required<DaemonClientOptions>,
): Client {
  return createClientFactory({
    clock,
    ids: systemIds,
    version: stewardVersion(),
  }).create({
    name: "the daemon",
    base,
    ...(socketPath === undefined ? {} : { socketPath }),
    auth: token === undefined ? anonymous : bearer(token),
    redirects: "none",
    retry: { retries: 0, baseDelayMs: 1_000, maxDelayMs: 1_000 },
    breaker: "none",
    ...(ca === undefined ? {} : { trust: { ca } }),
    limits: {
      connectMs: CONNECT_MS,
      attemptMs: waitMs,
      streams: "pieces",
      callMs: waitMs,
      wireBytes: MAX_ANSWER_BYTES,
      bodyBytes: MAX_ANSWER_BYTES,
      json: {
        bytes: MAX_ANSWER_BYTES,
        depth: 64,
        stringBytes: MAX_ANSWER_BYTES,
        elements: 10_000_000,
      },
      sliceMs: 50,
      connections: 4,
      inFlight: 8,
    },
  });
}

function asCall({ method = "GET", path, query, body, headers }: DaemonRequest): CallRequest {
  return {
    operation: `${method} ${path}`,
    method,
    path,
    ...(query === undefined ? {} : { query }),
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined
      ? {}
      : { body: { type: "application/json", bytes: JSON.stringify(body) } }),
    accept: "*/*",
    idempotent: false,
  };
}

const CODES: Readonly<Record<number, Code>> = {
  400: "invalid",
  401: "unauthenticated",
  403: "denied",
  404: "not_found",
  405: "unsupported",
  409: "conflict",
  413: "too_large",
  429: "exhausted",
  502: "upstream",
  503: "not_ready",
  504: "deadline",
  507: "disk_full",
};

/** What the daemon said, or why it could not be asked. */
function refusal(error: unknown, target: Target): StewardError {
  const known = toStewardError(error);
  const failure = failureOf(error);
  if (failure === undefined) return known;
  if (failure.status === 0) return unreachable(known, target, failure.system);
  const said = messageOf(failure.body ?? "");
  const text = said === "" ? describeFailure(known) : said;
  const code = CODES[failure.status] ?? "upstream";
  const remedy =
    failure.status === 401 && target.socketPath === undefined
      ? "give the file with its auth.token by --token-file"
      : undefined;
  return new StewardError(code, `the daemon refuses: ${text}`, {
    rule: `status_${failure.status}`,
    cause: error,
    ...(remedy === undefined ? {} : { remedy }),
  });
}

function unreachable(
  error: StewardError,
  { base, socketPath }: Target,
  system: string | undefined,
): StewardError {
  if (socketPath === undefined)
    return new StewardError(
      "upstream",
      `no daemon answers at ${base.origin}${system === undefined ? `: ${error.message}` : `: ${system}`}`,
      {
        rule: UNREACHABLE,
        cause: error,
        remedy: "check --address, and that the daemon runs",
      },
    );
  const reason = system?.split(" ", 1)[0];
  if (reason === "EACCES")
    return new StewardError("denied", `this user may not use ${socketPath}`, {
      rule: UNREACHABLE,
      cause: error,
      remedy: "run the command as the daemon's user, or name its --address and --token-file",
    });
  return new StewardError(
    "upstream",
    `no daemon answers at ${socketPath}${reason === "ENOENT" || reason === "ECONNREFUSED" ? "" : ` (${reason ?? error.message})`}`,
    {
      rule: UNREACHABLE,
      cause: error,
      remedy: "start it, or name its configuration by --config or its address by --address",
    },
  );
}

/** The text of an error on any of the three surfaces. */
function messageOf(body: string): string {
  const text = fromJson(body) ?? body;
  return printable(text.trim().slice(0, MAX_ERROR_CHARACTERS));
}

function fromJson(body: string): string | undefined {
  if (!body.startsWith("{")) return undefined;
  try {
    const { error, errors } = JSON.parse(body) as {
      readonly error?: { readonly message?: unknown };
      readonly errors?: unknown;
    };
    if (typeof error?.message === "string") return error.message;
    return Array.isArray(errors) ? errors.join("; ") : undefined;
  } catch {
    return undefined;
  }
}
