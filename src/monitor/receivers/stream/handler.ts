/**
 * Answers stream requests: path, method, credential, body, whole validation, then effect. A request
 * that is not answered with 200 has counted nothing, unless its time ran out while it was applied.
 */
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Log } from "../../../kernel/base/log.ts";
import { createSerial, type Serial } from "../../../kernel/async/serial.ts";
import { createDeadline } from "../../../kernel/async/deadline.ts";
import { isLoopback } from "../../../kernel/config/values/address.ts";
import type { Classify } from "../../../kernel/listen/admission/shares.ts";
import type { ServerRequest, ServerResponse } from "../../../kernel/listen/exchange.ts";
import type { Admitted, Refuse } from "../../../kernel/listen/handler.ts";
import type { Secret } from "../../../kernel/base/secret.ts";
import { receiveSecret } from "../../../kernel/threads/secrets.ts";
import { send } from "../answer.ts";
import type { Intake } from "../intake.ts";
import type { Decompression, StreamOptions } from "../options.ts";
import { readBody, type Compression } from "../read-body.ts";
import { Refusal, unstored } from "../refusal.ts";
import type { ReceiverTarget } from "../target.ts";
import type { SpanAttributes, TracedHandler } from "../traced.ts";
import { refuseStream } from "./access.ts";
import { KEPT_BYTES, type Batch } from "./batch.ts";
import { PROCESSING_MS } from "./limits.ts";
import { streamMetrics, type StreamMetrics } from "./metrics.ts";
import type { StreamRecords } from "./records.ts";
import { rejection } from "./rejection.ts";

const SUCCESS = '{"text":"Success","code":0}';
const JSON_TYPE = "application/json";

export interface StreamDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** By configured name. Every route has one. */
  readonly targets: readonly ReceiverTarget[];
  readonly records: StreamRecords;
  readonly intake: Intake;
}

interface Route {
  readonly token: Secret | undefined;
  readonly target: ReceiverTarget;
  /** Small bodies: one after the other is answered sooner and takes less memory than side by side. */
  readonly inOrder: Serial;
}

/** What the listener of the streaming receiver calls. */
export interface StreamHandler {
  readonly classify: Classify;
  readonly refuse: Refuse;
  readonly handle: TracedHandler;
}

export function createStreamHandler(deps: StreamDeps, options: StreamOptions): StreamHandler {
  const { clock } = deps;
  const isLocal = isLoopback(options.listen.host);
  const routes = new Map<string, Route>();
  for (const { path, network, token } of options.routes) {
    const target = deps.targets.find(({ id }) => network === undefined || id === network);
    if (target !== undefined)
      routes.set(path, {
        target,
        token: token && receiveSecret(token),
        inOrder: createSerial(),
      });
  }
  const routeOf = (request: ServerRequest): Route | undefined =>
    routes.get(request.url?.replace(/\?.*$/s, "") ?? "");
  return {
    classify(request) {
      const route = routeOf(request);
      const accepted =
        route !== undefined && refuseStream(route.token, isLocal, request.headers) === undefined;
      const address = request.socket.remoteAddress;
      return {
        share: accepted ? "owner" : "stranger",
        kind: "request",
        address: address === undefined || isLoopback(address) ? undefined : address,
      };
    },
    refuse(request, response, error) {
      const refused = rejection("overloaded", error.message);
      streamMetrics(routeOf(request)?.target.ingest()?.scope).rejected(refused.reason);
      refuse(request, response, refused);
    },
    async handle(request, response, admitted, span) {
      const route = routeOf(request);
      if (route === undefined)
        return refuse(request, response, new Refusal(404, undefined, "there is nothing here"));
      if (request.method !== "POST")
        return send(request, response, {
          ...answerOf(new Refusal(405, undefined, "records are posted")),
          headers: { allow: "POST" },
        });
      const ingest = route.target.ingest();
      const metrics = streamMetrics(ingest?.scope);
      const startedMs = clock.monotonic();
      metrics.inFlight(1);
      try {
        const refused = refuseStream(route.token, isLocal, request.headers);
        if (refused !== undefined) throw refused;
        if (ingest === undefined)
          throw new Refusal(503, undefined, "the network is not open yet; try again in a second");
        await receive({ ...deps, request, admitted, options, route, metrics, span });
        succeed(request, response, deps.intake);
      } catch (thrown) {
        const refused = refusalOf(thrown);
        if (refused === undefined) throw thrown;
        metrics.rejected(refused.reason);
        refuse(request, response, refused);
      } finally {
        metrics.inFlight(-1);
        metrics.took((clock.monotonic() - startedMs) / 1_000);
      }
    },
  };
}

interface Receiving extends Omit<StreamDeps, "targets"> {
  readonly request: ServerRequest;
  readonly admitted: Admitted;
  readonly options: StreamOptions;
  readonly route: Route;
  readonly metrics: StreamMetrics;
  readonly span: SpanAttributes;
}

/** Resolves when every record has counted, or is on disk. */
async function receive(receiving: Receiving): Promise<void> {
  const { clock, route, records, intake, metrics } = receiving;
  using deadline = createDeadline(clock, PROCESSING_MS, undefined, () =>
    rejection("overloaded", `the request took more than ${PROCESSING_MS / 1000} s; try again`),
  );
  const { signal } = deadline;
  const body = await bodyOf(receiving, signal);
  const count = async (): Promise<Batch> => {
    signal.throwIfAborted();
    const read = await records.read(
      route.target,
      body,
      {
        undecodable: (kind, broken) => metrics.undecodable(kind, broken),
        invalid: (reasons) => metrics.invalid(reasons),
      },
      signal,
    );
    await accept({ batch: read, body }, receiving, signal);
    return read;
  };
  // The ingress log orders bodies itself, and flushes several at once.
  const isQueued = body.length <= KEPT_BYTES && intake.durability === "memory";
  const batch = await (isQueued ? route.inOrder(count) : count());
  receiving.span["vpn.stream.flows"] = batch.flows;
  receiving.span["vpn.stream.audits"] = batch.audits;
  receiving.span["vpn.stream.skipped"] = batch.skipped.unclassified + batch.skipped.unwrap_drop;
  receiving.span["http.request.body.size"] = body.length;
}

async function bodyOf(
  { request, admitted, options }: Receiving,
  signal: AbortSignal,
): Promise<Buffer> {
  try {
    return await readBody(request, {
      compression: compressionOf(options.decompress, request),
      maxBytes: options.maxBodyBytes,
      allowance: admitted.body,
      signal,
    });
  } catch (thrown) {
    if (thrown instanceof Refusal) throw thrown;
    if (thrown instanceof StewardError && thrown.code === "too_large")
      throw rejection("too_large", `the body is larger than ${options.maxBodyBytes} bytes`);
    if (thrown instanceof StewardError && thrown.code === "exhausted")
      throw rejection("overloaded", thrown.message);
    throw rejection("unparsable", "the body cannot be read or decompressed");
  }
}

async function accept(
  { batch, body }: { readonly batch: Batch; readonly body: Buffer },
  { route: { target }, records, intake, log }: Receiving,
  signal: AbortSignal,
): Promise<void> {
  try {
    await intake.accept(
      { network: target.id, source: "stream", body },
      records.effect(target, batch, body.length),
      signal,
    );
  } catch (thrown) {
    if (thrown instanceof Refusal) throw thrown;
    if (intake.durability === "disk") throw rejection("wal_unavailable", unstored(thrown));
    log.error("records of a stream could not be counted", { error: thrown });
    throw new Refusal(503, undefined, "the records could not be counted; try again");
  }
}

function compressionOf(configured: Decompression, request: ServerRequest): Compression {
  if (configured !== "auto") return configured;
  const encoding = (request.headers["content-encoding"] ?? "").trim().toLowerCase();
  return encoding === "gzip" || encoding === "zstd" ? encoding : "none";
}

/** Undefined for a fault of our own, which the listener logs and answers with 500. */
function refusalOf(thrown: unknown): Refusal | undefined {
  return thrown instanceof Refusal ? thrown : undefined;
}

function succeed(request: ServerRequest, response: ServerResponse, { durability }: Intake): void {
  send(request, response, {
    status: 200,
    contentType: JSON_TYPE,
    body: SUCCESS,
    headers: { "steward-durability": durability },
  });
}

function refuse(request: ServerRequest, response: ServerResponse, refused: Refusal): void {
  send(request, response, answerOf(refused));
}

function answerOf({ status, message }: Refusal): Parameters<typeof send>[2] {
  return {
    status,
    contentType: JSON_TYPE,
    body: `${JSON.stringify({ text: message, code: status })}\n`,
    ...(status === 503 ? { headers: { "retry-after": "1" } } : {}),
  };
}
