/** The process's telemetry as it is configured: where metrics are pushed, and the route that they are pulled from. */
import { readFileSync } from "node:fs";
import { Access } from "../gen/steward/options/v1/options_pb.ts";
import type { Clock } from "../kernel/base/clock.ts";
import type { RootLog } from "../kernel/base/log.ts";
import { Secret } from "../kernel/base/secret.ts";
import type { Config } from "../kernel/config/config.ts";
import type { Schema } from "../kernel/config/key.ts";
import { otlpLogAttributeBytes, otlpLogBodyBytes, otlpMetricBatchSize, otlpMetricInterval } from "../kernel/config/otlp-keys.ts";
import { batchSettings, exporterOptions } from "../kernel/config/otlp-options.ts";
import type { ExporterOptions } from "../kernel/config/otlp-options.ts";
import { tracingEnabled, tracingRemoteParent, tracingSampler, tracingSamplerArg } from "../kernel/config/tracing-keys.ts";
import type { Job } from "../kernel/jobs/types.ts";
import type { Pool } from "../kernel/pool/types.ts";
import type { PlainRoute } from "../kernel/service.ts";
import type { StateFactory } from "../kernel/state/types.ts";
import { acceptedFormat } from "../kernel/telemetry/exposition/text.ts";
import { reportPool, reportProcess, reportTelemetry } from "../kernel/telemetry/house-report.ts";
import { createJobsReport } from "../kernel/telemetry/jobs-report.ts";
import type { OtlpTarget, TelemetryOptions } from "../kernel/telemetry/options.ts";
import { createRequestObserver, reportPort } from "../kernel/telemetry/requests.ts";
import type { ReportedPort, RequestObserver } from "../kernel/telemetry/requests.ts";
import { processResource } from "../kernel/telemetry/resource.ts";
import { reportState } from "../kernel/telemetry/state-report.ts";
import { createTelemetry } from "../kernel/telemetry/telemetry.ts";
import type { Telemetry } from "../kernel/telemetry/telemetry.ts";
import type { Tracing } from "../kernel/telemetry/tracing.ts";
import type { Scope } from "../kernel/telemetry/types.ts";

/** The families that `/api/v1/metrics` shows (RESOLUTIONS §2, Metrics endpoints). */
const SHOWN: readonly string[] = [
  "svc.sync.", "svc.analysis.", "svc.jobs_total", "svc.jobs.", "svc.ai.", "svc.paperless.", "svc.documents_count", "svc.duplicates.", "svc.archive.", "paperless_",
  "process.", "svc.runtime.", "svc.build_info", "svc.up",
];

/** What telemetry is made of. */
export interface HouseTelemetryDeps {
  readonly config: Config;
  /** Every key of the configuration; the values of its secrets are kept out of all lines. */
  readonly schema: Schema;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: RootLog;
  readonly version: string;
  /** Whether anything may be pulled. */
  readonly pull: boolean;
}

/** Telemetry with the process's own scope open and reported, and what the parts of the house tell it by. */
export interface HouseTelemetry {
  readonly telemetry: Telemetry;
  /** The process's own, for services that bring rows of their own. */
  readonly scope: Scope;
  /** For the gateway. */
  readonly observe: RequestObserver;
  /** For the jobs of each service. */
  readonly jobChanged: (job: Job) => void;
  /** The factory with what it opens reported. */
  reportState(state: StateFactory): StateFactory;
  /** Reports the gateway's port for as long as the process lives. */
  reportPort(port: ReportedPort): void;
}

/** Lines of the log are exported when there is a receiver for them, spans when tracing is on too. */
export async function createHouseTelemetry(deps: HouseTelemetryDeps): Promise<HouseTelemetry> {
  const { config, clock, log, version } = deps;
  const options = optionsOf(config, deps.pull);
  const telemetry = createTelemetry({ clock, log: log.child("telemetry") }, options);
  const scope = telemetry.scope({ name: "process", resource: processResource(), logResource: { "service.version": version }, constants: {} });
  reportProcess(scope, { version });
  reportPool(scope, deps.pool);
  reportTelemetry(scope, telemetry);
  log.conceal(secretsAmong(deps.schema.map((key) => config.get(key))));
  if (options.logs !== undefined) log.tap((line) => telemetry.line(line));
  const tracing = await tracingOf(config, telemetry);
  if (tracing !== undefined) log.relate(() => tracing.fields());
  return {
    telemetry, scope, jobChanged: createJobsReport(scope), observe: createRequestObserver({ scope, clock, ...(tracing === undefined ? {} : { tracing }) }),
    reportState: (state) => reportState(scope, state, clock),
    reportPort: (port) => void reportPort(scope, port),
  };
}

/** The secrets among values, and among those of maps. */
function secretsAmong(values: Iterable<unknown>): Secret[] {
  const found: Secret[] = [];
  for (const value of values) {
    if (value instanceof Secret) found.push(value);
    else if (value instanceof Map) found.push(...secretsAmong(value.values()));
  }
  return found;
}

/** The SDK's tracing is loaded by those who want it. */
async function tracingOf(config: Config, telemetry: Telemetry): Promise<Tracing | undefined> {
  if (!config.get(tracingEnabled)) return undefined;
  const { createTracing } = await import("../kernel/telemetry/tracing.ts");
  return createTracing({ sampler: config.get(tracingSampler), ratio: config.get(tracingSamplerArg), remoteParent: config.get(tracingRemoteParent) }, (make) => telemetry.span(make));
}

function optionsOf(config: Config, pull: boolean): TelemetryOptions {
  const metrics = exporterOptions(config, "metrics");
  const logs = exporterOptions(config, "logs");
  const traces = config.get(tracingEnabled) ? exporterOptions(config, "traces") : undefined;
  return {
    pull,
    ...(metrics === undefined ? {} : { metrics: { ...targetOf(metrics), intervalMs: config.get(otlpMetricInterval), batchSize: config.get(otlpMetricBatchSize) } }),
    ...(logs === undefined ? {} : { logs: { ...targetOf(logs), ...batchSettings(config, "logs"), limits: { body: config.get(otlpLogBodyBytes), attribute: config.get(otlpLogAttributeBytes) } } }),
    ...(traces === undefined ? {} : { traces: { ...targetOf(traces), ...batchSettings(config, "traces") } }),
  };
}

function targetOf({ protocol, endpoint, headers, basic, compression, timeoutMs, retry, tls }: ExporterOptions): OtlpTarget {
  const { insecure, skipVerify, caFile, certFile, keyFile } = tls;
  return {
    protocol, endpoint, compression, timeoutMs, retry,
    headers: { ...Object.fromEntries(headers), ...(basic === undefined ? {} : { authorization: basicAuthorization(basic) }) },
    tls: {
      insecure, insecureSkipVerify: skipVerify,
      ...(caFile === "" ? {} : { ca: readFileSync(caFile, "utf8") }),
      ...(certFile === "" ? {} : { cert: readFileSync(certFile, "utf8") }),
      ...(keyFile === "" ? {} : { key: Secret.of(readFileSync(keyFile, "utf8"), keyFile) }),
    },
  };
}

function basicAuthorization({ user, password }: NonNullable<ExporterOptions["basic"]>): Secret {
  return password.use((value) => Secret.of(`Basic ${Buffer.from(`${user}:${value}`).toString("base64")}`, password.origin));
}

/** `/api/v1/metrics`: the exposition, or while the switch is off 404 as text (contract dedup §4.1, RESOLUTIONS D32). */
export function metricsRoute(telemetry: Telemetry, enabled: boolean): PlainRoute {
  return {
    verb: "GET", template: "/api/v1/metrics", access: Access.OPERATOR, dialect: "dedup",
    async handle(request, call) {
      if (!enabled) {
        const body = "the metrics endpoint is off; set OTEL_METRICS_SCRAPE_ENABLED=true or dedup.metrics_endpoint.enabled\n";
        return await Promise.resolve({ status: 404, headers: { "content-type": "text/plain; charset=utf-8" }, body });
      }
      const accept = request.headers["accept"];
      const { contentType, body } = telemetry.expose({ format: acceptedFormat(Array.isArray(accept) ? accept.join(",") : accept), scopes: ["process"], metrics: SHOWN }, call.signal);
      return { status: 200, headers: { "content-type": contentType }, body };
    },
  };
}
