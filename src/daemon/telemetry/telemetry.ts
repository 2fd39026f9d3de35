/** The process's telemetry as configured: export, and the route that Prometheus scrapes. */
import { Access } from "../../gen/steward/options/v1/options_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { RootLog } from "../../kernel/base/log.ts";
import type { Config } from "../../kernel/config/config.ts";
import { readKeyGroup } from "../../kernel/config/key-group.ts";
import type { Schema } from "../../kernel/config/key.ts";
import { ambientSecrets, configuredSecrets } from "../../kernel/config/secrets.ts";
import {
  tracingEnabled,
  samplingOf,
  tracingRemoteParent,
} from "../../kernel/telemetry/config/tracing-keys.ts";
import type { Job } from "../../kernel/jobs/types.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type { Listener } from "../../kernel/listen/listener.ts";
import type { PlainRoute } from "../../kernel/service.ts";
import type { StateFactory } from "../../kernel/state/types.ts";
import type { Supervisor } from "../../kernel/supervisor/component.ts";
import { acceptedFormat } from "../../kernel/telemetry/exposition/text.ts";
import {
  reportCertificate,
  reportComponents,
  reportPool,
} from "../../kernel/telemetry/report/service-report.ts";
import { createJobsReport } from "../../kernel/telemetry/report/jobs-report.ts";
import { createRequestObserver, reportPort } from "../../kernel/telemetry/report/requests.ts";
import type { ReportedPort, RequestObserver } from "../../kernel/telemetry/report/requests.ts";
import { reportProcess } from "../../kernel/telemetry/report/runtime-report.ts";
import { reportState } from "../../kernel/telemetry/report/state-report.ts";
import { reportTelemetry } from "../../kernel/telemetry/report/telemetry-report.ts";
import { createTelemetry } from "../../kernel/telemetry/telemetry.ts";
import type { Telemetry } from "../../kernel/telemetry/telemetry.ts";
import type { TelemetryOptions } from "../../kernel/telemetry/options.ts";
import type { Tracing } from "../../kernel/telemetry/tracing/tracing.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import { networks } from "../../monitor/config/network-keys.ts";
import { privacy } from "../../monitor/config/privacy-keys.ts";
import { vpn } from "../../monitor/config/provider-keys.ts";
import { ingressWal } from "../../monitor/ingress/config/ingress-keys.ts";
import { createLineRedaction } from "./line-redaction.ts";
import { processScope, telemetryOptions, exportsSelfMetrics } from "./telemetry-options.ts";

/** Metric families that `/api/v1/metrics` shows. */
const SHOWN: readonly string[] = [
  "svc.sync.",
  "svc.analysis.",
  "svc.jobs_total",
  "svc.jobs.",
  "svc.ai.",
  "svc.paperless.",
  "svc.documents_count",
  "svc.duplicates.",
  "svc.archive.",
  "paperless_",
  "process.",
  "svc.runtime.",
  "svc.build_info",
  "svc.up",
];

export interface ProcessTelemetryDeps {
  readonly config: Config;
  /** Every configuration key; values of secret keys are redacted in all lines. */
  readonly schema: Schema;
  /** Absent in a command that has no pool. */
  readonly pool?: Pool;
  readonly clock: Clock;
  readonly log: RootLog;
  readonly version: string;
  /** Whether metrics may be scraped. */
  readonly pull: boolean;
  /** Overrides the configured exporters. */
  readonly options?: TelemetryOptions;
}

/** Telemetry with the process's own scope, and the hooks by which components report. */
export interface ProcessTelemetry {
  readonly telemetry: Telemetry;
  /** The process's own scope; services add their metrics to it. */
  readonly scope: Scope;
  /** Spans of work; undefined while tracing is off. */
  readonly tracing: Tracing | undefined;
  /** Observes the gateway's requests. */
  readonly observe: RequestObserver;
  /** Called at each change of a job. */
  readonly jobChanged: (job: Job) => void;
  /** Returns the factory, with metrics for every store that it opens. */
  reportState(state: StateFactory): StateFactory;
  /** Reports the gateway's port and certificate until the process ends. */
  reportPort(port: ReportedPort & Pick<Listener, "certificate">): void;
  /** Reports the certificate of another listener until the process ends. */
  reportCertificate(listener: string, certificate: Listener["certificate"]): void;
  /** Reports component failures until the process ends. */
  reportComponents(supervisor: Pick<Supervisor, "states">): void;
}

/** What the ingress log applied cannot be applied again: its log records are kept. */
function daemonOptions(config: Config, pull: boolean): TelemetryOptions {
  const { logs, ...options } = telemetryOptions(config, pull);
  return logs === undefined
    ? options
    : { ...options, logs: { ...logs, keeps: config.get(ingressWal.enabled) } };
}

/** Logs are exported when a receiver is configured; spans too when tracing is on. */
export async function createProcessTelemetry(
  deps: ProcessTelemetryDeps,
): Promise<ProcessTelemetry> {
  const { config, clock, log, version } = deps;
  const options = deps.options ?? daemonOptions(config, deps.pull);
  const telemetry = createTelemetry({ clock, log: log.child("telemetry") }, options);
  const scope = telemetry.scope(processScope(config, { version, environment: process.env }));
  const itself = exportsSelfMetrics(config);
  if (itself) {
    reportProcess(scope, { version });
    reportTelemetry(scope, telemetry);
    reportCertificate(scope, "metrics", () => telemetry.status().ledger?.pull?.certificate);
  }
  if (deps.pool !== undefined) reportPool(scope, deps.pool);
  log.conceal([...configuredSecrets(config, deps.schema), ...ambientSecrets(process.env)]);
  if (options.logs !== undefined) exportLines(log, telemetry, config);
  const tracing = await tracingOf(config, telemetry);
  if (tracing !== undefined) log.relate(() => tracing.fields());
  return {
    telemetry,
    scope,
    tracing,
    jobChanged: createJobsReport(scope),
    observe: createRequestObserver({ scope, clock, ...(tracing === undefined ? {} : { tracing }) }),
    reportState: (state) => reportState(scope, state, clock),
    reportPort(port) {
      reportPort(scope, port);
      if (itself) reportCertificate(scope, "gateway", () => port.certificate());
    },
    reportCertificate(listener, certificate) {
      if (itself) reportCertificate(scope, listener, certificate);
    },
    reportComponents(supervisor) {
      if (itself)
        reportComponents(scope, () =>
          supervisor.states().map(({ name, crashes }) => ({
            name,
            errors:
              crashes +
              (name === telemetry.pull?.name
                ? (telemetry.status().ledger?.pull?.failures ?? 0)
                : 0),
          })),
        );
    },
  };
}

function exportLines(log: RootLog, telemetry: Telemetry, config: Config): void {
  const names = [config.get(vpn.network), ...config.list(networks).map(({ name }) => name)];
  const redact = createLineRedaction(readKeyGroup(config, privacy), names);
  log.tap((line) => telemetry.line(redact === undefined ? line : redact(line)));
}

/** Loads the OpenTelemetry SDK only when tracing is on. */
async function tracingOf(config: Config, telemetry: Telemetry): Promise<Tracing | undefined> {
  if (!config.get(tracingEnabled)) return undefined;
  const { createTracing } = await import("../../kernel/telemetry/tracing/tracing.ts");
  return createTracing(
    {
      ...samplingOf(config),
      background: samplingOf(config, "background"),
      remoteParent: config.get(tracingRemoteParent),
    },
    (make) => telemetry.span(make),
  );
}

/** The metrics route without its handler. */
export const METRICS_ROUTE: Omit<PlainRoute, "handle"> = {
  verb: "GET",
  template: "/api/v1/metrics",
  access: Access.OPERATOR,
  dialect: "dedup",
  describe: {
    operationId: "getMetrics",
    tag: "SystemService",
    text: "Returns the metrics of the process for Prometheus",
    others: { 404: "`dedup.metrics_endpoint.enabled` is not set." },
    answer: "Prometheus text, or OpenMetrics where `Accept` prefers it.",
    contentType: "text/plain",
  },
};

/** `/api/v1/metrics`: the exposition, or 404 as text when it is off. */
export function metricsRoute(telemetry: Telemetry, enabled: boolean): PlainRoute {
  return {
    ...METRICS_ROUTE,
    async handle(request, call) {
      if (!enabled) {
        const body =
          "the metrics endpoint is off; set OTEL_METRICS_SCRAPE_ENABLED=true or dedup.metrics_endpoint.enabled\n";
        return await Promise.resolve({
          status: 404,
          headers: { "content-type": "text/plain; charset=utf-8" },
          body,
        });
      }
      const accept = request.headers["accept"];
      const { contentType, body } = telemetry.expose(
        {
          format: acceptedFormat(Array.isArray(accept) ? accept.join(",") : accept),
          scopes: ["process"],
          metrics: SHOWN,
        },
        call.signal,
      );
      return { status: 200, headers: { "content-type": contentType }, body };
    },
  };
}
