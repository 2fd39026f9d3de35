/**
 * The gateway: one listener on which REST, Connect, gRPC-Web, gRPC and the probes are served under
 * the same rules.
 */
import type { Clock } from "../src/kernel/base/clock.ts";
import type { Ids } from "../src/kernel/base/ids.ts";
import type { Log } from "../src/kernel/base/log.ts";
import type { Address } from "../src/kernel/config/values/address.ts";
import type { SocketPath } from "../src/kernel/listen/bind.ts";
import { contentPolicy } from "../src/kernel/listen/headers/content-policy.ts";
import { refuse, type ServerRequest, type ServerResponse } from "../src/kernel/listen/exchange.ts";
import type { Admitted, Handler, Refuse } from "../src/kernel/listen/handler.ts";
import { OPEN_STRANGER, type LimitOverrides } from "../src/kernel/listen/admission/limits.ts";
import { createListener, type Listener, type ListenTls } from "../src/kernel/listen/listener.ts";
import { refuseAsText } from "../src/kernel/listen/requests.ts";
import type { Classify } from "../src/kernel/listen/admission/shares.ts";
import type { BoundService, PlainRoute } from "../src/kernel/service.ts";
import type { RequestObserver } from "../src/kernel/telemetry/report/requests.ts";
import { adminRefusal, type AdminRefusal } from "./access/admin-refusal.ts";
import { createAuthorize, type Authorize, type AuthOptions } from "./access/authorize.ts";
import { clientAddress, createTrustedProxies } from "./access/client-address.ts";
import { createCors, type CorsDecision } from "./access/cors.ts";
import { isServedBy, type Surface } from "./access/surface.ts";
import { createClassifier } from "./admission.ts";
import { comments } from "../src/gen/comments.ts";
import { describeRoutes } from "./describe/describe.ts";
import { dialectOf, dialectOfPath } from "./dialects/by-name.ts";
import { createHealth } from "./health.ts";
import { methodTable, type MethodTable } from "./methods.ts";
import { goneSignal, readHead, restRequest, writeAnswer, type Head } from "./node-http.ts";
import { answerProbe, probeFor, type ProbeResult, type Probes } from "./probe.ts";
import { createReflection } from "./reflection.ts";
import { createRest, endUnread, type Rest } from "./rest.ts";
import { createRpc, type Rpc } from "./rpc.ts";
import { createWatch } from "./watch.ts";
import { pageAssets } from "./web/assets.ts";
import { createFrame, type PageFacts } from "./web/frame.ts";
import { notFoundAnswer } from "./web/not-found.ts";

export interface GatewayDeps {
  readonly services: readonly BoundService[];
  readonly plain: readonly PlainRoute[];
  readonly probes: Probes;
  readonly auth: AuthOptions;
  /**
   * `gateway.trusted_proxies`: addresses and networks of proxies whose forwarding headers are
   * trusted; default none.
   */
  readonly trustedProxies?: readonly string[];
  readonly log: Log;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Observes each request. */
  readonly observe?: RequestObserver;
  /** The part of the routes that this listener serves; default all. */
  readonly surface?: Surface;
  /** Whether the status page and its parts are served; default true. */
  readonly landing?: boolean;
  /** Shown in the header of all pages; default no demo, no version and no links. */
  readonly pages?: PageFacts;
  /** Called with the reason when the admin surface refuses a request. */
  readonly adminRefused?: (reason: AdminRefusal) => void;
}

/** The content policy of responses that are not pages. */
const NO_PAGE = contentPolicy();

export interface GatewayOptions {
  /** On a Unix socket every client is the owner: whoever can connect may read the state folder. */
  readonly address: Address | SocketPath;
  /** `gateway.tls.*`; plain HTTP if absent. */
  readonly tls?: ListenTls;
  readonly limits?: LimitOverrides;
}

export type Gateway = Listener;

/**
 * Throws when a declaration is wrong, and `invalid` for a non-loopback address without a token.
 * Opens nothing before `start`.
 */
export function createGateway(deps: GatewayDeps, options: GatewayOptions): Gateway {
  const draining = new AbortController();
  const isLocal = "path" in options.address;
  const surfaces = createSurfaces({ ...deps, isLocal }, draining.signal);
  const isAdmin = deps.surface === "admin";
  const listener = createListener(
    {
      ...(isLocal
        ? { name: "owner", setting: "state.directory" }
        : isAdmin
          ? { name: "admin", setting: "admin.listen" }
          : { name: "gateway", setting: "gateway.listen" }),
      address: options.address,
      credential: deps.auth.token !== undefined || (isAdmin && deps.auth.adminToken !== undefined),
      ...(options.tls === undefined ? {} : { tls: options.tls }),
      limits:
        deps.auth.token === undefined
          ? { ...options.limits, stranger: { ...OPEN_STRANGER, ...options.limits?.stranger } }
          : (options.limits ?? {}),
      rescue: ["LIST", "SCAN"],
      classify: surfaces.classify,
      refuse: surfaces.refuse,
      prepare: (request, response) =>
        setCommonHeaders(response, requestIdOf(request, deps.ids), options.tls !== undefined),
      handle: surfaces.handle,
    },
    deps,
  );
  listener.draining.addEventListener("abort", () => draining.abort(listener.draining.reason), {
    once: true,
  });
  return listener;
}

interface Surfaces {
  readonly rest: Rest;
  readonly rpc: Rpc;
  readonly probe: (head: Head) => ReturnType<typeof probeFor>;
  readonly cors: (head: Head) => CorsDecision;
  readonly draining: AbortSignal;
  readonly headOf: (request: ServerRequest) => Head | undefined;
}

/** Handlers of the protocols that the listener serves. */
interface Front {
  readonly classify: Classify;
  readonly refuse: Refuse;
  readonly handle: Handler;
}

function createSurfaces(
  deps: GatewayDeps & { readonly isLocal: boolean },
  draining: AbortSignal,
): Front {
  const { services, plain, log, clock, probes } = deps;
  const authorize = counted(createAuthorize(deps.auth), deps);
  const ready = (): ProbeResult =>
    draining.aborted ? { ok: false, reasons: ["stopping"] } : probes.ready();
  const { surface = "all", landing = true } = deps;
  const rpc = surface === "admin" ? [] : services;
  const descs = rpc.map((service) => service.desc);
  const assets = pageAssets();
  const frame = createFrame(deps.pages ?? { demo: false, version: "" }, assets);
  const described = describeRoutes(() => methodTable(services, plain), comments, frame);
  const table = methodTable(services, [...plain, assets.route, ...described], (route) =>
    isServedBy(surface, landing, route),
  );
  const health = createHealth(
    {
      services: descs.map((desc) => desc.typeName),
      ready: () => ready().ok,
      serviceReady: (name) => !draining.aborted && probes.serviceReady(name),
    },
    clock,
  );
  const conversations = createReflection([...descs, health.desc]);
  const trusted = createTrustedProxies(deps.trustedProxies ?? []);
  const headOf = rememberedHeads((request) =>
    readHead(request, (peer, headers) => clientAddress(peer, headers, trusted)),
  );
  const surfaces: Surfaces = {
    draining,
    headOf,
    cors: createCors(deps.auth.allowedOrigins ?? []),
    probe: (head) =>
      probeFor(
        { live: () => probes.live(), ready, components: () => probes.components?.() ?? [] },
        head,
      ),
    rest: createRest({
      table,
      authorize,
      log,
      clock,
      notFound: (request, hint) => notFoundAnswer(frame, request, hint),
    }),
    rpc: createRpc({
      services: [...rpc, health],
      conversations,
      authorize,
      draining,
      log,
      failed: (response, code) => watch.failed(response, code),
    }),
  };
  const watch = createWatch({
    table,
    rpcPaths: surfaces.rpc.paths,
    ownsRpc: (path) => surfaces.rpc.owns(path),
    log,
    clock,
    observe: deps.observe,
  });
  return {
    classify: createClassifier({
      auth: deps.auth,
      isLocal: deps.isLocal,
      trusted,
      table,
      services: [...rpc, health],
      conversations: conversations.map(({ method }) => method),
      headOf,
    }),
    refuse: refusal(surfaces, table),
    async handle(request, response, admitted) {
      // Set with the default response headers.
      const requestId = String(response.getHeader("x-request-id"));
      await watch.run(request, response, requestId, () =>
        serve(surfaces, { request, response, requestId, admitted }),
      );
    },
  };
}

/** Parses each head once: it is needed before and after admission. */
function rememberedHeads(
  read: (request: ServerRequest) => Head | undefined,
): (request: ServerRequest) => Head | undefined {
  const heads = new WeakMap<ServerRequest, { readonly head: Head | undefined }>();
  return (request) => {
    const known = heads.get(request);
    if (known !== undefined) return known.head;
    const head = read(request);
    heads.set(request, { head });
    return head;
  };
}

/** Answers a request that was not admitted, in the style of its surface. */
function refusal({ headOf, rpc, cors }: Surfaces, table: MethodTable): Refuse {
  return (request, response, error) => {
    const head = headOf(request);
    if (head === undefined) return refuseAsText(request, response, error);
    setHeaders(response, cors(head).headers);
    if (rpc.owns(head.path)) return rpc.refuse(request, response, error);
    const match = table.match(head.method, head.path);
    const dialect =
      match.kind === "found" ? dialectOf(match.route.dialect) : dialectOfPath(head.path);
    const { status, headers, body } = dialect.failure(error, { path: head.path });
    response.writeHead(status, { ...headers, "content-length": String(Buffer.byteLength(body)) });
    response.end(head.method === "HEAD" ? "" : body);
  };
}

function setHeaders(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

interface Exchange {
  readonly request: ServerRequest;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly admitted: Admitted;
}

async function serve(
  surfaces: Surfaces,
  { request, response, requestId, admitted }: Exchange,
): Promise<void> {
  const head = surfaces.headOf(request);
  if (head === undefined)
    return refuse(
      request,
      response,
      400,
      "the request needs one Host and a path that begins with a slash",
    );
  const cors = surfaces.cors(head);
  setHeaders(response, cors.headers);
  if (cors.preflight) return void response.writeHead(204).end();
  const probe = surfaces.probe(head);
  if (probe !== undefined) return answerProbe(probe, request, response);
  if (surfaces.rpc.owns(head.path))
    return surfaces.rpc.handle(request, response, head, { requestId, admitted });
  const gone = goneSignal(response);
  const answer = await surfaces.rest.handle(
    restRequest(request, head, { signal: gone, requestId, body: admitted.body }),
  );
  const ending =
    admitted.expired === undefined ? [surfaces.draining] : [surfaces.draining, admitted.expired];
  if (response.headersSent || gone.aborted) endUnread(answer.body);
  else await writeAnswer(request, response, answer, { gone, ending });
}

/**
 * Counts refusals by access control: all by the error's code, the admin surface's also by its own
 * reasons.
 */
function counted(
  authorize: Authorize,
  { observe, adminRefused }: Pick<GatewayDeps, "observe" | "adminRefused">,
): Authorize {
  return (access, dialect, request, route) => {
    const refusal = authorize(access, dialect, request, route);
    if (refusal === undefined) return undefined;
    observe?.refused(refusal.code);
    const reason = adminRefusal(access, request, refusal);
    if (reason !== undefined) adminRefused?.(reason);
    return refusal;
  };
}

/** The client's own id when it is a plain word of at most 64 characters, else a UUID. */
function requestIdOf(request: ServerRequest, ids: Ids): string {
  const asked = request.headers["x-request-id"];
  return typeof asked === "string" && /^[A-Za-z0-9._-]{1,64}$/.test(asked) ? asked : ids.uuid();
}

// Defaults: a response that sets its own, like a page or a cached thumbnail, replaces them.
function setCommonHeaders(response: ServerResponse, requestId: string, secured: boolean): void {
  // Ignored over plain HTTP, and behind a proxy that terminates TLS it is the proxy's
  // responsibility.
  if (secured) response.setHeader("strict-transport-security", "max-age=31536000");
  response.setHeader("x-request-id", requestId);
  response.setHeader("x-content-type-options", "nosniff");
  response.setHeader("x-frame-options", "DENY");
  response.setHeader("referrer-policy", "no-referrer");
  response.setHeader("content-security-policy", NO_PAGE);
  response.setHeader("cache-control", "no-store");
}
