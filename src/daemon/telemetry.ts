/**
 * The process's telemetry as it is configured: where metrics are pushed, and the route that they
 * are pulled from.
 */
import { Access } from "../gen/steward/options/v1/options_pb.ts";
import type { Clock } from "../kernel/base/clock.ts";
import type { RootLog } from "../kernel/base/log.ts";
import type { Config } from "../kernel/config/config.ts";
import type { Schema } from "../kernel/config/key.ts";
import { ambientSecrets, configuredSecrets } from "../kernel/config/secrets.ts";
import {
  tracingEnabled,
  tracingRemoteParent,
  tracingSampler,
  tracingSamplerArg,
} from "../kernel/config/tracing-keys.ts";
import type { Job } from "../kernel/jobs/types.ts";
import type { Pool } from "../kernel/pool/types.ts";
import type { Listener } from "../kernel/listen/listener.ts";
import type { PlainRoute } from "../kernel/service.ts";
import type { StateFactory } from "../kernel/state/types.ts";
import type { Supervisor } from "../kernel/supervisor/component.ts";
import { acceptedFormat } from "../kernel/telemetry/exposition/text.ts";
import {
  reportCertificate,
  reportComponents,
  reportPool,
} from "../kernel/telemetry/house-report.ts";
import { createJobsReport } from "../kernel/telemetry/jobs-report.ts";
import { createRequestObserver, reportPort } from "../kernel/telemetry/requests.ts";
import type { ReportedPort, RequestObserver } from "../kernel/telemetry/requests.ts";
import { reportProcess } from "../kernel/telemetry/runtime-report.ts";
import { reportState } from "../kernel/telemetry/state-report.ts";
import { reportTelemetry } from "../kernel/telemetry/telemetry-report.ts";
import { createTelemetry } from "../kernel/telemetry/telemetry.ts";
import type { Telemetry } from "../kernel/telemetry/telemetry.ts";
import type { TelemetryOptions } from "../kernel/telemetry/options.ts";
import type { Tracing } from "../kernel/telemetry/tracing.ts";
import type { Scope } from "../kernel/telemetry/types.ts";
import { processScope, telemetryOptions, tellsOfItself } from "./telemetry-options.ts";

/** The families that `/api/v1/metrics` shows. */
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

/** What telemetry is made of. */
export interface HouseTelemetryDeps {
  readonly config: Config;
  /** Every key of the configuration; the values of its secrets are kept out of all lines. */
  readonly schema: Schema;
  /** Undefined in a command that has none. */
  readonly pool?: Pool;
  readonly clock: Clock;
  readonly log: RootLog;
  readonly version: string;
  /** Whether anything may be pulled. */
  readonly pull: boolean;
  /** What runs, where that is not all that is configured. */
  readonly options?: TelemetryOptions;
}

/**
 * Telemetry with the process's own scope open and reported, and what the parts of the house tell it
 * by.
 */
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
  /** Reports the gateway's port, and its certificate, for as long as the process lives. */
  reportPort(port: ReportedPort & Pick<Listener, "certificate">): void;
  /** Reports the certificate of another listener for as long as the process lives. */
  reportCertificate(listener: string, certificate: Listener["certificate"]): void;
  /** Reports the failures of the process's components for as long as it lives. */
  reportComponents(supervisor: Pick<Supervisor, "states">): void;
}

/**
 * Lines of the log are exported when there is a receiver for them, spans when tracing is on too.
 */
export async function createHouseTelemetry(deps: HouseTelemetryDeps): Promise<HouseTelemetry> {
  const { config, clock, log, version } = deps;
  const options = deps.options ?? telemetryOptions(config, deps.pull);
  const telemetry = createTelemetry({ clock, log: log.child("telemetry") }, options);
  const scope = telemetry.scope(processScope(config, { version, environment: process.env }));
  const itself = tellsOfItself(config);
  if (itself) {
    reportProcess(scope, { version });
    reportTelemetry(scope, telemetry);
    reportCertificate(scope, "metrics", () => telemetry.status().ledger?.pull?.certificate);
  }
  if (deps.pool !== undefined) reportPool(scope, deps.pool);
  log.conceal([...configuredSecrets(config, deps.schema), ...ambientSecrets(process.env)]);
  if (options.logs !== undefined) log.tap((line) => telemetry.line(line));
  const tracing = await tracingOf(config, telemetry);
  if (tracing !== undefined) log.relate(() => tracing.fields());
  return {
    telemetry,
    scope,
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

/** The SDK's tracing is loaded by those who want it. */
async function tracingOf(config: Config, telemetry: Telemetry): Promise<Tracing | undefined> {
  if (!config.get(tracingEnabled)) return undefined;
  const { createTracing } = await import("../kernel/telemetry/tracing.ts");
  return createTracing(
    {
      sampler: config.get(tracingSampler),
      ratio: config.get(tracingSamplerArg),
      remoteParent: config.get(tracingRemoteParent),
    },
    (make) => telemetry.span(make),
  );
}

/** The route of the exposition without its handler. */
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

/** `/api/v1/metrics`: the exposition, or while the switch is off 404 as text. */
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
