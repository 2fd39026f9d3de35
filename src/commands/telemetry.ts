/** The process's telemetry as it is configured: where metrics are pushed, and the route that they are pulled from. */
import { readFileSync } from "node:fs";
import { Access } from "../gen/steward/options/v1/options_pb.ts";
import type { Clock } from "../kernel/base/clock.ts";
import { Secret } from "../kernel/base/secret.ts";
import type { Log } from "../kernel/base/log.ts";
import type { Config } from "../kernel/config/config.ts";
import { otlpMetricBatchSize, otlpMetricInterval } from "../kernel/config/otlp-keys.ts";
import { exporterOptions } from "../kernel/config/otlp-options.ts";
import type { ExporterOptions } from "../kernel/config/otlp-options.ts";
import type { Pool } from "../kernel/pool/types.ts";
import type { PlainRoute } from "../kernel/service.ts";
import { acceptedFormat } from "../kernel/telemetry/exposition/text.ts";
import { reportPool, reportProcess, reportTelemetry } from "../kernel/telemetry/house-report.ts";
import type { OtlpTarget, TelemetryOptions } from "../kernel/telemetry/options.ts";
import { processResource } from "../kernel/telemetry/resource.ts";
import { createTelemetry } from "../kernel/telemetry/telemetry.ts";
import type { Telemetry } from "../kernel/telemetry/telemetry.ts";

/** The families that `/api/v1/metrics` shows (RESOLUTIONS §2, Metrics endpoints). */
const SHOWN: readonly string[] = [
  "svc.sync.", "svc.analysis.", "svc.jobs_total", "svc.jobs.", "svc.ai.", "svc.paperless.", "svc.documents_count", "svc.duplicates.", "svc.archive.", "paperless_",
  "process.", "svc.runtime.", "svc.build_info", "svc.up",
];

/** What telemetry is made of. */
export interface HouseTelemetryDeps {
  readonly config: Config;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  /** Whether anything may be pulled. */
  readonly pull: boolean;
}

/** Telemetry with the process's own scope open and reported. */
export function createHouseTelemetry(deps: HouseTelemetryDeps): Telemetry {
  const { config, version } = deps;
  const telemetry = createTelemetry({ clock: deps.clock, log: deps.log }, optionsOf(config, deps.pull));
  const scope = telemetry.scope({ name: "process", resource: processResource(), logResource: { "service.version": version }, constants: {} });
  reportProcess(scope, { version });
  reportPool(scope, deps.pool);
  reportTelemetry(scope, telemetry);
  return telemetry;
}

function optionsOf(config: Config, pull: boolean): TelemetryOptions {
  const metrics = exporterOptions(config, "metrics");
  return { pull, ...(metrics === undefined ? {} : { metrics: { ...targetOf(metrics), intervalMs: config.get(otlpMetricInterval), batchSize: config.get(otlpMetricBatchSize) } }) };
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
