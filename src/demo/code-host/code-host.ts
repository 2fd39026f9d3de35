/**
 * A code host of GitHub's kind, as far as apps go: apps prove themselves by JWT, mint installation
 * tokens, and use and revoke these. Served over real HTTP, with upstream's errors, pages, headers
 * and limits. It powers the demo and the tests of the tokens service, which inject faults.
 */
import { delay, type Clock } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Log } from "../../kernel/base/log.ts";
import type { ServerRequest, ServerResponse } from "../../kernel/listen/exchange.ts";
import { createListener, type Listener } from "../../kernel/listen/listener.ts";
import { NO_USER_AGENT, refusal, type Reply } from "./answers.ts";
import { createAppJwt } from "./app-jwt.ts";
import { settle, type Call, type Parts } from "./call.ts";
import { createEstate, type Estate } from "./estate/estate.ts";
import { createFaults, type Faults } from "./faults.ts";
import type { Bases } from "./estate/installation.ts";
import { createLimits } from "./limits.ts";
import { injectFault } from "./inject-fault.ts";
import { perform } from "./operations/operations.ts";
import { routeOf, type Operation, type Route } from "./routes.ts";
import { closing, readBody, send, type Outgoing } from "../serving/outgoing.ts";
import { createResponder, type Responder } from "./responder.ts";
import { createSightings, type Sightings } from "./sightings.ts";
import { createTokenForms } from "./estate/token-form.ts";
import { createTokenStore } from "./estate/token-store.ts";
import type { AppSpec, CodeHostOptions, MintedToken, SeenRequest, TokenCounts } from "./types.ts";

export interface CodeHostDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
}

/** The running host. */
export interface CodeHost {
  start(): Promise<void>;
  /** Cuts what is left after `deadlineMs`, default at once. Works without start, and twice. */
  stop(deadlineMs?: number): Promise<void>;
  /**
   * `http://127.0.0.1:PORT`, without a trailing slash; the same paths are served below `/api/v3`.
   * Empty before start.
   */
  readonly url: string;
  readonly port: number;
  readonly apps: readonly AppSpec[];
  /** Changes accounts and installations while the host runs. */
  readonly estate: Estate;
  readonly faults: Faults;
  /** How far its clock is ahead of ours; may be set. */
  skewMs: number;
  /** The tokens it remembers, oldest first. */
  minted(): readonly MintedToken[];
  liveTokens(): readonly MintedToken[];
  /** The token whose SHA-256 this is (padded base64). */
  find(hash: string): MintedToken | undefined;
  counts(): TokenCounts;
  /** Requests since the host began; `unknown` counts paths it does not serve. */
  requests(): Readonly<Record<Operation, number>>;
  /** The latest request, of one operation or of all. */
  lastRequest(operation?: Operation): SeenRequest | undefined;
}

/** Throws `invalid` for an unusable key, `conflict` for an id that occurs twice. */
export function createCodeHost(deps: CodeHostDeps, options: CodeHostOptions): CodeHost {
  return new SimulatedHost(deps, options);
}

const VERSIONS: readonly string[] = ["2022-11-28", "2026-03-10"];
const USUAL_VERSION = "2022-11-28";
const MAX_CONCURRENT = 4096;
const DEFAULT_TOKENS_KEPT = 250_000;
const DEFAULT_BODY_BYTES = 1024 * 1024;

const TOO_LARGE = refusal(413, "Payload too large", { headers: { connection: "close" } });

class SimulatedHost implements CodeHost {
  readonly apps: readonly AppSpec[];
  readonly estate: Estate;
  readonly faults: Faults = createFaults();
  skewMs: number;
  readonly #deps: CodeHostDeps;
  readonly #options: CodeHostOptions;
  readonly #parts: Parts;
  readonly #sightings: Sightings = createSightings();
  readonly #responder: Responder;
  readonly #listener: Listener;
  readonly #open = new Set<ServerResponse>();
  #bases: Readonly<Record<Route["prefix"], Bases>> | undefined;

  constructor(deps: CodeHostDeps, options: CodeHostOptions) {
    this.#deps = deps;
    this.#options = options;
    this.apps = options.apps;
    this.skewMs = options.skewMs ?? 0;
    this.estate = createEstate(options.apps);
    this.#parts = {
      estate: this.estate,
      jwt: createAppJwt(this.estate, { integerIssuer: options.integerIssuer ?? false }),
      tokens: createTokenStore(options.tokensKept ?? DEFAULT_TOKENS_KEPT),
      forms: createTokenForms(deps.ids),
      limits: createLimits(options),
      options: settle(options),
    };
    this.#responder = createResponder(deps.ids, { gzip: options.gzip ?? false });
    this.#listener = createListener(
      {
        name: "demo code host",
        setting: "the code host's address",
        address: options.address ?? { host: "127.0.0.1", port: 0 },
        credential: false,
        limits: {
          connections: MAX_CONCURRENT,
          owner: { requests: MAX_CONCURRENT, requestsPerAddress: MAX_CONCURRENT },
        },
        handle: (request, response) => this.#serve(request, response),
      },
      deps,
    );
  }

  get url(): string {
    return this.port === 0 ? "" : `http://${this.#hostName()}:${this.port}`;
  }

  get port(): number {
    return this.#listener.port;
  }

  async start(): Promise<void> {
    await this.#listener.start();
    const base = (this.#options.publicUrl ?? this.url).replace(/\/+$/, "");
    this.#bases = { "": { api: base, web: base }, "/api/v3": { api: `${base}/api/v3`, web: base } };
  }

  stop(deadlineMs = 0): Promise<void> {
    return this.#listener.stop(deadlineMs);
  }

  minted(): readonly MintedToken[] {
    return this.#parts.tokens.all();
  }

  liveTokens(): readonly MintedToken[] {
    return this.#parts.tokens.live(this.#now());
  }

  find(hash: string): MintedToken | undefined {
    return this.#parts.tokens.find(hash);
  }

  counts(): TokenCounts {
    return this.#parts.tokens.counts(this.#now());
  }

  requests(): Readonly<Record<Operation, number>> {
    return this.#sightings.counts();
  }

  lastRequest(operation?: Operation): SeenRequest | undefined {
    return this.#sightings.last(operation);
  }

  #hostName(): string {
    const host = this.#options.address?.host ?? "127.0.0.1";
    return host.includes(":") ? `[${host}]` : host;
  }

  #now(): number {
    return this.#deps.clock.now() + this.skewMs;
  }

  async #serve(request: ServerRequest, response: ServerResponse): Promise<void> {
    this.#open.add(response);
    response.once("close", () => this.#open.delete(response));
    const [path = "", query = ""] = (request.url ?? "").split("?", 2);
    const route = routeOf(request.method ?? "", path);
    const body = await readBody(request, this.#options.maxBodyBytes ?? DEFAULT_BODY_BYTES);
    if (typeof body !== "string")
      return body.failed === "gone"
        ? undefined
        : send(response, this.#toOutgoing(TOO_LARGE, request));
    this.#sightings.see(route.operation, request, body);
    if (this.#options.latencyMs !== undefined && this.#options.latencyMs > 0) {
      const there = await delay(this.#deps.clock, this.#options.latencyMs, closing(response)).then(
        () => true,
        () => false,
      );
      if (!there) return;
    }
    const answer = (): Reply => this.#answer({ request, route, path, query, body });
    const fault = this.faults.take(route.operation);
    if (fault === undefined) return send(response, this.#toOutgoing(answer(), request));
    return injectFault(fault, {
      request,
      response,
      clock: this.#deps.clock,
      perform: answer,
      toOutgoing: (reply) => this.#toOutgoing(reply, request),
    });
  }

  #answer({
    request,
    route,
    path,
    query,
    body,
  }: {
    request: ServerRequest;
    route: Route;
    path: string;
    query: string;
    body: string;
  }): Reply {
    const { headers } = request;
    const nowMs = this.#now();
    const early = this.#gate(headers, nowMs);
    if (early !== undefined || this.#bases === undefined)
      return early ?? refusal(503, "Service Unavailable");
    const stateless = headers["x-github-stateless-s2s-token"];
    const call: Call = {
      route,
      path,
      query,
      authorization: headers.authorization,
      stateless: typeof stateless === "string" ? stateless : undefined,
      body,
      nowMs,
      bases: this.#bases[route.prefix],
    };
    return perform(call, this.#parts);
  }

  #gate(headers: ServerRequest["headers"], nowMs: number): Reply | undefined {
    if ((headers["user-agent"] ?? "").trim() === "") return NO_USER_AGENT;
    const version = headers["x-github-api-version"];
    if (version !== undefined && !VERSIONS.includes(String(version)))
      return refusal(
        400,
        `Version ${JSON.stringify(version)} of the API is not supported; supported are ${VERSIONS.join(", ")}.`,
      );
    return this.#parts.limits.crowded(this.#open.size, nowMs);
  }

  #toOutgoing(reply: Reply, { headers }: ServerRequest): Outgoing {
    const requested = headers["x-github-api-version"];
    const version =
      typeof requested === "string" && VERSIONS.includes(requested) ? requested : USUAL_VERSION;
    const encodings = headers["accept-encoding"];
    return this.#responder.toOutgoing(
      reply,
      this.#now(),
      typeof encodings === "string" ? encodings : undefined,
      version,
    );
  }
}
