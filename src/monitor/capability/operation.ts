/**
 * The operations of the control APIs, and what the outcome of one says about what the network may
 * be asked.
 */
import { toStewardError } from "../../kernel/base/errors.ts";
import { failureOf } from "../../kernel/client/failure.ts";

/** What is known of an operation. */
export type ApiState =
  | "unknown"
  | "disabled"
  | "supported"
  | "transient_failure"
  | "request_rejected"
  | "scope_denied"
  | "credential_rejected";

/** All states from the least to the most serious; of several operations the most serious counts. */
export const apiStates: readonly ApiState[] = [
  "unknown",
  "disabled",
  "supported",
  "transient_failure",
  "request_rejected",
  "scope_denied",
  "credential_rejected",
];

/** A call of a control API. */
export interface Operation {
  /** As `vpn.api.operation` shows it. */
  readonly name: string;
  /** Statuses that say that the feature is off, beside 404. */
  readonly disabledBy: readonly number[];
}

function operation(name: string, disabledBy: readonly number[] = []): Operation {
  return { name, disabledBy };
}

type OperationKey =
  | "devices"
  | "devicePosture"
  | "deviceInvites"
  | "users"
  | "userInvites"
  | "keys"
  | "settings"
  | "policy"
  | "validatePolicy"
  | "dns"
  | "contacts"
  | "webhooks"
  | "postureIntegrations"
  | "configurationStream"
  | "networkStream"
  | "oauthApps"
  | "services"
  | "serviceHosts"
  | "flowLogs"
  | "auditLogs"
  | "listObjects"
  | "nodeMetrics";

/** Every operation there is, by what it is for. */
export const operations: Readonly<Record<OperationKey, Operation>> = {
  devices: operation("listTailnetDevices"),
  devicePosture: operation("device_posture"),
  deviceInvites: operation("device_invites"),
  users: operation("listUsers"),
  userInvites: operation("user_invites"),
  keys: operation("listTailnetKeys"),
  settings: operation("getTailnetSettings"),
  policy: operation("getPolicyFile"),
  validatePolicy: operation("validateAndTestPolicyFile"),
  dns: operation("getDnsConfiguration"),
  contacts: operation("getContacts"),
  webhooks: operation("listWebhooks"),
  postureIntegrations: operation("getPostureIntegrations"),
  configurationStream: operation("getLogStreamingStatus.configuration"),
  networkStream: operation("getLogStreamingStatus.network"),
  oauthApps: operation("listOAuthApps"),
  services: operation("listServices"),
  serviceHosts: operation("listServiceHosts"),
  flowLogs: operation("listNetworkFlowLogs", [403]),
  auditLogs: operation("listConfigurationAuditLogs"),
  listObjects: operation("listObjects"),
  nodeMetrics: operation("scrapeNodeMetrics"),
};

/** What an error of a call says. Everything that is no answer of the upstream passes. */
export function stateOfError(
  error: unknown,
  { disabledBy }: Pick<Operation, "disabledBy">,
): ApiState {
  const failure = failureOf(error);
  const status = failure?.status ?? 0;
  if (
    failure?.class === "cancelled" ||
    (failure === undefined && toStewardError(error).code === "cancelled")
  )
    return "unknown";
  if (status === 404 || disabledBy.includes(status)) return "disabled";
  if (failure?.class === "auth" || status === 401) return "credential_rejected";
  if (status === 403) return "scope_denied";
  if (status >= 400 && status < 500 && status !== 429) return "request_rejected";
  return "transient_failure";
}
