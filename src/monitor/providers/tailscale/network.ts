/** What the hosted control plane tells of a network as a whole. */
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
import { timeMs } from "../decode/time.ts";
import type {
  Contacts,
  Dns,
  LogStreamStatus,
  PolicyFindings,
  PostureIntegration,
  Resolver,
  ServiceHost,
  SettingName,
  Settings,
  VirtualService,
  WebhookEndpoint,
} from "../model.ts";

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

/** Switches. What a scope hides is null or absent, which is no "off". */
export function settingsOf(told: Fields): Settings {
  const link = told["aclsExternalLink"];
  const switches = new Map<SettingName, boolean>();
  for (const [name, field] of SWITCHES) {
    const on = flag(told[field]);
    if (on !== undefined) switches.set(name, on);
  }
  return {
    switches,
    externalLinkSet: typeof link === "string" ? link !== "" : undefined,
    keyDurationDays: count(told["devicesKeyDurationDays"]),
    externalNetworksRole: text(told["usersRoleAllowedToJoinExternalTailnets"]) || undefined,
  };
}

/** What validation found; an empty answer or `{}` is a good policy. */
export function findingsOf(told: Fields): PolicyFindings {
  const message = text(told["message"]);
  const data = list(told["data"]).map(inner);
  const errors = data.flatMap((item) => texts(item["errors"]));
  const failing = message === "test(s) failed";
  return {
    ok: message === "" && data.length === 0,
    errors: failing ? [] : errors,
    testFailures: failing ? errors : [],
    warnings: data.flatMap((item) => texts(item["warnings"])),
  };
}

/** Name resolution. */
export function dnsOf(told: Fields): Dns {
  const preferences = inner(told["preferences"]);
  return {
    nameservers: resolversOf(told["nameservers"]),
    splitZones: new Map(
      members(told["splitDNS"]).map(([domain, value]) => [domain, resolversOf(value)]),
    ),
    searchPaths: texts(told["searchPaths"]),
    overrideLocal: flag(preferences["overrideLocalDNS"]) ?? false,
    magicDns: flag(preferences["magicDNS"]) ?? false,
  };
}

function resolversOf(value: unknown): readonly Resolver[] {
  return list(value)
    .map(inner)
    .map((told) => ({
      address: text(told["address"]),
      useWithExitNode: flag(told["useWithExitNode"]) ?? false,
    }));
}

/** Which contacts still need to be verified. */
export function contactsOf(told: Fields): Contacts {
  const contacts = new Map<"account" | "support" | "security", boolean>();
  for (const kind of ["account", "support", "security"] as const) {
    const needed = flag(fields(told[kind])?.["needsVerification"]);
    if (needed !== undefined) contacts.set(kind, needed);
  }
  return contacts;
}

/** A webhook endpoint. Its address is a secret of somebody and not read. */
export function webhookOf(told: Fields): WebhookEndpoint {
  return {
    id: text(told["endpointId"]),
    provider: text(told["providerType"]),
    createdMs: timeMs(told["created"]),
    subscriptions: texts(told["subscriptions"]),
  };
}

/** A posture provider. */
export function integrationOf(told: Fields): PostureIntegration {
  const status = inner(told["status"]);
  return {
    id: text(told["id"]),
    provider: text(told["provider"]),
    lastSyncMs: timeMs(status["lastSync"]),
    error: text(status["error"]),
    matched: count(status["matchedCount"]) ?? 0,
    possibleMatched: count(status["possibleMatchedCount"]) ?? 0,
    providerHosts: count(status["providerHostCount"]) ?? 0,
  };
}

/** A stream of logs; undefined when nothing was ever set up, which some networks say with zeros. */
export function logStreamOf(told: Fields): LogStreamStatus | undefined {
  const lastActivityMs = timeMs(told["lastActivity"]);
  const number = (name: string): number => count(told[name]) ?? 0;
  if (
    lastActivityMs === undefined &&
    ["maxNumEntries", "maxBodySize", "numTotalRequests"].every((name) => number(name) === 0)
  )
    return undefined;
  return {
    lastActivityMs,
    lastError: text(told["lastError"]),
    bytesSent: number("numBytesSent"),
    entriesSent: number("numEntriesSent"),
    requests: number("numTotalRequests"),
    failedRequests: number("numFailedRequests"),
    spoofedEntries: number("numSpoofedEntries"),
    maxBodyRequests: number("numMaxBodyRequests"),
  };
}

/** A virtual-IP service. */
export function serviceOf(told: Fields): VirtualService {
  return {
    name: text(told["name"]),
    addresses: texts(told["addrs"]),
    ports: texts(told["ports"]),
    tags: texts(told["tags"]),
  };
}

/** A device that serves one. */
export function serviceHostOf(told: Fields): ServiceHost {
  return {
    nodeId: text(told["stableNodeID"]),
    approval: text(told["approvalLevel"]),
    configured: text(told["configured"]),
  };
}
