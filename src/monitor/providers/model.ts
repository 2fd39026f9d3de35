/**
 * The model of a network, common to all providers. `undefined` means the control plane does not
 * say, so that a missing permission or an older server never reads as "no". Times are milliseconds
 * since 1970.
 */

/** Connectivity as the device reports it. */
export interface Connectivity {
  /** One entry per measured relay region. */
  readonly latency: readonly {
    readonly region: string;
    readonly preferred: boolean;
    readonly seconds: number;
  }[];
  /** Whether the NAT mapping varies by destination. */
  readonly hardNat: boolean;
  /** `ip:port`. */
  readonly endpoints: readonly string[];
  readonly supports: Readonly<Record<"udp" | "ipv6" | "pcp" | "pmp" | "upnp", boolean | undefined>>;
}

export interface Device {
  readonly id: string;
  readonly nodeId: string;
  /** Unique in the network; with its domain where there is one. */
  readonly name: string;
  readonly hostname: string;
  /** Empty if unknown, like the other texts. */
  readonly os: string;
  readonly user: string;
  readonly clientVersion: string;
  readonly addresses: readonly string[];
  readonly tags: readonly string[];
  /** Shared in from another network. */
  readonly external: boolean;
  readonly authorized: boolean;
  readonly online: boolean;
  readonly createdMs: number | undefined;
  readonly lastSeenMs: number | undefined;
  /** Key expiry; undefined also when the key never expires. */
  readonly expiresMs: number | undefined;
  readonly keyExpiryDisabled: boolean | undefined;
  readonly updateAvailable: boolean | undefined;
  readonly multipleConnections: boolean | undefined;
  readonly blocksIncomingConnections: boolean | undefined;
  readonly sshEnabled: boolean | undefined;
  readonly ephemeral: boolean | undefined;
  readonly distro:
    | { readonly name: string; readonly codeName: string; readonly version: string }
    | undefined;
  /** Undefined when the device does not report posture identity. */
  readonly postureIdentityDisabled: boolean | undefined;
  readonly connectivity: Connectivity | undefined;
  /** Advertised CIDRs, default routes included. */
  readonly advertisedRoutes: readonly string[];
  /** Advertised and approved CIDRs. */
  readonly enabledRoutes: readonly string[];
  /** Network lock error; empty for none. */
  readonly lockError: string;
}

/** Posture attributes of a device. */
export interface PostureAttributes {
  /** By `namespace:name`. */
  readonly attributes: ReadonlyMap<string, string | number | boolean>;
  readonly expiresMs: ReadonlyMap<string, number>;
}

export interface DeviceInvite {
  readonly accepted: boolean;
  readonly multiUse: boolean;
  readonly allowExitNode: boolean;
  readonly email: string;
  /** Login of the user who accepted it. */
  readonly acceptedBy: string;
  readonly createdMs: number | undefined;
  readonly lastEmailSentMs: number | undefined;
}

export interface User {
  readonly id: string;
  readonly login: string;
  readonly displayName: string;
  /** `unknown` where the control plane has no roles; the same for status and type. */
  readonly role: string;
  readonly status: string;
  readonly type: string;
  readonly createdMs: number | undefined;
  readonly lastSeenMs: number | undefined;
  readonly deviceCount: number | undefined;
  readonly connected: boolean | undefined;
}

/** A pending invitation of a user. */
export interface UserInvite {
  readonly role: string;
  readonly lastEmailSentMs: number | undefined;
}

/** A credential of the control plane. */
export interface Key {
  readonly id: string;
  readonly type: "client" | "api" | "auth" | "unknown";
  readonly authKind: "ephemeral" | "reusable" | "onetime" | "none";
  readonly description: string;
  readonly scopes: readonly string[];
  readonly createdMs: number | undefined;
  readonly expiresMs: number | undefined;
  readonly revokedMs: number | undefined;
  readonly invalid: boolean;
  /** User id; empty for none. */
  readonly owner: string;
  /** Tags that an OAuth client is limited to. */
  readonly tags: readonly string[];
  /** Tags of devices that join with the key. */
  readonly deviceTags: readonly string[];
  readonly preauthorized: boolean | undefined;
}

/** Values of `vpn.setting.name`. */
export type SettingName =
  | "devices_approval"
  | "devices_auto_updates"
  | "users_approval"
  | "network_flow_logging"
  | "regional_routing"
  | "posture_identity_collection"
  | "https_enabled"
  | "acls_externally_managed";

export interface Settings {
  /** Only settings that the control plane reported. */
  readonly switches: ReadonlyMap<SettingName, boolean>;
  /** Whether an external link to the policy's source is set; undefined when unknown. */
  readonly externalLinkSet: boolean | undefined;
  readonly keyDurationDays: number | undefined;
  /** Role allowed to join other networks. */
  readonly externalNetworksRole: string | undefined;
}

export interface Policy {
  /** HuJSON. */
  readonly text: string;
  /** Changes with the text. */
  readonly etag: string;
  /** Last change, if known. */
  readonly updatedMs: number | undefined;
}

/** Result of a policy validation. */
export interface PolicyFindings {
  /** No message and no findings. */
  readonly ok: boolean;
  readonly errors: readonly string[];
  readonly testFailures: readonly string[];
  readonly warnings: readonly string[];
}

export interface Resolver {
  readonly address: string;
  readonly useWithExitNode: boolean;
}

/** DNS settings of a network. */
export interface Dns {
  readonly nameservers: readonly Resolver[];
  /** By domain; an empty list means no resolver of its own. */
  readonly splitZones: ReadonlyMap<string, readonly Resolver[]>;
  readonly searchPaths: readonly string[];
  readonly overrideLocal: boolean;
  readonly magicDns: boolean;
}

/** Whether a contact still needs verification, by kind. Addresses are never read. */
export type Contacts = ReadonlyMap<"account" | "support" | "security", boolean>;

/** A webhook endpoint configured in the control plane. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly provider: string;
  readonly createdMs: number | undefined;
  readonly subscriptions: readonly string[];
}

/** A posture integration of the control plane. */
export interface PostureIntegration {
  readonly id: string;
  readonly provider: string;
  readonly lastSyncMs: number | undefined;
  readonly error: string;
  readonly matched: number;
  readonly possibleMatched: number;
  readonly providerHosts: number;
}

/** Logs that the control plane can stream. */
export type LogStreamType = "configuration" | "network";

/** State of a log stream. Numbers are totals since the upstream started. */
export interface LogStreamStatus {
  readonly lastActivityMs: number | undefined;
  readonly lastError: string;
  readonly bytesSent: number;
  readonly entriesSent: number;
  readonly requests: number;
  readonly failedRequests: number;
  readonly spoofedEntries: number;
  readonly maxBodyRequests: number;
}

/** Where a log stream goes. */
export interface LogStreamTarget {
  /** Kind of the receiver, e.g. `splunk`. */
  readonly destination: string;
  /** May be empty for `s3`. */
  readonly url: string;
}

export interface OAuthApp {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly nodeAttributes: readonly string[];
  readonly redirectUris: number;
  readonly createdMs: number | undefined;
}

export interface VirtualService {
  readonly name: string;
  readonly addresses: readonly string[];
  readonly ports: readonly string[];
  readonly tags: readonly string[];
}

/** A device that serves a virtual-IP service. */
export interface ServiceHost {
  readonly nodeId: string;
  readonly approval: string;
  readonly configured: string;
}

/** `from` inclusive, `to` exclusive, in milliseconds since 1970. */
export interface TimeWindow {
  readonly fromMs: number;
  readonly toMs: number;
}
