/** Endpoint and protocol of each signal: its own keys take precedence over those below `otlp`. */
import type { Source } from "../../config/config.ts";
import type { Complaint } from "../../config/findings.ts";
import type { KeyGroup } from "../../config/key-group.ts";
import {
  otlpExporter,
  otlpSignalEnabled,
  otlpSignalExporters,
  type OtlpProtocol,
  type OtlpSignal,
} from "./otlp-keys.ts";

/** The values that determine a signal's destination. */
export interface OtlpRoute {
  readonly enabled: boolean;
  readonly protocol: OtlpProtocol | undefined;
  readonly sharedProtocol: OtlpProtocol | undefined;
  readonly endpoint: string;
  readonly sharedEndpoint: string;
}

export interface OtlpDestination {
  readonly protocol: Exclude<OtlpProtocol, "stdout">;
  /** Which of the two endpoint keys applies. */
  readonly named: "endpoint" | "sharedEndpoint";
  /** As configured. */
  readonly text: string;
}

/** An endpoint in the form exporters use. */
export interface SettledEndpoint {
  readonly endpoint: string;
  /** From the scheme, for OpenTelemetry's variables with gRPC. */
  readonly plain?: boolean;
  /** Why it is invalid; nothing is exported then. */
  readonly broken?: Complaint;
}

/** The keys that determine each signal's destination. */
export const otlpRoutes: Readonly<Record<OtlpSignal, KeyGroup<OtlpRoute>>> = {
  metrics: routeKeys("metrics"),
  logs: routeKeys("logs"),
  traces: routeKeys("traces"),
};

/** The protocol of a signal, enabled or not. */
export function protocolOf({ protocol, sharedProtocol }: OtlpRoute): OtlpProtocol {
  return protocol ?? sharedProtocol ?? "http";
}

/** Undefined when the signal is off, has no endpoint or is written to standard output. */
export function destinationOf(route: OtlpRoute): OtlpDestination | undefined {
  const protocol = protocolOf(route);
  const named = route.endpoint === "" ? "sharedEndpoint" : "endpoint";
  return !route.enabled || protocol === "stdout" || route[named] === ""
    ? undefined
    : { protocol, named, text: route[named] };
}

/** Resolves the endpoint. The text may contain credentials, so no message shows it. */
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
