/**
 * Decodes what session recorders write: an event per API request through the proxy, a header per
 * terminal session.
 */

/** A Kubernetes API request. */
export interface ApiRequest {
  readonly kind: "request";
  readonly timeMs: number | undefined;
  readonly verb: string;
  readonly resource: string;
  readonly subresource: string;
  readonly apiGroup: string;
  readonly namespace: string;
  readonly objectName: string;
  /** Without the query. */
  readonly path: string;
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly userAgent: string;
  /** Words of an exec request's command. */
  readonly command: readonly string[];
  readonly container: string;
  readonly source: Source;
}

/** A recorded terminal session. */
import { boundName } from "../../kernel/base/text/bounded-name.ts";
export interface Session {
  readonly kind: "session";
  readonly timeMs: number | undefined;
  readonly type: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly command: string;
  readonly source: Source;
}

/** The client. */
interface Source {
  readonly node: string;
  readonly nodeId: string;
  /** The login; for tagged nodes their tags. */
  readonly user: string;
}

/**
 * The type of an API request, `kubernetes-api-request`
 * (https://pkg.go.dev/tailscale.com/sessionrecording); early recorders wrote
 * `Kubernetes API Request`.
 */
const REQUEST_TYPE = /^kubernetes[- ]api[- ]request$/i;
const SECOND_MS = 1_000;

type Fields = Readonly<Record<string, unknown>>;

/** The record; the type's name for an unsupported type, undefined for an invalid value. */
export function readRecording(
  value: unknown,
  recording: boolean,
): ApiRequest | Session | { readonly kind: "other"; readonly type: string } | undefined {
  const fields = objectOf(value);
  if (fields === undefined) return undefined;
  if (recording) return readSession(fields);
  const type = text(fields["type"]);
  // Older recorders wrote no type.
  if (type !== "" && !REQUEST_TYPE.test(type)) return { kind: "other", type };
  return readRequest(fields);
}

function readRequest(fields: Fields): ApiRequest | undefined {
  const kubernetes = objectOf(fields["kubernetes"]);
  const request = objectOf(fields["request"]);
  if (kubernetes === undefined) return undefined;
  const target = wholeText(request?.["path"]) || wholeText(kubernetes["Path"]);
  const query = new URLSearchParams(
    target.includes("?") ? target.slice(target.indexOf("?") + 1) : "",
  );
  return {
    kind: "request",
    timeMs: timeOf(fields["timestamp"]),
    verb: text(kubernetes["Verb"]),
    resource: text(kubernetes["Resource"]),
    subresource: text(kubernetes["Subresource"]),
    apiGroup: text(kubernetes["APIGroup"]),
    namespace: text(kubernetes["Namespace"]),
    objectName: text(kubernetes["Name"]),
    path: (wholeText(kubernetes["Path"]) || target).split("?")[0] ?? "",
    labelSelector: wholeText(kubernetes["LabelSelector"]),
    fieldSelector: wholeText(kubernetes["FieldSelector"]),
    userAgent: wholeText(fields["userAgent"]),
    command: query.getAll("command"),
    container: query.get("container") ?? "",
    source: sourceOf(objectOf(fields["source"]) ?? {}, ""),
  };
}

/** Undefined for sessions other than Kubernetes, e.g. SSH. */
function readSession(fields: Fields): Session | { readonly kind: "other"; readonly type: string } {
  const kubernetes = objectOf(fields["kubernetes"]);
  if (kubernetes === undefined) return { kind: "other", type: "terminal session" };
  return {
    kind: "session",
    timeMs: timeOf(fields["timestamp"]),
    type: text(kubernetes["SessionType"]) || "exec",
    namespace: text(kubernetes["Namespace"]),
    pod: text(kubernetes["PodName"]),
    container: text(kubernetes["Container"]),
    command: wholeText(fields["command"]),
    source: sourceOf(fields, "src"),
  };
}

/** Events prefix these fields with `node`, headers with `srcNode`. */
function sourceOf(fields: Fields, before: "" | "src"): Source {
  const field = (name: string): unknown => fields[before === "" ? `n${name}` : `srcN${name}`];
  const tags = field("odeTags");
  return {
    node: text(field("ode")),
    nodeId: text(field("odeID")),
    user:
      text(field("odeUser")) ||
      (Array.isArray(tags) ? tags.map(text).filter(Boolean).toSorted().join(",") : ""),
  };
}

/** Of Unix seconds or an RFC 3339 text. */
function timeOf(value: unknown): number | undefined {
  if (typeof value === "number" && value > 0) return value * SECOND_MS;
  const ms = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}

function objectOf(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : undefined;
}

function text(value: unknown): string {
  return boundName(wholeText(value));
}

function wholeText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
