/** The process's part of the status that never changes while it runs. */
import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { TelemetrySchema } from "../../gen/steward/monitor/v1/export_pb.ts";
import type { ServiceInfoSchema } from "../../gen/steward/monitor/v1/process_pb.ts";
import { StatusSchema } from "../../gen/steward/monitor/v1/status_pb.ts";
import { adminRefreshInterval } from "../config/admin-keys.ts";
import type { Config } from "../../kernel/config/config.ts";
import {
  otlpExporter,
  otlpMetricBatchSize,
  otlpSignalExporters,
  otlpSignals,
} from "../../kernel/telemetry/config/otlp-keys.ts";
import { exporterOptions, metricIntervalMs } from "../../kernel/telemetry/config/otlp-options.ts";
import { redactUrl } from "../../kernel/config/redact.ts";
import { processMetricRows } from "../../kernel/telemetry/report/service-metrics.ts";
import { selfObservability } from "../../monitor/config/upkeep-keys.ts";
import { streaming } from "../../monitor/receivers/config/stream-keys.ts";
import { webhook } from "../../monitor/receivers/config/webhook-keys.ts";
import { isAnyCollected } from "../../monitor/network/collected.ts";
import type { MonitorOptions } from "../../monitor/options.ts";
import type { ProcessConstants } from "../../monitor/status/process/process-status.ts";
import { dedupMetrics } from "../../dedup/telemetry/metrics.ts";
import { tokensMetrics } from "../../tokens/telemetry/metrics.ts";
import type { DaemonConfiguration } from "../configuration.ts";
import { advisoriesOf } from "./advisories.ts";
import { configSummary, firstProvider } from "./config-summary.ts";

const MILLISECONDS = 1_000;

export interface ConstantFacts {
  readonly configuration: DaemonConfiguration;
  /** The options given to the monitor. */
  readonly monitor: Pick<MonitorOptions, "networks" | "several">;
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly startedAtMs: number;
}

/**
 * Features that this version lacks are present with `enabled` false and zeros, as the schema
 * requires.
 */
export function processConstants(facts: ConstantFacts): ProcessConstants {
  const {
    configuration: { config, warnings },
    monitor,
    monitor: { networks },
  } = facts;
  const status = create(StatusSchema, {
    provider: networks[0]?.provider.kind ?? firstProvider(config),
    refreshMs: config.get(adminRefreshInterval),
    advisories: advisoriesOf(config, { warnings, idle: !isAnyCollected(monitor) }),
    service: serviceOf(facts),
    telemetry: telemetryOf(config),
    config: configSummary(config),
    receivers: {
      streamingEnabled: config.get(streaming.enabled),
      webhookEnabled: config.get(webhook.enabled),
    },
  });
  return {
    kind: "constants",
    status: toBinary(StatusSchema, status),
    metrics: [...processMetricRows, ...dedupMetrics, ...tokensMetrics],
    records: [],
  };
}

function serviceOf({
  configuration: { config, demo },
  monitor: { networks, several },
  version,
  startedAtMs,
}: ConstantFacts): MessageInitShape<typeof ServiceInfoSchema> {
  return {
    runtimeVersion: process.version,
    name: "steward",
    version,
    selfObservability: config.get(selfObservability.enabled),
    startedAt: timestampFromMs(startedAtMs),
    network: several ? `${networks.length} networks` : (networks[0]?.name ?? ""),
    demo: demo.demo,
  };
}

/** The settings below `otlp`. If only one signal has an endpoint of its own, that one is shown. */
function telemetryOf(config: Config): MessageInitShape<typeof TelemetrySchema> {
  const endpoints = [otlpExporter, ...otlpSignals.map((signal) => otlpSignalExporters[signal])].map(
    ({ endpoint }) => config.get(endpoint),
  );
  const { protocol, insecure } = otlpSignalExporters.metrics;
  return {
    endpoint: redactUrl(endpoints.find((endpoint) => endpoint !== "") ?? ""),
    protocol: config.get(protocol) ?? config.get(otlpExporter.protocol) ?? "http",
    insecure:
      exporterOptions(config, "metrics")?.tls.insecure ??
      config.get(insecure) ??
      config.get(otlpExporter.insecure) ??
      false,
    metricExportBatchSize: config.get(otlpMetricBatchSize),
    metricIntervalSeconds: Math.trunc(metricIntervalMs(config) / MILLISECONDS),
  };
}
