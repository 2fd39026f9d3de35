/** What each listener serves: the services' methods and routes, and their access rules. */
import type { GatewayDeps } from "../../../gateway/gateway.ts";
import { aiEnabled } from "../../dedup/ai/keys.ts";
import { EventService } from "../../gen/steward/monitor/v1/event_service_pb.ts";
import { FlowService } from "../../gen/steward/monitor/v1/flow_service_pb.ts";
import { OverviewService } from "../../gen/steward/tokens/v1/overview_service_pb.ts";
import { apiMetricsEnabled } from "../../dedup/config.ts";
import type { Log } from "../../kernel/base/log.ts";
import { adminEnabled, adminRefreshInterval } from "../config/admin-keys.ts";
import {
  authToken,
  gatewayAllowedHosts,
  gatewayCorsOrigins,
  gatewayTrustedProxies,
} from "../../../gateway/config.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type { BoundService, PlainRoute } from "../../kernel/service.ts";
import type { Supervisor } from "../../kernel/supervisor/component.ts";
import { events } from "../../monitor/config/event-keys.ts";
import { flows } from "../../monitor/config/flow-keys.ts";
import { supportBundleRoute } from "../../monitor/support-bundle.ts";
import { adminSurface, countAdminRefusals } from "./admin.ts";
import type { DaemonConfiguration } from "../configuration.ts";
import type { HostedDedup } from "../services/dedup.ts";
import type { ProcessHealth } from "../health.ts";
import { devicesPageRoutes } from "../pages/devices-page.ts";
import { eventsPageRoute } from "../pages/events-page.ts";
import { flowsPageRoute } from "../pages/flows-page.ts";
import { indexRoute } from "../pages/index-page.ts";
import type { PageLink } from "../../../gateway/web/frame.ts";
import { landingRoute, monitorRoutes } from "../../../gateway/web/landing/route.ts";
import type { CountHistory } from "../history/count-history.ts";
import { landingDeps } from "../pages/landing-page.ts";
import type { HostedMonitor } from "../services/monitor.ts";
import type { ProcessProfiling } from "../telemetry/profiling.ts";
import { tokensPageRoute } from "../pages/tokens-page.ts";
import { reviewRoutes } from "../pages/review-pages.ts";
import { readinessOf } from "../readiness.ts";
import type { DaemonRuntime } from "../runtime.ts";
import { metricsRoute, type ProcessTelemetry } from "../telemetry/telemetry.ts";
import type { HostedTokens } from "../services/tokens.ts";
import { stewardVersion } from "../version.ts";

export interface ServedDaemon extends Pick<DaemonRuntime, "clock" | "ids"> {
  readonly configuration: DaemonConfiguration;
  readonly log: Log;
  readonly pool: Pool;
  readonly supervisor: Supervisor;
  readonly telemetry: ProcessTelemetry;
  readonly profiling: ProcessProfiling;
  readonly tokens: HostedTokens | undefined;
  readonly monitor: HostedMonitor | undefined;
  readonly dedup: HostedDedup | undefined;
  /** Current component and store states, for the headline of the page. */
  readonly health: () => ProcessHealth;
  readonly history: CountHistory | undefined;
}

type Listener = "gateway" | "admin";

/** The services and pages of one listener. Needs every service to be running. */
export function served(daemon: ServedDaemon, listener: Listener): GatewayDeps {
  const {
    configuration: { config },
    clock,
    ids,
    log,
    supervisor,
    telemetry,
    monitor,
  } = daemon;
  const { auth, landing } = adminSurface(config);
  const token = config.get(authToken);
  // Methods hidden from REST are hidden from rpc too.
  const seen = landing && config.get(adminEnabled);
  const shown = shownBy(daemon, listener);
  return {
    services: [
      ...(daemon.dedup?.service()?.rpc ?? []),
      ...(daemon.tokens?.service()?.rpc ?? []).filter(
        ({ desc }) => seen || desc !== OverviewService,
      ),
      ...(seen ? monitorServices(daemon) : []),
    ],
    plain: plainRoutes(daemon, listener, shown),
    probes: {
      live: () => ({ ok: true, reasons: [] }),
      ready: () => readinessOf({ supervisor, monitor }),
      components: () => supervisor.states(),
      serviceReady: (name) => serviceReady(daemon, name),
    },
    auth: {
      ...(token === undefined ? {} : { token }),
      ...auth,
      allowedHosts: config.get(gatewayAllowedHosts),
      allowedOrigins: config.get(gatewayCorsOrigins),
    },
    trustedProxies: config.get(gatewayTrustedProxies),
    log: log.child("gateway"),
    clock,
    ids,
    observe: telemetry.observe,
    landing,
    pages: {
      demo: daemon.configuration.demo.demo,
      version: stewardVersion(),
      links: shown.links,
    },
    adminRefused: countAdminRefusals(config, telemetry.scope),
  };
}

function plainRoutes(
  {
    configuration: { config, demo },
    telemetry,
    profiling,
    pool,
    monitor,
    clock,
    ...daemon
  }: ServedDaemon,
  listener: Listener,
  { isAdmin, watched, hasEvents, hasFlows, links }: Shown,
): readonly PlainRoute[] {
  const documents = daemon.dedup?.service();
  const dedup = daemon.dedup?.current();
  const vault = daemon.tokens?.service();
  const facts = { demo: demo.demo, version: stewardVersion() };
  const { surface } = adminSurface(config);
  const ai = config.get(aiEnabled);
  const live = { ...facts, refreshMs: config.get(adminRefreshInterval), links };
  const status = landingDeps({
    monitor,
    dedup,
    tokens: daemon.tokens?.current(),
    lastMints: daemon.tokens?.lastMints,
    history: daemon.history,
    hasEvents,
    refusing: {
      dedup: documents !== undefined && dedup === undefined,
      tokens: vault !== undefined && daemon.tokens?.current() === undefined,
    },
    health: daemon.health,
    clock,
  });
  const shown = { ...facts, links, api: listener === "gateway" };
  return [
    ...(vault?.plain ?? []),
    ...profiling.routes,
    ...(documents === undefined
      ? []
      : [...documents.plain, metricsRoute(telemetry.telemetry, config.get(apiMetricsEnabled))]),
    ...(monitor === undefined
      ? []
      : [supportBundleRoute({ monitor, pool, clock, version: stewardVersion() })]),
    ...(listener === "gateway" && documents !== undefined
      ? reviewRoutes(dedup, {
          ...facts,
          clock,
          ai,
          links,
        })
      : []),
    ...(watched === undefined
      ? []
      : [
          ...devicesPageRoutes({ monitor: watched, clock }, { ...facts, links }),
          ...monitorRoutes(status, { ...shown, alone: listener === "admin" }),
        ]),
    ...(watched === undefined || !hasEvents
      ? []
      : [eventsPageRoute({ monitor: watched, clock }, live)]),
    ...(watched === undefined || !hasFlows
      ? []
      : [flowsPageRoute({ monitor: watched, clock }, live), ...watched.flowsCsv]),
    ...(isAdmin && vault !== undefined ? [tokensPageRoute({ tokens: vault, clock }, live)] : []),
    ...(listener === "gateway" && surface === "gateway"
      ? [
          indexRoute({
            ...facts,
            documents: documents !== undefined,
            ai,
            tokens: vault !== undefined,
            links,
          }),
        ]
      : []),
    ...(listener === "gateway" && surface !== "gateway" ? [landingRoute(status, shown)] : []),
    ...(listener === "admin" && watched === undefined ? [landingRoute(status, shown)] : []),
  ];
}

/** What a listener shows of the monitor, and the links to all its pages. */
interface Shown {
  /** Whether it has the administrator's pages. */
  readonly isAdmin: boolean;
  readonly watched: HostedMonitor | undefined;
  readonly hasEvents: boolean;
  readonly hasFlows: boolean;
  readonly links: readonly PageLink[];
}

function shownBy(
  { configuration: { config }, monitor, dedup, tokens }: ServedDaemon,
  listener: Listener,
): Shown {
  const { surface, landing } = adminSurface(config);
  const isAdmin = landing && (listener === "admin" || surface === "all");
  const watched = isAdmin ? monitor : undefined;
  const hasEvents = watched !== undefined && config.get(events.enabled);
  const hasFlows = watched?.hasFlows === true;
  const links = pageLinks(listener, {
    status: isAdmin,
    overview: surface === "gateway",
    monitor: watched !== undefined,
    documents: dedup?.service() !== undefined,
    ai: config.get(aiEnabled),
    events: hasEvents,
    flows: hasFlows,
    tokens: isAdmin && tokens?.service() !== undefined,
  });
  return { isAdmin, watched, hasEvents, hasFlows, links };
}

/** Which pages there are. */
interface Pages {
  readonly status: boolean;
  /** At `/` of a gateway that does not serve the status page. */
  readonly overview: boolean;
  readonly monitor: boolean;
  readonly documents: boolean;
  readonly ai: boolean;
  readonly events: boolean;
  readonly flows: boolean;
  readonly tokens: boolean;
}

/** The pages of a listener, in the order of their navigation. */
function pageLinks(listener: Listener, pages: Pages): readonly PageLink[] {
  const isGateway = listener === "gateway";
  const links: readonly (readonly [isServed: boolean, href: string, label: string])[] = [
    [isGateway && pages.overview, "/", "Overview"],
    [pages.status, "/", isGateway || !pages.monitor ? "Status" : "Monitor"],
    [isGateway && pages.monitor, "/monitor", "Monitor"],
    [pages.monitor, "/devices", "Devices"],
    [pages.flows, "/flows", "Flows"],
    [pages.events, "/events", "Events"],
    [isGateway && pages.documents, "/duplicates", "Duplicates"],
    [isGateway && pages.documents, "/documents", "Documents"],
    [isGateway && pages.documents && pages.ai, "/suggestions", "Suggestions"],
    [pages.tokens, "/tokens", "Tokens"],
    [isGateway, "/docs", "API"],
  ];
  return links.flatMap(([isServed, href, label]) => (isServed ? [{ href, label }] : []));
}

/**
 * What the owner's socket serves: everything without a credential, since whoever can connect may
 * read the state folder; a Vault token is still asked for where the contract has one.
 */
export function servedToOwner(daemon: ServedDaemon, backup: PlainRoute): GatewayDeps {
  const gateway = served(daemon, "gateway");
  const monitor = monitorServices(daemon);
  return {
    ...gateway,
    services: [...new Set([...gateway.services, ...monitor])],
    plain: [...gateway.plain, backup],
    auth: { allowedHosts: [] },
    trustedProxies: [],
    surface: "all",
    landing: true,
  };
}

/** The explorers of events and flows are unknown while these are not stored. */
function monitorServices({ monitor, configuration }: ServedDaemon): readonly BoundService[] {
  const isOff = (service: BoundService): boolean =>
    (service.desc === EventService && !configuration.config.get(events.enabled)) ||
    (service.desc === FlowService && !configuration.config.get(flows.enabled));
  return (monitor?.rpc ?? []).filter((service) => !isOff(service));
}

/** Each service has its own readiness rule. */
function serviceReady({ tokens, monitor, dedup }: ServedDaemon, name: string): boolean {
  if (name.startsWith("steward.tokens.")) {
    const current = tokens?.current();
    return current !== undefined && current.gate.isOpen() && current.health().unable !== true;
  }
  return (
    (name.startsWith("steward.monitor.") ? monitor?.running() : dedup?.current()?.healthy()) ??
    false
  );
}
