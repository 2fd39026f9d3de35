/** Calls for network-wide data of the hosted control plane, and their decoders. */
import {
  count,
  type Fields,
  fields,
  flag,
  inner,
  list,
  members,
  text,
  texts,
} from "../decode/fields.ts";
import { failureOf } from "../../../kernel/client/failure.ts";
import { pathOf } from "../../../kernel/client/http/url.ts";
import { timeMs } from "../decode/time.ts";
import type {
  Contacts,
  Dns,
  LogStreamStatus,
  LogStreamTarget,
  LogStreamType,
  PolicyFindings,
  PostureIntegration,
  Resolver,
  ServiceHost,
  SettingName,
  Settings,
  VirtualService,
  WebhookEndpoint,
} from "../model.ts";
import { readList } from "../read.ts";
import { networkList, networkObject, type ControlPlane } from "./control-plane.ts";

export const networkCalls = {
  settings: async (plane: ControlPlane, signal: AbortSignal) =>
    settingsOf(await networkObject(plane, "settings", signal)),
  dns: async (plane: ControlPlane, signal: AbortSignal) =>
    dnsOf(await networkObject(plane, "dns/configuration", signal)),
  contacts: async (plane: ControlPlane, signal: AbortSignal) =>
    contactsOf(await networkObject(plane, "contacts", signal)),
  webhooks: (plane: ControlPlane, signal: AbortSignal) =>
    networkList(plane, { operation: "webhooks", at: ["webhooks"] }, webhookOf, signal),
  postureIntegrations: (plane: ControlPlane, signal: AbortSignal) =>
    networkList(
      plane,
      { operation: "posture/integrations", at: ["integrations"] },
      integrationOf,
      signal,
    ),
  logStream: async (plane: ControlPlane, type: LogStreamType, signal: AbortSignal) =>
    logStreamOf(await networkObject(plane, `logging/${type}/stream/status`, signal)),
  /** Undefined when nothing is streamed. */
  async logStreamTarget(plane: ControlPlane, type: LogStreamType, signal: AbortSignal) {
    try {
      return logStreamTargetOf(await networkObject(plane, `logging/${type}/stream`, signal));
    } catch (error) {
      if (failureOf(error)?.status === 404) return undefined;
      throw error;
    }
  },
  services: (plane: ControlPlane, signal: AbortSignal) =>
    networkList(plane, { operation: "services", at: ["vipServices"] }, serviceOf, signal),
  serviceHosts: (plane: ControlPlane, name: string, signal: AbortSignal) =>
    readList(
      plane,
      {
        operation: "services/devices",
        path: plane.path(pathOf`services/${name}/devices`),
        at: ["hosts"],
      },
      serviceHostOf,
      signal,
    ),
};

const SWITCHES: readonly (readonly [SettingName, string])[] = [
  ["devices_approval", "devicesApprovalOn"],
  ["devices_auto_updates", "devicesAutoUpdatesOn"],
  ["users_approval", "usersApprovalOn"],
  ["network_flow_logging", "networkFlowLoggingOn"],
  ["regional_routing", "regionalRoutingOn"],
  ["posture_identity_collection", "postureIdentityCollectionOn"],
  ["https_enabled", "httpsEnabled"],
  ["acls_externally_managed", "aclsExternallyManagedOn"],
];

/** Settings hidden by a missing scope are null or absent, which does not mean "off". */
function settingsOf(json: Fields): Settings {
  const link = json["aclsExternalLink"];
  const switches = new Map<SettingName, boolean>();
  for (const [name, field] of SWITCHES) {
    const on = flag(json[field]);
    if (on !== undefined) switches.set(name, on);
  }
  return {
    switches,
    externalLinkSet: typeof link === "string" ? link !== "" : undefined,
    keyDurationDays: count(json["devicesKeyDurationDays"]),
    externalNetworksRole: text(json["usersRoleAllowedToJoinExternalTailnets"]) || undefined,
  };
}

/** An empty response or `{}` means a valid policy. */
export function findingsOf(json: Fields): PolicyFindings {
  const message = text(json["message"]);
  const data = list(json["data"]).map(inner);
  const errors = data.flatMap((item) => texts(item["errors"]));
  const failing = message === "test(s) failed";
  return {
    ok: message === "" && data.length === 0,
    errors: failing ? [] : errors,
    testFailures: failing ? errors : [],
    warnings: data.flatMap((item) => texts(item["warnings"])),
  };
}

function dnsOf(json: Fields): Dns {
  const preferences = inner(json["preferences"]);
  return {
    nameservers: resolversOf(json["nameservers"]),
    splitZones: new Map(
      members(json["splitDNS"]).map(([domain, value]) => [domain, resolversOf(value)]),
    ),
    searchPaths: texts(json["searchPaths"]),
    overrideLocal: flag(preferences["overrideLocalDNS"]) ?? false,
    magicDns: flag(preferences["magicDNS"]) ?? false,
  };
}

function resolversOf(value: unknown): readonly Resolver[] {
  return list(value)
    .map(inner)
    .map((json) => ({
      address: text(json["address"]),
      useWithExitNode: flag(json["useWithExitNode"]) ?? false,
    }));
}

function contactsOf(json: Fields): Contacts {
  const contacts = new Map<"account" | "support" | "security", boolean>();
  for (const kind of ["account", "support", "security"] as const) {
    const contact = fields(json[kind]);
    if (contact !== undefined) contacts.set(kind, flag(contact["needsVerification"]) ?? false);
  }
  return contacts;
}

/** The endpoint's URL is a secret and not read. */
function webhookOf(json: Fields): WebhookEndpoint {
  return {
    id: text(json["endpointId"]),
    provider: text(json["providerType"]),
    createdMs: timeMs(json["created"]),
    subscriptions: texts(json["subscriptions"]),
  };
}

function integrationOf(json: Fields): PostureIntegration {
  const status = inner(json["status"]);
  return {
    id: text(json["id"]),
    provider: text(json["provider"]),
    lastSyncMs: timeMs(status["lastSync"]),
    error: text(status["error"]),
    matched: count(status["matchedCount"]) ?? 0,
    possibleMatched: count(status["possibleMatchedCount"]) ?? 0,
    providerHosts: count(status["providerHostCount"]) ?? 0,
  };
}

/** Undefined when streaming was never set up, which some networks report as zeros. */
function logStreamOf(json: Fields): LogStreamStatus | undefined {
  const lastActivityMs = timeMs(json["lastActivity"]);
  const number = (name: string): number => count(json[name]) ?? 0;
  if (
    lastActivityMs === undefined &&
    ["maxNumEntries", "maxBodySize", "numTotalRequests"].every((name) => number(name) === 0)
  )
    return undefined;
  return {
    lastActivityMs,
    lastError: text(json["lastError"]),
    bytesSent: number("numBytesSent"),
    entriesSent: number("numEntriesSent"),
    requests: number("numTotalRequests"),
    failedRequests: number("numFailedRequests"),
    spoofedEntries: number("numSpoofedEntries"),
    maxBodyRequests: number("numMaxBodyRequests"),
  };
}

/** The URL of the destination s3 is often empty: that of Amazon S3. */
function logStreamTargetOf(json: Fields): LogStreamTarget | undefined {
  const target = { destination: text(json["destinationType"]), url: text(json["url"]) };
  return target.destination === "" && target.url === "" ? undefined : target;
}

function serviceOf(json: Fields): VirtualService {
  return {
    name: text(json["name"]),
    addresses: texts(json["addrs"]),
    ports: texts(json["ports"]),
    tags: texts(json["tags"]),
  };
}

function serviceHostOf(json: Fields): ServiceHost {
  return {
    nodeId: text(json["stableNodeID"]),
    approval: text(json["approvalLevel"]),
    configured: text(json["configured"]),
  };
}
