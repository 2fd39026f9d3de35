/**
 * Where a signal is exported to, and by which protocol: what it says itself goes before what stands
 * below `otlp`.
 */
import type { Source } from "./config.ts";
import type { Complaint } from "./findings.ts";
import type { KeyGroup } from "./key-group.ts";
import {
  otlpExporter,
  otlpSignalEnabled,
  otlpSignalExporters,
  type OtlpProtocol,
  type OtlpSignal,
} from "./otlp-keys.ts";

/** What decides the way of one signal. */
export interface OtlpRoute {
  readonly enabled: boolean;
  readonly protocol: OtlpProtocol | undefined;
  readonly sharedProtocol: OtlpProtocol | undefined;
  readonly endpoint: string;
  readonly sharedEndpoint: string;
}

/** The way of a signal to a receiver. */
export interface OtlpDestination {
  readonly protocol: Exclude<OtlpProtocol, "stdout">;
  /** Which of the two endpoints counts. */
  readonly named: "endpoint" | "sharedEndpoint";
  /** As it was written. */
  readonly text: string;
}

/** An endpoint as exporters take it. */
export interface SettledEndpoint {
  readonly endpoint: string;
  /** Known from the scheme that a variable of OpenTelemetry has with gRPC. */
  readonly plain?: boolean;
  /** What is wrong with it; nothing can be exported to it then. */
  readonly broken?: Complaint;
}

/** The keys that decide it for each signal. */
export const otlpRoutes: Readonly<Record<OtlpSignal, KeyGroup<OtlpRoute>>> = {
  metrics: routeKeys("metrics"),
  logs: routeKeys("logs"),
  traces: routeKeys("traces"),
};

/** How a signal is exported, whether or not it is. */
export function protocolOf({ protocol, sharedProtocol }: OtlpRoute): OtlpProtocol {
  return protocol ?? sharedProtocol ?? "http";
}

/** Undefined when the signal is off, has nowhere to go or is written to standard output. */
export function destinationOf(route: OtlpRoute): OtlpDestination | undefined {
  const protocol = protocolOf(route);
  const named = route.endpoint === "" ? "sharedEndpoint" : "endpoint";
  return !route.enabled || protocol === "stdout" || route[named] === ""
    ? undefined
    : { protocol, named, text: route[named] };
}

/**
 * The endpoint with what follows from where it was written. The text may hold credentials, so no
 * message shows it.
 */
export function settleEndpoint(
  { protocol, text }: OtlpDestination,
  source: Source,
): SettledEndpoint {
  if (protocol === "http") {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol) || url.host === "")
      return {
        endpoint: text,
        broken: {
          rule: "must be an http or https address with protocol http",
          remedy: "write e.g. http://localhost:4318.",
        },
      };
    if (url.username !== "" || url.password !== "")
      return {
        endpoint: text,
        broken: { rule: "must not contain credentials", remedy: "put them into otlp.headers." },
      };
    return { endpoint: text };
  }
  const scheme = isForeign(source) ? /^(https?):\/\//i.exec(text) : null;
  const endpoint = scheme === null ? text : text.slice(scheme[0].length).replace(/\/$/, "");
  if (!/^(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):\d{1,5}$/.test(endpoint))
    return {
      endpoint,
      broken: {
        rule: "must be host:port without scheme and path with protocol grpc",
        remedy: "write e.g. localhost:4317.",
      },
    };
  return scheme === null ? { endpoint } : { endpoint, plain: scheme[1]?.toLowerCase() === "http" };
}

function routeKeys(signal: OtlpSignal): KeyGroup<OtlpRoute> {
  const { protocol, endpoint } = otlpSignalExporters[signal];
  return {
    enabled: otlpSignalEnabled[signal],
    protocol,
    endpoint,
    sharedProtocol: otlpExporter.protocol,
    sharedEndpoint: otlpExporter.endpoint,
  };
}

function isForeign(source: Source): boolean {
  return source.from === "environment" && source.variable?.startsWith("OTEL_") === true;
}
