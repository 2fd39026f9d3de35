/** The process's part of a status before any reply: complete, with everything off. */
import { create } from "@bufbuild/protobuf";
import { ConfigSummarySchema } from "../../../gen/steward/monitor/v1/config_summary_pb.ts";
import {
  DeliverySchema,
  MetricsServingSchema,
  ProfilingSchema,
  ServingConfigSchema,
  Signal,
  TelemetrySchema,
  ThroughputSchema,
} from "../../../gen/steward/monitor/v1/export_pb.ts";
import {
  ReceiversSchema,
  RuntimeSchema,
  ServiceInfoSchema,
  UpdateSchema,
  UpdateState,
} from "../../../gen/steward/monitor/v1/process_pb.ts";
import { schemaVersion } from "../../../kernel/wire/style.ts";
import { humanBytes, humanDuration } from "../human.ts";
import type { ProcessStatus } from "./process-status.ts";

/** A new object per call. */
export function emptyProcessStatus(): ProcessStatus {
  const never = humanDuration(0);
  return {
    provider: "",
    refreshMs: 0,
    advisories: [],
    services: {},
    components: [],
    healthProblems: [],
    tlsCertificates: [],
    service: create(ServiceInfoSchema, { name: "steward", uptime: never }),
    telemetry: create(TelemetrySchema),
    throughput: create(ThroughputSchema),
    receivers: create(ReceiversSchema),
    config: create(ConfigSummarySchema, { schemaVersion: schemaVersion(ConfigSummarySchema) }),
    delivery: [Signal.METRICS, Signal.LOGS, Signal.TRACES].map((signal) =>
      create(DeliverySchema, { signal }),
    ),
    metricsServing: create(MetricsServingSchema, { config: create(ServingConfigSchema) }),
    profiling: create(ProfilingSchema),
    runtime: create(RuntimeSchema, { heapAlloc: humanBytes(0) }),
    update: create(UpdateSchema, { state: UpdateState.DISABLED }),
  };
}
