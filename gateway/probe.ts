/** The probes `/healthz` and `/readyz`: one line, and optionally one per component. */
import { printable } from "../src/kernel/base/text/printable.ts";
import { refuse, type ServerRequest, type ServerResponse } from "../src/kernel/listen/exchange.ts";
import type { Head } from "./node-http.ts";

/** `reasons` are lines for people; the first is shown. */
export interface ProbeResult {
  readonly ok: boolean;
  readonly reasons: readonly string[];
}

/** State of a component. `reason` may be shown to anybody. */
interface ProbedComponent {
  readonly name: string;
  readonly phase: string;
  readonly reason: string | undefined;
}

/** Health of the process, answered from memory. */
export interface Probes {
  /** Is the process alive? `/healthz`. */
  live(): ProbeResult;
  /** May it take traffic? `/readyz` and gRPC health of the empty name. */
  ready(): ProbeResult;
  /** All components, including those that do not affect readiness. `/readyz?verbose=1`. */
  components?(): readonly ProbedComponent[];
  /** Can this service, e.g. `steward.dedup.v1.JobService`, work? */
  serviceReady(name: string): boolean;
}

/** Health checks by load balancers and supervisors: answered from memory. */
const PROBE_PATHS: ReadonlySet<string> = new Set([
  "/healthz",
  "/readyz",
  "/api/v1/health",
  "/api/v1/ready",
  "/v1/sys/health",
]);
const PROBE_METHODS: ReadonlySet<string> = new Set([
  "/grpc.health.v1.Health/Check",
  "/grpc.health.v1.Health/List",
]);

/**
 * Whether a request is a health check, by HTTP or gRPC, which the listener answers however busy it
 * is.
 */
export function isProbe({ method, path }: Pick<Head, "method" | "path">): boolean {
  return method === "POST"
    ? PROBE_METHODS.has(path)
    : (method === "GET" || method === "HEAD") && PROBE_PATHS.has(path);
}

/** Longer reasons are truncated. Characters. */
const MAX_REASON_LENGTH = 500;

/**
 * The probe that a request addresses, or undefined. Open to everybody under any host name: probes
 * have no credential.
 */
export function probeFor(
  probes: Pick<Probes, "live" | "ready" | "components">,
  { path, search }: Head,
): (ProbeResult & { readonly more: readonly string[] }) | undefined {
  if (path === "/healthz") return { ...probes.live(), more: [] };
  if (path !== "/readyz") return undefined;
  const verbose = new URLSearchParams(search).get("verbose") === "1";
  return { ...probes.ready(), more: verbose ? (probes.components?.() ?? []).map(lineOf) : [] };
}

/** Writes the state and, if requested, the components. */
export function answerProbe(
  probe: ProbeResult & { readonly more: readonly string[] },
  request: ServerRequest,
  response: ServerResponse,
): void {
  if (request.method !== "GET" && request.method !== "HEAD")
    return refuse(request, response, 405, "Method Not Allowed", {
      headers: { allow: "GET, HEAD" },
    });
  refuse(
    request,
    response,
    probe.ok ? 200 : 503,
    [probe.ok ? "ok" : (probe.reasons[0] ?? "not ready"), ...probe.more].join("\n"),
  );
}

function lineOf({ name, phase, reason }: ProbedComponent): string {
  return `${name}: ${phase}${reason === undefined ? "" : `, ${printable(reason).slice(0, MAX_REASON_LENGTH)}`}`;
}
