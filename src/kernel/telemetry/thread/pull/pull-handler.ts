/**
 * `GET /metrics` of the pull endpoint: authentication, concurrency limit, content negotiation and
 * timeout. An error while gathering omits series and is counted; the rest is served with 200.
 */
import { once } from "node:events";
import { constants, createGzip } from "node:zlib";
import { delay, type Clock } from "../../../base/clock.ts";
import { render } from "../../exposition/render.ts";
import { acceptedFormat, contentTypes } from "../../exposition/text.ts";
import type { ExpositionFormat } from "../../exposition/text.ts";
import { acceptsGzip } from "../../../listen/headers/accept-encoding.ts";
import { cut, refuse, type ServerRequest, type ServerResponse } from "../../../listen/exchange.ts";
import type { Handler } from "../../../listen/handler.ts";
import type { PullOutcome, PullRejection } from "../../status.ts";
import type { Gathering } from "./gatherings.ts";
import type { WirePull } from "../options.ts";
import { refusePull } from "./pull-auth.ts";
import type { PullStats } from "./pull-stats.ts";
import { nextTurn } from "../../../async/turns.ts";

export interface PullHandlerDeps {
  readonly clock: Clock;
  readonly stats: PullStats;
  /** A gathering of all scopes; never rejects. */
  readonly gather: (coalesce: boolean) => Promise<Gathering>;
}

const PATH = "/metrics";
/** Slices have similar sizes: with this margin the next ones fit, too. */
const BUFFER_MARGIN = 1.25;
const RETRY_AFTER = { "retry-after": "1" };
const REFUSALS: Readonly<
  Record<
    PullRejection,
    { readonly status: number; readonly text: string; readonly headers?: Record<string, string> }
  >
> = {
  auth_required: {
    status: 403,
    text: "this address can be reached from other machines and no token is set: set scrape.auth.token, listen on 127.0.0.1, or set scrape.auth.allow_unauthenticated",
  },
  missing_credentials: {
    status: 401,
    text: "a token is needed",
    headers: { "www-authenticate": 'Basic realm="steward metrics"' },
  },
  bad_credentials: {
    status: 401,
    text: "the token is wrong",
    headers: { "www-authenticate": 'Basic realm="steward metrics"' },
  },
};

/** Answers every request of the listener. */
export function createPullHandler(deps: PullHandlerDeps, options: WirePull): Handler {
  const { stats, clock } = deps;
  return async (request, response) => {
    const reason = refusePull(options, request.headers.authorization);
    if (reason !== undefined) {
      stats.reject(reason);
      const { status, text, headers = {} } = REFUSALS[reason];
      return refuse(request, response, status, text, { headers });
    }
    if ((request.url ?? "").split("?", 1)[0] !== PATH)
      return refuse(request, response, 404, `there is only ${PATH} here`);
    const beganMs = clock.monotonic();
    if (request.method !== "GET" && request.method !== "HEAD") {
      stats.count("error", 0);
      return refuse(request, response, 405, "metrics are read with GET", {
        headers: { allow: "GET, HEAD" },
      });
    }
    if (stats.inFlight >= options.maxInFlight) {
      stats.count("unavailable", 0);
      return refuse(
        request,
        response,
        503,
        `${options.maxInFlight} scrapes are being answered already`,
        { headers: RETRY_AFTER },
      );
    }
    stats.begin();
    let outcome: PullOutcome = "error";
    try {
      outcome = await answer(request, response, deps, options);
    } finally {
      stats.end(outcome, clock.monotonic() - beganMs);
    }
  };
}

async function answer(
  request: ServerRequest,
  response: ServerResponse,
  deps: PullHandlerDeps,
  options: WirePull,
): Promise<PullOutcome> {
  const over = new AbortController();
  const left = (): void => over.abort("left");
  response.once("close", left);
  if (options.timeoutMs > 0)
    delay(deps.clock, options.timeoutMs, over.signal).then(
      () => over.abort("late"),
      () => undefined,
    );
  const gathering = deps.gather(options.coalesce);
  try {
    const ended = await Promise.race([gathering, aborted(over.signal)]);
    if (ended === "late")
      refuse(
        request,
        response,
        503,
        `metrics could not be gathered within ${options.timeoutMs} ms`,
        { headers: RETRY_AFTER },
      );
    if (ended === "late") return "unavailable";
    if (ended === "left") return "error";
    if (ended.missing > 0) deps.stats.gatherError("collector_error", ended.missing);
    await send(request, response, { gathering: ended, stats: deps.stats, signal: over.signal });
    return "success";
  } catch (error) {
    if (!over.signal.aborted) throw error;
    // A response that started with 200 cannot become 503: abort it, so that the client does not
    // take a part for the whole.
    cut(request);
    return "error";
  } finally {
    response.off("close", left);
    over.abort("left");
    void gathering.then((gathered) => gathered.release());
  }
}

function aborted(signal: AbortSignal): Promise<"late" | "left"> {
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(signal.reason === "late" ? "late" : "left"), {
      once: true,
    }),
  );
}

async function send(
  request: ServerRequest,
  response: ServerResponse,
  { gathering, stats, signal }: { gathering: Gathering; stats: PullStats; signal: AbortSignal },
): Promise<void> {
  const format: ExpositionFormat = acceptedFormat(request.headers.accept);
  const zipped = acceptsGzip(request.headers["accept-encoding"]);
  response.writeHead(200, {
    "content-type": contentTypes[format],
    vary: "accept, accept-encoding",
    ...(zipped ? { "content-encoding": "gzip" } : {}),
  });
  if (request.method === "HEAD") return void response.end();
  const sink = zipped ? packed(response, signal) : plain(response, signal);
  const slices = render(gathering.gathered, {
    format,
    metrics: undefined,
    duplicate: (series) => stats.gatherError("duplicate_series", series),
    conflict: (families) => stats.gatherError("type_mismatch", families),
  });
  for (const slice of slices) {
    signal.throwIfAborted();
    await sink.write(slice);
    // The thread also exports, and other scrapes are waiting.
    await nextTurn();
  }
  signal.throwIfAborted();
  sink.end();
  if (!response.writableFinished) await once(response, "finish", { signal });
}

/** Where slices are written; a write returns when the slice was accepted or buffered. */
interface Sink {
  write(text: string): Promise<void>;
  end(): void;
}

/** Writes strings: their bytes are freed once sent, without waiting for a garbage collection. */
function plain(response: ServerResponse, signal: AbortSignal): Sink {
  return {
    write: async (text) => {
      if (!response.write(text, "utf8")) await once(response, "drain", { signal });
    },
    end: () => void response.end(),
  };
}

/** All slices share one buffer: each is compressed before the next is written. */
function packed(response: ServerResponse, signal: AbortSignal): Sink {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  gzip.pipe(response);
  // Aborting the response does not end gzip; this fails a pending write.
  signal.addEventListener("abort", () => gzip.destroy(), { once: true });
  let buffer = Buffer.alloc(0);
  return {
    write: (text) => {
      const bytes = Buffer.byteLength(text);
      if (bytes > buffer.length) buffer = Buffer.allocUnsafeSlow(Math.ceil(bytes * BUFFER_MARGIN));
      buffer.write(text, "utf8");
      return new Promise((resolve, reject) =>
        gzip.write(buffer.subarray(0, bytes), (error) => (error ? reject(error) : resolve())),
      );
    },
    end: () => void gzip.end(),
  };
}
