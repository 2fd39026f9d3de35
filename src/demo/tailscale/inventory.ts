/**
 * The control plane's data beside devices, in the vendor's wire format: people, keys, settings,
 * DNS, contacts, webhooks, posture, streams, apps, services.
 */
import { turnAt } from "../network/cycle.ts";
import type { Device } from "../network/devices.ts";
import type { Credential } from "../network/keys.ts";
import type { Network } from "../network/network.ts";
import {
  APPROVAL_CYCLE,
  DNS_CYCLE,
  nameserversInTurn,
  WEBHOOK_CYCLE,
  webhooksInTurn,
} from "../network/settings.ts";
import { standingOf, type Person } from "../network/users.ts";
import { stamp } from "./devices.ts";
import { covers } from "./operations.ts";
import type { StreamType } from "./types.ts";

const DAY_MS = 86_400_000;
const FOUNDED_MS = Date.UTC(2026, 2, 1);
const AUTHOR = 0;

/** People with what they have connected. */
export function usersObject(network: Network, nowMs: number): unknown {
  const owned = Map.groupBy(network.devices.at(nowMs), ({ machine }) => machine.owner);
  return {
    users: network.people.map((person) =>
      userObject(person, owned.get(person) ?? [], network.tailnetId, nowMs),
    ),
  };
}

function userObject(
  person: Person,
  devices: readonly Device[],
  tailnetId: string,
  nowMs: number,
): Record<string, unknown> {
  return {
    id: person.id,
    displayName: person.displayName,
    loginName: person.loginName,
    profilePicUrl: "",
    tailnetId,
    created: stamp(person.createdMs),
    type: person.type,
    ...standingOf(person, nowMs),
    deviceCount: devices.length,
    lastSeen: stamp(Math.max(person.createdMs, ...devices.map(({ lastSeenMs }) => lastSeenMs))),
    currentlyConnected: devices.some(({ online }) => online),
  };
}

/** A few open invites; a new one each day. The ids as numbers, or as text. */
export function userInvites(network: Network, nowMs: number, asText: boolean): unknown {
  const id = (number: number): number | string => (asText ? String(number) : number);
  const day = Math.floor(nowMs / DAY_MS);
  return [0, 1, 2].map((back) => ({
    id: String(8000 + day - back),
    role: back === 2 ? "auditor" : "member",
    tailnetId: id(tailnetNumber(network)),
    inviterId: id(77),
    inviteUrl: `https://login.example/uinv/${day - back}`,
    ...(back === 1
      ? {}
      : {
          email: `new${day - back}@${network.domain}`,
          lastEmailSentAt: stamp((day - back) * DAY_MS),
        }),
  }));
}

/** The network's older number. */
export function tailnetNumber({ identities }: Network): number {
  return identities.integer("tailnet-number") % 1_000_000;
}

const KEY_SCOPES: Readonly<Record<Credential["kind"], string>> = {
  auth: "auth_keys:read",
  api: "api_access_tokens:read",
  client: "oauth_keys:read",
  federated: "federated_keys:read",
};

/** The kinds that the caller may see; without `all` only those of the caller's own kind. */
export function keysObject(
  network: Network,
  nowMs: number,
  {
    scopes,
    kind,
    all,
  }: {
    readonly scopes: readonly string[];
    readonly kind: Credential["kind"];
    readonly all: boolean;
  },
): unknown {
  const visible = network
    .credentials(nowMs)
    .filter((key) => covers(scopes, KEY_SCOPES[key.kind]) && (all || key.kind === kind));
  return { keys: visible.map((key) => keyObject(key, nowMs)) };
}

function keyObject(key: Credential, nowMs: number): Record<string, unknown> {
  const { kind, expiresMs, revokedMs } = key;
  const invalid = revokedMs !== undefined || key.used === true || (expiresMs ?? Infinity) <= nowMs;
  return {
    id: key.id,
    keyType: kind,
    description: key.description,
    created: stamp(key.createdMs),
    ...(kind === "client" ? { updated: stamp(key.createdMs + DAY_MS) } : {}),
    ...(expiresMs === undefined
      ? {}
      : {
          expires: stamp(expiresMs),
          expirySeconds: Math.round((expiresMs - key.createdMs) / 1000),
        }),
    ...(revokedMs === undefined ? {} : { revoked: stamp(revokedMs) }),
    invalid,
    ...(key.owner === undefined ? {} : { userId: key.owner.id }),
    ...(kind === "auth"
      ? {
          capabilities: {
            devices: {
              create: {
                reusable: key.reusable ?? false,
                ephemeral: key.ephemeral ?? false,
                preauthorized: true,
                tags: key.tags ?? [],
              },
            },
          },
        }
      : {}),
    ...(kind === "auth" || key.scopes === undefined
      ? {}
      : { scopes: key.scopes, ...(kind === "api" ? {} : { tags: key.tags ?? [] }) }),
    ...(kind === "federated"
      ? {
          issuer: "https://issuer.example",
          subject: "repo:example-org/*",
          audience: `https://tailscale.example/${key.id}`,
          customClaimRules: { environment: "production" },
        }
      : {}),
  };
}

/** Null or absent where a scope is missing. */
export function settingsObject(
  scopes: readonly string[],
  nowMs: number,
  flowLogs: boolean,
): unknown {
  const shown = <T>(scope: string, value: T): T | null => (covers(scopes, scope) ? value : null);
  const features = covers(scopes, "feature_settings:read");
  return {
    aclsExternallyManagedOn: shown("policy_file:read", false),
    ...(covers(scopes, "policy_file:read") ? { aclsExternalLink: "https://git.example/acl" } : {}),
    devicesApprovalOn: shown("feature_settings:read", turnAt(APPROVAL_CYCLE, nowMs) % 2 === 0),
    devicesAutoUpdatesOn: shown("feature_settings:read", false),
    ...(features ? { devicesKeyDurationDays: 180 } : {}),
    usersApprovalOn: shown("feature_settings:read", true),
    ...(features ? { usersRoleAllowedToJoinExternalTailnets: "admin" } : {}),
    networkFlowLoggingOn: shown("logs:network:read", flowLogs),
    regionalRoutingOn: shown("feature_settings:read", false),
    postureIdentityCollectionOn: shown("feature_settings:read", true),
    httpsEnabled: shown("networking_settings:read", true),
  };
}

/** Name servers, one of which changes in turns; a split domain without servers. */
export function dnsObject(network: Network, nowMs: number): unknown {
  return {
    nameservers: nameserversInTurn(turnAt(DNS_CYCLE, nowMs)).map((address, index) => ({
      address,
      ...(index === 0 ? { useWithExitNode: true } : {}),
    })),
    splitDNS: {
      [network.domain]: [{ address: "10.20.0.53", useWithExitNode: false }],
      "old.test": null,
    },
    searchPaths: [network.domain],
    preferences: { overrideLocalDNS: true, magicDNS: true },
  };
}

/** Whom the vendor writes to. */
export function contactsObject({ domain }: Network): unknown {
  return {
    account: { email: `ops@${domain}`, needsVerification: false },
    support: { email: `help@${domain}`, needsVerification: true },
    security: {
      email: `security@${domain}`,
      fallbackEmail: `ops@${domain}`,
      needsVerification: false,
    },
  };
}

/** Two endpoints; the first changes its subscriptions in turns. */
export function webhooksObject({ identities, people }: Network, nowMs: number): unknown {
  const turn = turnAt(WEBHOOK_CYCLE, nowMs);
  const base = { creatorLoginName: people[AUTHOR]?.loginName ?? "", created: stamp(FOUNDED_MS) };
  return {
    webhooks: [
      {
        endpointId: identities.stable("w", "webhook/0"),
        endpointUrl: "https://hook.example/in",
        providerType: "slack",
        ...base,
        lastModified: stamp(WEBHOOK_CYCLE.phaseMs + turn * WEBHOOK_CYCLE.periodMs),
        subscriptions: webhooksInTurn(turn),
      },
      {
        endpointId: identities.stable("w", "webhook/1"),
        endpointUrl: "https://events.example/steward",
        providerType: "",
        ...base,
        lastModified: stamp(FOUNDED_MS),
        subscriptions: ["userCreated", "userDeleted", "subnetIPForwardingNotEnabled"],
      },
    ],
  };
}

/** One provider that syncs each quarter of an hour, one that cannot. */
export function postureObject(network: Network, nowMs: number): unknown {
  const laptops = network.roster.filter(({ kind }) => kind === "laptop").length;
  const quarterMs = 15 * 60_000;
  const lastSync = stamp(Math.floor(nowMs / quarterMs) * quarterMs);
  return {
    integrations: [
      {
        id: network.identities.stable("p", "posture/0"),
        provider: "intune",
        cloudId: "global",
        clientId: "c-1",
        tenantId: "t-1",
        configUpdated: stamp(FOUNDED_MS),
        status: {
          lastSync,
          error: "",
          providerHostCount: laptops + 4,
          matchedCount: laptops,
          possibleMatchedCount: laptops + 2,
        },
      },
      {
        id: network.identities.stable("p", "posture/1"),
        provider: "kandji",
        cloudId: `${network.domain}.api.kandji.example`,
        clientId: "",
        tenantId: "",
        configUpdated: stamp(FOUNDED_MS + DAY_MS),
        status: {
          lastSync: stamp(FOUNDED_MS + DAY_MS),
          error: "401 from provider",
          providerHostCount: 0,
          matchedCount: 0,
          possibleMatchedCount: 0,
        },
      },
    ],
  };
}

/** Totals that grow, and begin anew each week as if the vendor restarted. */
export function streamStatus(type: StreamType, nowMs: number): unknown {
  const weekMs = 7 * DAY_MS;
  const minutes = Math.floor((nowMs % weekMs) / 60_000);
  const perMinute = type === "network" ? 104 : 1;
  return {
    lastActivity: stamp(Math.floor(nowMs / 60_000) * 60_000),
    lastError: "",
    maxBodySize: 262_144,
    maxNumEntries: 5000,
    numBytesSent: minutes * perMinute * 640,
    numEntriesSent: minutes * perMinute,
    numSpoofedEntries: 0,
    numTotalRequests: minutes * 2,
    numFailedRequests: Math.floor(minutes / 720),
    numMaxBodyRequests: Math.floor(minutes / 300),
    rateBytesSent: (perMinute * 640) / 60,
    rateEntriesSent: perMinute / 60,
    rateTotalRequests: 2 / 60,
    rateFailedRequests: 0,
  };
}

/** Applications that may act for people. */
export function oauthAppsObject({ identities }: Network): unknown {
  return {
    oauthApps: [
      {
        id: identities.stable("a", "app/0"),
        name: "provisioner",
        description: "hands out devices",
        redirectURIs: ["https://app.example/cb"],
        scopes: ["auth_keys"],
        allowedNodeAttributes: ["custom:site"],
        created: stamp(FOUNDED_MS),
        updated: stamp(FOUNDED_MS + DAY_MS),
      },
    ],
  };
}

const SERVICES = ["svc:web", "svc:db"] as const;

/** Services with addresses of their own. */
export function servicesObject(): unknown {
  return {
    vipServices: SERVICES.map((name, index) => ({
      name,
      addrs: [`100.90.1.${2 + index}`, `fd7a:115c:a1e0::${(0x9001 + index).toString(16)}`],
      comment: index === 0 ? "customers" : "",
      ports: [index === 0 ? "tcp:443" : "tcp:5432"],
      tags: ["tag:server"],
    })),
  };
}

/** Who serves one; undefined when there is no such service. */
export function serviceHosts(network: Network, name: string, nowMs: number): unknown {
  const index = SERVICES.findIndex((service) => service === name);
  if (index < 0) return undefined;
  const servers = network.devices
    .at(nowMs)
    .filter(({ machine }) => machine.kind === "server")
    .slice(index * 2, index * 2 + 2);
  return {
    hosts: servers.map(({ nodeId }, position) => ({
      stableNodeID: nodeId,
      approvalLevel:
        position === 0 ? "approved:auto" : index === 0 ? "approved:manual" : "not-approved",
      configured: position === 0 ? "ready" : "pending",
    })),
  };
}
