/** The pull endpoint in the status: its settings and its scrapes. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  MetricsServingSchema,
  ServingConfigSchema,
  type MetricsServing,
  type ServingConfig,
} from "../../gen/steward/monitor/v1/export_pb.ts";
import { formatAddress } from "../../kernel/config/values/address.ts";
import type { Config } from "../../kernel/config/config.ts";
import {
  scrapeAllowUnauthenticated,
  scrapeClientAuth,
  scrapeClientCa,
  scrapeCoalesce,
  scrapeEnabled,
  scrapeListen,
  scrapeMaxInFlight,
  scrapeTimeout,
  scrapeTls,
  scrapeToken,
} from "../../kernel/telemetry/config/scrape-keys.ts";
import type { PullView } from "../../kernel/telemetry/status.ts";

/** Settings are present even while the endpoint is off. */
export function metricsServing(config: Config, pull: PullView | undefined): MetricsServing {
  const serving = create(MetricsServingSchema, {
    enabled: config.get(scrapeEnabled),
    config: servingConfig(config, pull?.address),
  });
  return pull === undefined ? serving : counted(serving, pull);
}

function counted(
  { enabled, config }: MetricsServing,
  {
    requests,
    rejected,
    gatherErrors,
    inFlight,
    lastMs,
    lastAtMs,
    lastGatherError,
    lastGatherErrorAtMs,
  }: PullView,
): MetricsServing {
  const { success, unavailable, error } = requests;
  return create(MetricsServingSchema, {
    enabled,
    ...(config === undefined ? {} : { config }),
    inFlight,
    scrapesTotal: BigInt(success + unavailable + error),
    scrapesShed: BigInt(unavailable),
    scrapesFailed: BigInt(error),
    authRejected: sum(rejected),
    gatherErrors: sum(gatherErrors),
    lastScrapeDurationMs: Math.round(lastMs ?? 0),
    lastGatherError: lastGatherError ?? "",
    ...(lastAtMs === undefined ? {} : { lastScrapeAt: timestampFromMs(lastAtMs) }),
    ...(lastGatherErrorAtMs === undefined
      ? {}
      : { lastGatherErrorAt: timestampFromMs(lastGatherErrorAtMs) }),
  });
}

/** With port 0 the address is the one that the system chose. */
function servingConfig(config: Config, bound: string | undefined): ServingConfig {
  const listen = config.get(scrapeListen);
  return create(ServingConfigSchema, {
    allowUnauthenticated: config.get(scrapeAllowUnauthenticated),
    authTokenSet: config.get(scrapeToken) !== undefined,
    clientAuthMode: config.get(scrapeClientAuth) ?? "",
    clientCaConfigured: config.get(scrapeClientCa) !== "",
    coalesceGather: config.get(scrapeCoalesce),
    listen: listen.port === 0 && bound !== undefined ? bound : formatAddress(listen),
    maxRequestsInFlight: config.get(scrapeMaxInFlight),
    timeoutMs: config.get(scrapeTimeout),
    tlsEnabled: config.get(scrapeTls.certFile) !== "",
  });
}

function sum(counts: Readonly<Record<string, number | undefined>>): bigint {
  return BigInt(Object.values(counts).reduce<number>((total, count) => total + (count ?? 0), 0));
}
