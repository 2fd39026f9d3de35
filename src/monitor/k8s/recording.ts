/**
 * What a session recorder writes about a cluster: an event for each API request through the proxy,
 * a head for each terminal session.
 */

/** A request to a cluster's API. */
export interface ApiRequest {
  readonly kind: "request";
  readonly timeMs: number | undefined;
  readonly verb: string;
  readonly resource: string;
  readonly subresource: string;
  readonly apiGroup: string;
  readonly namespace: string;
  readonly objectName: string;
  /** Without its query. */
  readonly path: string;
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly userAgent: string;
  /** Words of the command of an exec request. */
  readonly command: readonly string[];
  readonly container: string;
  readonly source: Source;
}

/** A recorded terminal session. */
import { boundName } from "../../kernel/base/bounded-name.ts";
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

/** Who asked. */
interface Source {
  readonly node: string;
  readonly nodeId: string;
  /** The login, or for tagged nodes their tags. */
  readonly user: string;
}

const REQUEST_TYPE = "Kubernetes API Request";
const SECOND_MS = 1_000;

type Fields = Readonly<Record<string, unknown>>;

/** The record; the type's name for an event of another type, undefined for what is none. */
export function readRecording(
  value: unknown,
  recording: boolean,
): ApiRequest | Session | { readonly kind: "other"; readonly type: string } | undefined {
  const fields = objectOf(value);
  if (fields === undefined) return undefined;
  if (recording) return readSession(fields);
  const type = text(fields["type"]);
  // Older recorders wrote no type.
  if (type !== "" && type !== REQUEST_TYPE) return { kind: "other", type };
  return readRequest(fields);
}

function readRequest(fields: Fields): ApiRequest | undefined {
  const kubernetes = objectOf(fields["kubernetes"]);
  const request = objectOf(fields["request"]);
  if (kubernetes === undefined) return undefined;
  const asked = wholeText(request?.["path"]) || wholeText(kubernetes["Path"]);
  const query = new URLSearchParams(asked.includes("?") ? asked.slice(asked.indexOf("?") + 1) : "");
  return {
    kind: "request",
    timeMs: timeOf(fields["timestamp"]),
    verb: text(kubernetes["Verb"]),
    resource: text(kubernetes["Resource"]),
    subresource: text(kubernetes["Subresource"]),
    apiGroup: text(kubernetes["APIGroup"]),
    namespace: text(kubernetes["Namespace"]),
    objectName: text(kubernetes["Name"]),
    path: (wholeText(kubernetes["Path"]) || asked).split("?")[0] ?? "",
    labelSelector: wholeText(kubernetes["LabelSelector"]),
    fieldSelector: wholeText(kubernetes["FieldSelector"]),
    userAgent: wholeText(fields["userAgent"]),
    command: query.getAll("command"),
    container: query.get("container") ?? "",
    source: sourceOf(objectOf(fields["source"]) ?? {}, ""),
  };
}

/** Undefined for a session that is no cluster's, e.g. one of SSH. */
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

/** In events the fields begin `node`, in heads `srcNode`. */
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

/** A name of bounded length. */
function text(value: unknown): string {
  return boundName(wholeText(value));
}

function wholeText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
