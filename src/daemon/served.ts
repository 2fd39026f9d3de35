/**
 * All that is served: the services' methods and routes, and who may see them. The gateway and the
 * admin listener each answer for their part of it.
 */
import type { GatewayDeps } from "../../gateway/gateway.ts";
import { apiMetricsEnabled } from "../dedup/config.ts";
import type { Dedup } from "../dedup/service.ts";
import type { Log } from "../kernel/base/log.ts";
import { adminEnabled } from "../kernel/config/admin-keys.ts";
import {
  authToken,
  gatewayAllowedHosts,
  gatewayCorsOrigins,
  gatewayTrustedProxies,
} from "../kernel/config/house-keys.ts";
import type { Pool } from "../kernel/pool/types.ts";
import type { PlainRoute, Service } from "../kernel/service.ts";
import type { Supervisor } from "../kernel/supervisor/component.ts";
import { supportBundleRoute } from "../monitor/support-bundle.ts";
import { adminPlace, countAdminRefusals } from "./admin.ts";
import type { DaemonConfiguration } from "./configuration.ts";
import { duplicatesRoute } from "./pages/duplicates-page.ts";
import type { ProcessHealth } from "./health.ts";
import { indexRoute } from "./pages/index-page.ts";
import { landingPage } from "./pages/landing-page.ts";
import type { PlacedMonitor } from "./monitor.ts";
import type { HouseProfiling } from "./profiling.ts";
import { readinessOf } from "./readiness.ts";
import type { DaemonRuntime } from "./runtime.ts";
import { metricsRoute, type HouseTelemetry } from "./telemetry.ts";
import type { PlacedTokens } from "./tokens.ts";
import { stewardVersion } from "./version.ts";

/** What is served of the house. */
export interface ServedHouse extends Pick<DaemonRuntime, "clock" | "ids"> {
  readonly configuration: DaemonConfiguration;
  readonly log: Log;
  readonly pool: Pool;
  readonly supervisor: Supervisor;
  readonly telemetry: HouseTelemetry;
  readonly profiling: HouseProfiling;
  readonly tokens: PlacedTokens | undefined;
  readonly monitor: PlacedMonitor | undefined;
  readonly dedup?: Dedup;
  readonly documents?: Service;
  /** Current component and store states, for the headline of the page. */
  readonly health: () => ProcessHealth;
}

/** What a listener serves of it; to be asked once every service runs. */
export function served(house: ServedHouse, listener: "gateway" | "admin"): GatewayDeps {
  const {
    configuration: { config },
    clock,
    ids,
    log,
    supervisor,
    telemetry,
    monitor,
  } = house;
  const { auth, landing } = adminPlace(config);
  const token = config.get(authToken);
  // What REST does not show, rpc does not either.
  const seen = landing && config.get(adminEnabled);
  return {
    services: [
      ...(house.documents?.rpc ?? []),
      ...(house.tokens?.service()?.rpc ?? []),
      ...(seen ? (monitor?.rpc ?? []) : []),
    ],
    plain: plainRoutes(house, listener),
    probes: {
      live: () => ({ ok: true, reasons: [] }),
      ready: () => readinessOf({ supervisor, monitor }),
      components: () => supervisor.states(),
      serviceReady: (name) => serviceReady(house, name),
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
    pages: { demo: house.configuration.demo.demo, version: stewardVersion() },
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
    ...house
  }: ServedHouse,
  listener: "gateway" | "admin",
): readonly PlainRoute[] {
  const { documents } = house;
  const vault = house.tokens?.service();
  return [
    ...(vault?.plain ?? []),
    ...profiling.routes,
    ...(documents === undefined
      ? []
      : [...documents.plain, metricsRoute(telemetry.telemetry, config.get(apiMetricsEnabled))]),
    ...(monitor === undefined
      ? []
      : [supportBundleRoute({ monitor, pool, clock, version: stewardVersion() })]),
    ...(listener === "gateway" && house.dedup !== undefined
      ? [duplicatesRoute(house.dedup, { demo: demo.demo, version: stewardVersion() })]
      : []),
    ...(listener === "gateway" && adminPlace(config).surface === "house"
      ? [
          indexRoute({
            demo: demo.demo,
            version: stewardVersion(),
            documents: documents !== undefined,
            tokens: vault !== undefined,
          }),
        ]
      : landingPage(
          {
            monitor,
            dedup: house.dedup,
            tokens: house.tokens?.current(),
            lastMints: house.tokens?.lastMints,
            refusing: {
              dedup: documents !== undefined && house.dedup === undefined,
              tokens: vault !== undefined && house.tokens?.current() === undefined,
            },
            health: house.health,
            clock,
          },
          { demo: demo.demo, version: stewardVersion(), api: listener === "gateway" },
        )),
  ];
}

/** Each service by its own measure. */
function serviceReady({ tokens, monitor, dedup }: ServedHouse, name: string): boolean {
  if (name.startsWith("steward.tokens.")) {
    const current = tokens?.current();
    return current !== undefined && current.front.isOpen() && current.health().unable !== true;
  }
  return (name.startsWith("steward.monitor.") ? monitor?.running() : dedup?.healthy()) ?? false;
}
