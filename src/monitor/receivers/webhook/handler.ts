/**
 * Answers webhook deliveries: path, method, body, network, signature, events. The body is read
 * before it can be trusted, so it is small, and a slow sender loses its place.
 */
import { STATUS_CODES } from "node:http";
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Secret } from "../../../kernel/base/secret.ts";
import { createDeadline } from "../../../kernel/async/deadline.ts";
import { isLoopback } from "../../../kernel/config/values/address.ts";
import type { Classify } from "../../../kernel/listen/admission/shares.ts";
import type { ServerRequest, ServerResponse } from "../../../kernel/listen/exchange.ts";
import type { Admitted, Refuse } from "../../../kernel/listen/handler.ts";
import { joinedHeader } from "../../../kernel/listen/headers/header.ts";
import { receiveSecret } from "../../../kernel/threads/secrets.ts";
import { send } from "../answer.ts";
import type { Intake } from "../intake.ts";
import { isFromForeignPage } from "../foreign-page.ts";
import type { WebhookOptions } from "../options.ts";
import { readBody } from "../read-body.ts";
import { Refusal, unstored } from "../refusal.ts";
import type { Ingest, ReceiverTarget } from "../target.ts";
import type { SpanAttributes, TracedHandler } from "../traced.ts";
import type { CountedEvents } from "./counted-events.ts";
import type { WebhookEvent } from "./event.ts";
import { webhookMetrics, type WebhookMetrics } from "./metrics.ts";
import {
  checkTime,
  isSigned,
  readSignature,
  SIGNATURE_HEADER,
  type Signature,
} from "./signature.ts";

export interface WebhookDeps {
  readonly clock: Clock;
  /** Every route has one. */
  readonly targets: readonly ReceiverTarget[];
  readonly events: CountedEvents;
  readonly intake: Intake;
}

interface Route {
  readonly target: ReceiverTarget;
  readonly secret: Secret | undefined;
}

/** A body whose signature is good. */
interface Delivery {
  readonly events: readonly WebhookEvent[];
  readonly target: ReceiverTarget;
}

/** What the listener of the webhook receiver calls. */
interface WebhookHandler {
  readonly classify: Classify;
  readonly refuse: Refuse;
  readonly handle: TracedHandler;
}

export function createWebhookHandler(deps: WebhookDeps, options: WebhookOptions): WebhookHandler {
  const receiver = new WebhookReceiver(deps, options);
  return {
    classify({ socket: { remoteAddress: address } }) {
      const isShared = address === undefined || isLoopback(address);
      return { share: "stranger", kind: "request", address: isShared ? undefined : address };
    },
    refuse(request, response) {
      receiver.metrics().rejected("overloaded");
      refuse(request, response, new Refusal(503, "overloaded", "busy"));
    },
    handle: (request, response, admitted, span) =>
      receiver.handle(request, response, admitted, span),
  };
}

/** From a verified body to its answer. */
const PROCESSING_MS = 30_000;
const unauthorized = (reason: string): Refusal => new Refusal(401, reason, reason);
/** A network that is unknown is not counted: its series would have none. */
const NO_NETWORK = new Refusal(401, undefined, "no network");
const NOT_OPEN = new Refusal(503, undefined, "the network is not open yet");

class WebhookReceiver {
  readonly #clock: Clock;
  readonly #options: WebhookOptions;
  readonly #isLocal: boolean;
  readonly #routes: readonly Route[];
  /** The route of a single network: known before the body is. */
  readonly #only: Route | undefined;
  readonly #events: CountedEvents;
  readonly #intake: Intake;

  constructor({ clock, targets, events, intake }: WebhookDeps, options: WebhookOptions) {
    this.#clock = clock;
    this.#events = events;
    this.#intake = intake;
    this.#options = options;
    this.#isLocal = isLoopback(options.listen.host);
    this.#routes = options.routes.flatMap(({ network, secret }) => {
      const target = targets.find(({ id }) => network === undefined || id === network);
      return target === undefined ? [] : [{ target, secret: secret && receiveSecret(secret) }];
    });
    this.#only = options.routes.some(({ network }) => network !== undefined)
      ? undefined
      : this.#routes[0];
  }

  /** Of the only network. */
  metrics(): WebhookMetrics {
    return webhookMetrics(this.#only?.target.ingest()?.scope);
  }

  async handle(
    request: ServerRequest,
    response: ServerResponse,
    admitted: Admitted,
    span: SpanAttributes,
  ): Promise<void> {
    if (request.url?.replace(/\?.*$/s, "") !== this.#options.path)
      return refuse(request, response, new Refusal(404, undefined, "unknown path"));
    if (request.method !== "POST")
      return refuse(request, response, new Refusal(405, undefined, "not POST"));
    const startedMs = this.#clock.monotonic();
    let metrics = this.metrics();
    metrics.inFlight(1);
    try {
      if (this.#only !== undefined) this.#checkHead(this.#only, request);
      const body = await this.#body(request, admitted);
      const delivery = await this.#verified(request, body, (ingest) => {
        if (this.#only === undefined) {
          metrics = webhookMetrics(ingest.scope);
          metrics.inFlight(1);
        }
      });
      await this.#accept(delivery, body);
      span["vpn.webhook.events"] = delivery.events.length;
      span["http.request.body.size"] = body.length;
      send(request, response, {
        status: 200,
        body: "",
        headers: { "steward-durability": this.#intake.durability },
      });
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown;
      metrics.rejected(thrown.reason);
      refuse(request, response, thrown);
    } finally {
      metrics.inFlight(-1);
      metrics.took((this.#clock.monotonic() - startedMs) / 1_000);
    }
  }

  /** What the head alone tells, before a byte of the body is read. */
  #checkHead({ target, secret }: Route, request: ServerRequest): void {
    if (target.ingest() === undefined) throw NOT_OPEN;
    if (secret === undefined) this.#refuseOpen(request);
    else this.#signature(request);
  }

  #refuseOpen({ headers }: ServerRequest): void {
    if (!this.#isLocal || isFromForeignPage(headers))
      throw new Refusal(403, "auth_required", "webhook.secret is not set");
  }

  #signature({ headers }: ServerRequest): Signature {
    const signature = readSignature(joinedHeader(headers[SIGNATURE_HEADER]));
    if (typeof signature === "string") throw unauthorized(signature);
    const fault = checkTime(signature, this.#clock.now(), this.#options.toleranceMs);
    if (fault !== undefined) throw unauthorized(fault);
    return signature;
  }

  async #body(request: ServerRequest, { body: allowance }: Admitted): Promise<Buffer> {
    try {
      return await readBody(request, {
        compression: "none",
        maxBytes: this.#options.maxBodyBytes,
        allowance,
        signal: new AbortController().signal,
      });
    } catch (thrown) {
      const code = thrown instanceof StewardError ? thrown.code : undefined;
      if (code === "too_large") throw new Refusal(413, "too_large", "too large");
      if (code === "exhausted") throw new Refusal(503, "overloaded", "busy");
      throw unauthorized("read_error");
    }
  }

  /** The verified events of a body. `routed` is called once their network is known. */
  async #verified(
    request: ServerRequest,
    body: Buffer,
    routed: (ingest: Ingest) => void,
  ): Promise<Delivery> {
    // A network among several is named by the events, so they are parsed before the signature.
    const early = this.#only === undefined ? await this.#events.read(body) : undefined;
    const route = this.#only ?? this.#routeOf(early);
    if (route === undefined) throw NO_NETWORK;
    const ingest = route.target.ingest();
    if (ingest === undefined) throw NOT_OPEN;
    routed(ingest);
    if (route.secret === undefined) this.#refuseOpen(request);
    else if (!isSigned(this.#signature(request), body, route.secret))
      throw unauthorized("bad_signature");
    const events = early ?? (await this.#events.read(body));
    if (events === undefined) throw unauthorized("invalid_body");
    return { events, target: route.target };
  }

  /** The one network that all events name. */
  #routeOf(events: readonly WebhookEvent[] | undefined): Route | undefined {
    const [first] = events ?? [];
    if (first === undefined || events?.some(({ network }) => network !== first.network) !== false)
      return undefined;
    return this.#routes.find(
      ({ target }) => target.id === first.network || target.ingest()?.name === first.network,
    );
  }

  async #accept({ events, target }: Delivery, body: Buffer): Promise<void> {
    using deadline = createDeadline(
      this.#clock,
      PROCESSING_MS,
      undefined,
      () => new Refusal(503, "overloaded", "busy"),
    );
    try {
      await this.#intake.accept(
        { network: target.id, source: "webhook", body },
        this.#events.effect(target, events, body.length),
        deadline.signal,
      );
    } catch (thrown) {
      if (thrown instanceof Refusal || this.#intake.durability === "memory") throw thrown;
      throw new Refusal(503, "wal_unavailable", unstored(thrown));
    }
  }
}

function refuse(request: ServerRequest, response: ServerResponse, { status }: Refusal): void {
  send(request, response, {
    status,
    contentType: "text/plain; charset=utf-8",
    body: STATUS_CODES[status] ?? "",
    headers: {
      ...(status === 405 ? { allow: "POST" } : {}),
      ...(status === 503 ? { "retry-after": "1" } : {}),
    },
  });
}
