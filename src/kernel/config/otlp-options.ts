/** What the OTLP keys mean for each signal: every value settled once, so that no exporter has to know what inherits from what. */
import type { Secret } from "../base/secret.ts";
import type { Config } from "./config.ts";
import type { Finding } from "./findings.ts";
import { atKey } from "./key-finding.ts";
import type { Key } from "./key.ts";
import type { Check } from "./load.ts";
import {
  otlpBatch, otlpCloudInstance, otlpCloudToken, otlpExporter, otlpMetricInterval, otlpReloadEnabled, otlpReloadInterval, otlpSignalEnabled, otlpSignalExporters, otlpSignals,
  otlpStdoutInterval, otlpStdoutPretty, type OtlpExporterKeys, type OtlpProtocol, type OtlpSignal,
} from "./otlp-keys.ts";
import { checkExporterFiles, type NamedFile } from "./otlp-tls.ts";

const SHORTEST_RELOAD_MS = 5_000;

/** How failed exports are tried again. */
export interface RetryOptions {
  readonly enabled: boolean;
  readonly initialMs: number;
  readonly maxMs: number;
  readonly elapsedMs: number;
}

/** The exporter of one signal to a receiver. */
export interface ExporterOptions {
  readonly protocol: Exclude<OtlpProtocol, "stdout">;
  /** For http the whole address, `/v1/<signal>` included; for grpc `host:port`. */
  readonly endpoint: string;
  /** As configured, by name. */
  readonly headers: ReadonlyMap<string, Secret>;
  /** HTTP Basic at a hosted backend, when it is configured whole and the headers have no `authorization`. */
  readonly basic: { readonly user: string; readonly password: Secret } | undefined;
  readonly compression: "gzip" | "none";
  /** Milliseconds; 0 is the exporter's default. */
  readonly timeoutMs: number;
  /** Bytes; larger requests are refused. 0 is no limit. */
  readonly maxRequestSize: number;
  /** Milliseconds after which a grpc connection is made anew; 0 keeps it. */
  readonly grpcReconnectionMs: number;
  readonly tls: { readonly insecure: boolean; readonly skipVerify: boolean; readonly caFile: string; readonly certFile: string; readonly keyFile: string };
  readonly retry: RetryOptions;
}

/** How a signal is written to standard output; undefined when it is not. */
export function stdoutOptions(config: Config, signal: OtlpSignal): { readonly pretty: boolean } | undefined {
  return config.get(otlpSignalEnabled[signal]) && protocolOf(config, signal) === "stdout" ? { pretty: config.get(otlpStdoutPretty) } : undefined;
}

/** The exporter of a signal; undefined when it is off, has nowhere to go or is written to standard output. */
export function exporterOptions(config: Config, signal: OtlpSignal): ExporterOptions | undefined {
  if (!config.get(otlpSignalEnabled[signal])) return undefined;
  const own = otlpSignalExporters[signal];
  const protocol = protocolOf(config, signal);
  const { key, text } = endpointOf(config, signal);
  if (text === "" || protocol === "stdout") return undefined;
  const settled = settleEndpoint(text, protocol, isForeign(config, key));
  const headers = config.get(own.headers).size > 0 ? config.get(own.headers) : config.get(otlpExporter.headers);
  const user = config.get(otlpCloudInstance);
  const password = config.get(otlpCloudToken);
  const basic = user !== "" && password !== undefined && ![...headers.keys()].some((name) => name.toLowerCase() === "authorization") ? { user, password } : undefined;
  return {
    protocol, headers, basic,
    endpoint: protocol === "http" ? withPath(settled.endpoint, signal) : settled.endpoint,
    compression: config.get(own.compression) ?? config.get(otlpExporter.compression) ?? "none",
    timeoutMs: config.get(own.timeout) || config.get(otlpExporter.timeout),
    maxRequestSize: config.get(own.maxRequestSize) || config.get(otlpExporter.maxRequestSize),
    grpcReconnectionMs: config.get(own.grpcReconnection) || config.get(otlpExporter.grpcReconnection),
    tls: {
      insecure: settled.plain ?? config.get(own.insecure) ?? config.get(otlpExporter.insecure) ?? false,
      skipVerify: config.get(own.skipVerify) ?? config.get(otlpExporter.skipVerify) ?? false,
      caFile: config.get(own.caFile) || config.get(otlpExporter.caFile),
      certFile: config.get(own.certFile) || config.get(otlpExporter.certFile), keyFile: config.get(own.keyFile) || config.get(otlpExporter.keyFile),
    },
    retry: retryOf(config, own),
  };
}

/** The queue in front of the exporter of a signal; 0 is its default. Times in milliseconds. */
export interface BatchSettings {
  readonly capacity: number;
  readonly batchSize: number;
  readonly batchDelayMs: number;
  readonly exportTimeoutMs: number;
}

/** The queue of a signal as configured. */
export function batchSettings(config: Config, signal: "logs" | "traces"): BatchSettings {
  const { maxQueueSize, maxBatchSize, interval, timeout } = otlpBatch[signal];
  return { capacity: config.get(maxQueueSize), batchSize: config.get(maxBatchSize), batchDelayMs: config.get(interval), exportTimeoutMs: config.get(timeout) };
}

/** Milliseconds between exports of metrics, by the protocol they are exported with. */
export function metricIntervalMs(config: Config): number {
  return config.get(protocolOf(config, "metrics") === "stdout" ? otlpStdoutInterval : otlpMetricInterval);
}

/** Milliseconds between looks at the files of credentials; undefined when they are read once. */
export function credentialReloadMs(config: Config): number | undefined {
  return config.get(otlpReloadEnabled) ? config.get(otlpReloadInterval) : undefined;
}

/** Endpoints have the shape of their protocol, certificate files can be used, batches fit their queues, and credentials are whole (facts §8.2, §8.3). */
export const otlpSound: Check = {
  needs: [
    ...otlpSignals.flatMap((signal) => [otlpSignalEnabled[signal], otlpSignalExporters[signal].protocol, otlpSignalExporters[signal].endpoint, ...tlsKeys(otlpSignalExporters[signal])]),
    ...(["logs", "traces"] as const).flatMap((signal) => [otlpBatch[signal].maxQueueSize, otlpBatch[signal].maxBatchSize]),
    otlpExporter.protocol, otlpExporter.endpoint, ...tlsKeys(otlpExporter), otlpCloudInstance, otlpCloudToken, otlpReloadEnabled, otlpReloadInterval,
  ],
  run(config, _environment, readFile) {
    const findings = new Map<string, Finding>();
    const add = (finding: Finding): void => void findings.set(finding.path, findings.get(finding.path) ?? finding);
    for (const signal of otlpSignals) for (const finding of [...checkEndpoint(config, signal), ...checkFiles(config, signal, readFile)]) add(finding);
    for (const signal of ["logs", "traces"] as const) {
      const { maxQueueSize, maxBatchSize } = otlpBatch[signal];
      const [queue, batch] = [config.get(maxQueueSize), config.get(maxBatchSize)];
      if (queue > 0 && batch > queue) add({ severity: "error", path: maxBatchSize.path, rule: `must be at most ${maxQueueSize.path}, which is ${queue}, got ${batch}`, remedy: "make the queue larger or the batch smaller." });
    }
    if ((credentialReloadMs(config) ?? SHORTEST_RELOAD_MS) < SHORTEST_RELOAD_MS) add(atKey(config, otlpReloadInterval, "error", { rule: "must be at least 5s while otlp.credential_reload.enabled is true", remedy: "write 30s." }));
    if ((config.get(otlpCloudInstance) === "") !== (config.get(otlpCloudToken) === undefined)) {
      add({ severity: "warning", path: "otlp.backend_cloud", rule: "is ignored: it needs instance_id and token", remedy: "set both." });
    }
    return [...findings.values()];
  },
};

function checkEndpoint(config: Config, signal: OtlpSignal): Finding[] {
  if (!config.get(otlpSignalEnabled[signal])) return [];
  const { key, text } = endpointOf(config, signal);
  const protocol = protocolOf(config, signal);
  if (text === "" || protocol === "stdout") return [];
  const broken = settleEndpoint(text, protocol, isForeign(config, key)).broken;
  if (broken === undefined) return [];
  return [atKey(config, key, "error", broken)];
}

function tlsKeys({ caFile, certFile, keyFile }: OtlpExporterKeys): readonly Key<string>[] {
  return [caFile, certFile, keyFile];
}

function checkFiles(config: Config, signal: OtlpSignal, readFile: (path: string) => string): Finding[] {
  if (exporterOptions(config, signal) === undefined) return [];
  const own = otlpSignalExporters[signal];
  const named = (name: "caFile" | "certFile" | "keyFile"): NamedFile => {
    const key = config.get(own[name]) === "" ? otlpExporter[name] : own[name];
    return { key: key.path, file: config.get(key) };
  };
  return checkExporterFiles({ ca: named("caFile"), cert: named("certFile"), key: named("keyFile") }, readFile);
}

interface Settled {
  readonly endpoint: string;
  /** Known from the scheme that a variable of OpenTelemetry has with gRPC. */
  readonly plain?: boolean;
  readonly broken?: { readonly rule: string; readonly remedy: string };
}

// The text may hold credentials, so no message shows it.
function settleEndpoint(text: string, protocol: ExporterOptions["protocol"], foreign: boolean): Settled {
  if (protocol === "http") {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol) || url.host === "") return { endpoint: text, broken: { rule: "must be an http or https address with protocol http", remedy: "write e.g. http://localhost:4318." } };
    if (url.username !== "" || url.password !== "") return { endpoint: text, broken: { rule: "must not hold credentials", remedy: "put them into otlp.headers." } };
    return { endpoint: text };
  }
  const scheme = foreign ? /^(https?):\/\//i.exec(text) : null;
  const endpoint = scheme === null ? text : text.slice(scheme[0].length).replace(/\/$/, "");
  if (!/^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):\d{1,5}$/.test(endpoint)) return { endpoint, broken: { rule: "must be host:port without scheme and path with protocol grpc", remedy: "write e.g. localhost:4317." } };
  return scheme === null ? { endpoint } : { endpoint, plain: scheme[1]?.toLowerCase() === "http" };
}

function withPath(endpoint: string, signal: OtlpSignal): string {
  const url = new URL(endpoint);
  if (!url.pathname.endsWith(`/v1/${signal}`)) url.pathname = `${url.pathname.replace(/\/+$/, "")}/v1/${signal}`;
  return url.href;
}

function endpointOf(config: Config, signal: OtlpSignal): { readonly key: Key<string>; readonly text: string } {
  const own = otlpSignalExporters[signal].endpoint;
  const key = config.get(own) === "" ? otlpExporter.endpoint : own;
  return { key, text: config.get(key) };
}

function protocolOf(config: Config, signal: OtlpSignal): OtlpProtocol {
  return config.get(otlpSignalExporters[signal].protocol) ?? config.get(otlpExporter.protocol) ?? "http";
}

function retryOf(config: Config, own: OtlpExporterKeys): RetryOptions {
  const touched = [own.retryEnabled, own.retryInitial, own.retryMax, own.retryElapsed].some((key) => config.get<unknown>(key) !== undefined);
  const value = <T>(mine: Key<T | undefined>, shared: Key<T | undefined>, otherwise: T): T => (touched ? config.get(mine) ?? shared.default : config.get(shared)) ?? otherwise;
  return {
    enabled: value(own.retryEnabled, otlpExporter.retryEnabled, true), initialMs: value(own.retryInitial, otlpExporter.retryInitial, 5000),
    maxMs: value(own.retryMax, otlpExporter.retryMax, 30_000), elapsedMs: value(own.retryElapsed, otlpExporter.retryElapsed, 60_000),
  };
}

function isForeign(config: Config, key: Key<unknown>): boolean {
  const source = config.source(key);
  return source.from === "environment" && source.variable?.startsWith("OTEL_") === true;
}
