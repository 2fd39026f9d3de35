/** The process's part of the status that changes while it runs. */
import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ProfilingSchema } from "../../gen/steward/monitor/v1/export_pb.ts";
import { UpdateState, type UpdateSchema } from "../../gen/steward/monitor/v1/process_pb.ts";
import { StatusSchema } from "../../gen/steward/monitor/v1/status_pb.ts";
import type { Config } from "../../kernel/config/config.ts";
import { redactUrl } from "../../kernel/config/redact.ts";
import type { CertificateStatus } from "../../kernel/listen/tls/certificates.ts";
import { certificateOf } from "../../monitor/status/rows/certificate-row.ts";
import type { ProfilingStatus } from "../../profiling/status.ts";
import type { ComponentState, Health } from "../../kernel/supervisor/component.ts";
import type { CardinalityInfo } from "../../kernel/telemetry/types.ts";
import type { Telemetry } from "../../kernel/telemetry/telemetry.ts";
import type { UpdateStatus } from "../../updates/update-check.ts";
import type {
  ProcessStatusReply,
  MetricFacts,
} from "../../monitor/status/process/process-status.ts";
import { processProblems } from "../health.ts";
import { componentRows, serviceStates } from "./components.ts";
import type { DeliveryView } from "./delivery.ts";
import { metricsServing } from "./metrics-serving.ts";
import type { followRuntime } from "./runtime.ts";

/** Reads memory only. */
export interface ProcessStatusSources {
  readonly config: Config;
  /** The monitor has neither a network to collect nor a receiver. */
  readonly idle: boolean;
  readonly states: () => readonly ComponentState[];
  readonly stores: () => Health;
  readonly telemetry: Pick<Telemetry, "status">;
  readonly delivery: Pick<DeliveryView, "delivery" | "throughput">;
  readonly runtime: Pick<ReturnType<typeof followRuntime>, "read">;
  readonly profiling: () => ProfilingStatus;
  readonly updates: () => UpdateStatus;
  /** By listener name, for those with TLS. */
  readonly certificates: () => Readonly<Record<string, CertificateStatus | undefined>>;
  /** Cardinality of the process's own scope. */
  readonly cardinality: () => CardinalityInfo;
}

/** A reply without its request id. */
export function processStatusReply(
  sources: ProcessStatusSources,
  { labels }: { readonly labels: boolean },
): Omit<ProcessStatusReply, "kind" | "id"> {
  const { config, idle, delivery } = sources;
  const facts = { config, idle, states: sources.states(), stores: sources.stores() };
  const pull = sources.telemetry.status().ledger?.pull;
  const status = create(StatusSchema, {
    components: componentRows(facts),
    services: serviceStates(facts),
    healthProblems: processProblems(facts),
    delivery: delivery.delivery(),
    throughput: delivery.throughput(),
    metricsServing: metricsServing(config, pull),
    profiling: profilingOf(sources.profiling()),
    runtime: sources.runtime.read(),
    tlsCertificates: Object.entries(sources.certificates()).flatMap(([name, certificate]) =>
      certificate === undefined ? [] : [certificateOf(name, certificate)],
    ),
    update: updateOf(sources.updates()),
  });
  return {
    status: toBinary(StatusSchema, status),
    series: seriesOf(sources.cardinality(), labels),
  };
}

function profilingOf(profiling: ProfilingStatus): MessageInitShape<typeof ProfilingSchema> {
  const {
    profileEndpointEnabled,
    profilerEnabled,
    profilerServer,
    profilerHeaderNames,
    profilerTlsClientCert,
    profilerTlsCustomCa,
    profilerTlsInsecureSkipVerify,
    profilerUpload: upload,
  } = profiling;
  return {
    profileEndpointEnabled,
    profilerEnabled,
    profilerTlsClientCert,
    profilerTlsCustomCa,
    profilerTlsInsecureSkipVerify,
    profilerServer: redactUrl(profilerServer),
    profilerHeaderNames: [...profilerHeaderNames],
    ...(upload === undefined
      ? {}
      : {
          profilerUpload: {
            attempts: BigInt(upload.attempts),
            failures: BigInt(upload.failures),
            consecutiveFailures: upload.consecutiveFailures,
            healthy: upload.healthy,
            lastDurationSeconds: upload.lastDurationSeconds,
            lastErrorClass: upload.lastErrorClass ?? "",
            ...(upload.lastSuccessAtMs === undefined
              ? {}
              : { lastSuccessAt: timestampFromMs(upload.lastSuccessAtMs) }),
            ...(upload.lastFailureAtMs === undefined
              ? {}
              : { lastFailureAt: timestampFromMs(upload.lastFailureAtMs) }),
          },
        }),
  };
}

const UPDATE_STATES = {
  disabled: UpdateState.DISABLED,
  checking: UpdateState.CHECKING,
  error: UpdateState.ERROR,
  unknown: UpdateState.UNKNOWN,
  current: UpdateState.CURRENT,
  available: UpdateState.AVAILABLE,
} as const;

function updateOf({
  enabled,
  state,
  currentVersion = "",
  latestVersion = "",
  minorsBehind,
  lastCheckedAtMs,
  lastErrorClass,
  releaseUrl,
}: UpdateStatus): MessageInitShape<typeof UpdateSchema> {
  return {
    enabled,
    state: UPDATE_STATES[state],
    currentVersion,
    latestVersion,
    minorsBehind,
    lastErrorClass: lastErrorClass ?? "",
    releaseUrl: redactUrl(releaseUrl),
    ...(lastCheckedAtMs === undefined ? {} : { lastCheckedAt: timestampFromMs(lastCheckedAtMs) }),
  };
}

function seriesOf({ metrics, limitPerMetric }: CardinalityInfo, labels: boolean): MetricFacts[] {
  return metrics
    .filter(({ series }) => series > 0)
    .map((metric) => ({
      name: metric.name,
      series: metric.series,
      overflowing: metric.overflowing || (limitPerMetric > 0 && metric.series >= limitPerMetric),
      labels: labels
        ? metric.labels().map(({ name, distinct, capped, examples }) => ({
            label: name,
            distinct,
            capped,
            examples,
          }))
        : [],
    }));
}
