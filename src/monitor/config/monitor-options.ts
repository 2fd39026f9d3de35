/** Converts the configuration to the monitor's options, with all inheritance resolved. */
import { join, resolve } from "node:path";
import type { Config } from "../../kernel/config/config.ts";
import { readKeyGroup } from "../../kernel/config/key-group.ts";
import type { Environment } from "../../kernel/config/key.ts";
import {
  otlpLogAttributeBytes,
  otlpLogBodyBytes,
} from "../../kernel/telemetry/config/otlp-keys.ts";
import {
  batchSettings,
  exporterOptions,
  metricIntervalMs,
  stdoutOptions,
} from "../../kernel/telemetry/config/otlp-options.ts";
import { resourceAttributes } from "../../kernel/telemetry/config/resource-keys.ts";
import {
  tracingEnabled,
  samplingOf,
  tracingRemoteParent,
} from "../../kernel/telemetry/config/tracing-keys.ts";
import { QUEUE_CAPACITY } from "../../kernel/telemetry/messages.ts";
import { processResource } from "../../kernel/telemetry/resource.ts";
import { sendSecret } from "../../kernel/threads/secrets.ts";
import type { AnnotationOptions, MonitorOptions, PrivacyOptions } from "../options.ts";
import { geoipOptions } from "../geoip/keys.ts";
import { ingressOptions } from "../ingress/config/ingress-keys.ts";
import { reverseDnsOptions } from "../reverse-dns/keys.ts";
import { webhookOptions } from "../receivers/config/webhook-keys.ts";
import { streamOptions } from "../receivers/config/stream-keys.ts";
import { annotationCategories, annotations } from "./annotation-keys.ts";
import { cardinality } from "./cardinality-keys.ts";
import { events } from "./event-keys.ts";
import { flowStoreOptions } from "./flow-keys.ts";
import { networkOptions } from "./network-options.ts";
import { networks } from "./network-keys.ts";
import { privacy } from "./privacy-keys.ts";
import { checkpoint, deviceVersions, selfObservability, versionChecks } from "./upkeep-keys.ts";

/** Values that are not in the configuration. */
export interface MonitorFacts {
  readonly version: string;
  /** Absolute; default directory of the checkpoint file. */
  readonly stateDirectory: string;
  /** For `resource.from_env`. */
  readonly environment: Environment;
  /** Number of configuration warnings. */
  readonly warnings: number;
}

const CHECKPOINT_FILE = "checkpoints.mdb";

/**
 * Relative paths are resolved against the current directory, so call this in the main thread at
 * start.
 */
export function monitorOptions(config: Config, facts: MonitorFacts): MonitorOptions {
  const privacyOptions = readKeyGroup(config, privacy);
  const { filePath, ...stores } = readKeyGroup(config, checkpoint);
  return {
    version: facts.version,
    networks: networkOptions(config),
    several: config.list(networks).length > 1,
    privacy: privacyOptions,
    resource: resourceOf(config, privacyOptions, facts),
    logs: logOptions(config),
    ...receiverOptions(config),
    ingress: ingressOptions(config, facts.stateDirectory),
    ...tracingOptions(config),
    metricIntervalMs: metricIntervalMs(config),
    checkpoint: {
      ...stores,
      filePath: filePath === "" ? join(facts.stateDirectory, CHECKPOINT_FILE) : resolve(filePath),
      isDefault: filePath === "",
    },
    versionChecks: {
      devices: config.get(deviceVersions.enabled),
      url: config.get(deviceVersions.url),
      ...readKeyGroup(config, versionChecks),
    },
    annotations: annotationOptions(config),
    events: readKeyGroup(config, events),
    flows: flowStoreOptions(config),
    reverseDns: reverseDnsOptions(config),
    geoip: geoipOptions(config, facts.stateDirectory),
    selfObservability: readKeyGroup(config, selfObservability),
    cardinality: {
      warningThreshold: config.get(cardinality.warningThreshold),
      criticalThreshold: config.get(cardinality.criticalThreshold),
    },
    configWarnings: facts.warnings,
  };
}

function resourceOf(
  config: Config,
  { hostnames }: PrivacyOptions,
  { version, environment }: MonitorFacts,
): MonitorOptions["resource"] {
  const attributes = resourceAttributes(config, environment);
  const instanceId = config.get(selfObservability.instanceId);
  const namespace = attributes["service.namespace"];
  return {
    ...processResource({
      version,
      hostnames,
      attributes,
      ...(instanceId === "" ? {} : { instanceId }),
    }),
    ...(namespace === undefined ? {} : { "service.namespace": namespace }),
  };
}

function logOptions(config: Config): MonitorOptions["logs"] {
  if (exporterOptions(config, "logs") === undefined && stdoutOptions(config, "logs") === undefined)
    return undefined;
  return {
    capacity: batchSettings(config, "logs").capacity || QUEUE_CAPACITY,
    body: config.get(otlpLogBodyBytes),
    attribute: config.get(otlpLogAttributeBytes),
  };
}

function receiverOptions(config: Config): Pick<MonitorOptions, "receivers"> {
  const receivers = { stream: streamOptions(config), webhook: webhookOptions(config) };
  return receivers.stream === undefined && receivers.webhook === undefined ? {} : { receivers };
}

function tracingOptions(config: Config): Pick<MonitorOptions, "tracing"> {
  if (
    !config.get(tracingEnabled) ||
    (exporterOptions(config, "traces") === undefined &&
      stdoutOptions(config, "traces") === undefined)
  )
    return {};
  return {
    tracing: {
      capacity: batchSettings(config, "traces").capacity || QUEUE_CAPACITY,
      runs: samplingOf(config, "scrape"),
      receivers: samplingOf(config, "receiver"),
      remoteParent: config.get(tracingRemoteParent),
    },
  };
}

function annotationOptions(config: Config): AnnotationOptions | undefined {
  const { token, stateFile: _, ...options } = readKeyGroup(config, annotations);
  if (options.url === "" || token === undefined) return undefined;
  const { config_change, expiry } = annotationCategories;
  return {
    ...options,
    token: sendSecret(token),
    categories: {
      config_change: readKeyGroup(config, config_change),
      expiry: readKeyGroup(config, expiry),
    },
  };
}
