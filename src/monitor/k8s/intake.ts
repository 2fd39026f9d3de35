/** Converts Kubernetes recordings to counters and log records. */
import type { Log } from "../../kernel/base/log.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import {
  k8sApiExecSessions,
  k8sApiMutations,
  k8sApiRbacProbes,
  k8sApiRequests,
  k8sApiSensitiveReads,
  k8sSchemaDrift,
  k8sSessionStarted,
} from "../catalogue/k8s-audit.ts";
import { k8sApiRequestRecord, k8sSessionRecord } from "../catalogue/records.ts";
import type { IntakeReport } from "../flows/types.ts";
import { readRecording, type ApiRequest, type Session } from "./recording.ts";
import {
  clientOf,
  commandClassOf,
  foldVerb,
  isAccessReview,
  isMutation,
  isSensitiveRead,
  sessionTypeOf,
} from "./vocabulary.ts";
import { nextTurn } from "../../kernel/async/turns.ts";

const AT_ONCE = 128;
const UNKNOWN = "unknown";
/** Distinct unknown types that are logged. */
const MAX_WARNINGS = 128;

interface RecordingBatch {
  readonly records: readonly unknown[];
  /** Headers of terminal recordings, not events. */
  readonly recording: boolean;
  /** The recorder that wrote them. */
  readonly recorder: string;
}

export interface K8sIntake {
  accept(batch: RecordingBatch, signal: AbortSignal): Promise<IntakeReport>;
}

/** One per network. `log` receives one warning per unknown type of event. */
export function createK8sIntake({
  scope,
  log,
}: {
  readonly scope: Scope;
  readonly log: Pick<Log, "warn">;
}): K8sIntake {
  const warned = new Set<string>();
  const warnOfType = (type: string): void => {
    if (warned.has(type) || warned.size >= MAX_WARNINGS) return;
    warned.add(type);
    log.warn(
      "a session recorder writes events of an unknown type, which are not counted: it may be newer than this version",
      { name: `type ${type}`, type },
    );
  };
  return {
    async accept({ records, recording, recorder }, signal) {
      let accepted = 0;
      let malformed = 0;
      for (const [at, record] of records.entries()) {
        if (at % AT_ONCE === AT_ONCE - 1) await nextTurn();
        signal.throwIfAborted();
        const read = readRecording(record, recording);
        if (read === undefined) {
          malformed += 1;
          continue;
        }
        if (!recording)
          scope.add(k8sSchemaDrift, 1, {
            field: "type",
            status: read.kind === "other" ? UNKNOWN : "known",
          });
        if (!recording && read.kind === "other") warnOfType(read.type);
        if (read.kind === "request") countRequest(scope, read, recorder);
        else if (read.kind === "session") countSession(scope, read, recorder);
        accepted += 1;
      }
      return { accepted, refused: malformed === 0 ? {} : { malformed } };
    },
  };
}

function countRequest(scope: Scope, request: ApiRequest, recorder: string): void {
  const {
    verb,
    resource,
    subresource,
    namespace,
    source: { user },
  } = request;
  const who = { "vpn.k8s.user": user || UNKNOWN };
  const where = { "vpn.k8s.resource": resource, "vpn.k8s.namespace": namespace };
  const client = clientOf(request.userAgent);
  scope.add(k8sApiRequests, 1, {
    ...where,
    ...who,
    "vpn.k8s.verb": foldVerb(verb),
    "vpn.k8s.subresource": subresource,
    "vpn.k8s.api_group": request.apiGroup,
    "vpn.k8s.user_agent": client,
    "vpn.k8s.recorder": recorder,
  });
  const session = sessionTypeOf(subresource);
  if (session !== undefined)
    scope.add(k8sApiExecSessions, 1, {
      ...who,
      "vpn.k8s.namespace": namespace,
      "vpn.k8s.session_type": session,
      "vpn.k8s.command_class": commandClassOf(request.command[0] ?? ""),
    });
  else if (isAccessReview(resource)) scope.add(k8sApiRbacProbes, 1, { ...where, ...who });
  else if (isMutation(verb))
    scope.add(k8sApiMutations, 1, { ...where, ...who, "vpn.k8s.verb": verb });
  if (isSensitiveRead(verb, resource))
    scope.add(k8sApiSensitiveReads, 1, { ...where, ...who, "vpn.k8s.user_agent": client });
  logRequest(scope, request, recorder);
}

function logRequest(scope: Scope, request: ApiRequest, recorder: string): void {
  const { source, command } = request;
  scope.log(
    k8sApiRequestRecord,
    requestBody(request),
    {
      "vpn.k8s.verb": request.verb,
      "vpn.k8s.resource": given(request.resource),
      "vpn.k8s.subresource": given(request.subresource),
      "vpn.k8s.api_group": given(request.apiGroup),
      "vpn.k8s.namespace": given(request.namespace),
      "vpn.k8s.object_name": given(request.objectName),
      "vpn.k8s.path": given(request.path),
      "vpn.k8s.label_selector": given(request.labelSelector),
      "vpn.k8s.field_selector": given(request.fieldSelector),
      "vpn.k8s.user_agent": given(request.userAgent),
      "vpn.k8s.user": given(source.user),
      "vpn.k8s.src_node": given(source.node),
      "vpn.k8s.src_node_id": given(source.nodeId),
      "vpn.k8s.recorder": given(recorder),
      "vpn.k8s.command": given(command.join(" ")),
      "vpn.k8s.command_class":
        sessionTypeOf(request.subresource) === undefined
          ? undefined
          : commandClassOf(command[0] ?? ""),
      "vpn.k8s.pod": request.resource === "pods" ? given(request.objectName) : undefined,
      "vpn.k8s.container": given(request.container),
    },
    request.timeMs === undefined ? {} : { timeMs: request.timeMs },
  );
}

// Repeats attribute values verbatim, so that the privacy filter can mask them.
function requestBody({
  verb,
  resource,
  path,
  subresource,
  namespace,
  objectName,
  source,
  command,
}: ApiRequest): string {
  const object = [resource || path, subresource].filter((part) => part !== "").join("/");
  const where = `${objectName === "" ? "" : ` ${objectName}`}${namespace === "" ? "" : ` in ${namespace}`}`;
  const run = command.length === 0 ? "" : `: ${command.join(" ")}`;
  return `${verb} ${object}${where}${byText(source)}${run}`;
}

function sessionBody({ type, namespace, pod, container, source, command }: Session): string {
  return `${type} in ${namespace}/${pod}${container === "" ? "" : `, container ${container}`}${byText(source)}${command === "" ? "" : `: ${command}`}`;
}

function byText({ user, node }: ApiRequest["source"]): string {
  return `${user === "" ? "" : ` by ${user}`}${node === "" ? "" : ` from ${node}`}`;
}

function countSession(scope: Scope, session: Session, recorder: string): void {
  const commandClass = commandClassOf(session.command);
  scope.add(k8sSessionStarted, 1, {
    "vpn.k8s.session_type": session.type,
    "vpn.k8s.namespace": session.namespace,
    "vpn.k8s.command_class": commandClass,
    "vpn.k8s.user": session.source.user || UNKNOWN,
  });
  scope.log(
    k8sSessionRecord,
    sessionBody(session),
    {
      "vpn.k8s.session_type": session.type,
      "vpn.k8s.namespace": given(session.namespace),
      "vpn.k8s.pod": given(session.pod),
      "vpn.k8s.container": given(session.container),
      "vpn.k8s.command": given(session.command),
      "vpn.k8s.command_class": commandClass,
      "vpn.k8s.user": given(session.source.user),
      "vpn.k8s.src_node": given(session.source.node),
      "vpn.k8s.recorder": given(recorder),
    },
    session.timeMs === undefined ? {} : { timeMs: session.timeMs },
  );
}

function given(value: string): string | undefined {
  return value === "" ? undefined : value;
}
