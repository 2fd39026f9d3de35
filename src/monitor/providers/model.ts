/**
 * What a control plane tells, in Steward's words: one shape for all providers. `undefined` is what
 * the control plane does not say, so that nobody takes a missing permission or an older server for
 * a "no". Times are milliseconds since 1970.
 */

/** A device's ways to connect, as it reports them. */
export interface Connectivity {
  /** One row for each relay region that the device measured. */
  readonly latency: readonly {
    readonly region: string;
    readonly preferred: boolean;
    readonly seconds: number;
  }[];
  /** The NAT's mapping varies by destination. */
  readonly hardNat: boolean;
  /** `ip:port`. */
  readonly endpoints: readonly string[];
  readonly supports: Readonly<Record<"udp" | "ipv6" | "pcp" | "pmp" | "upnp", boolean | undefined>>;
}

/** A machine of the network. */
export interface Device {
  readonly id: string;
  readonly nodeId: string;
  /** Unique in the network; with its domain where there is one. */
  readonly name: string;
  readonly hostname: string;
  /** Empty when it is not known, as are the other texts. */
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
  /** Of its key; undefined also when the key does not expire. */
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
  /** Undefined when the device says nothing of posture identity. */
  readonly postureIdentityDisabled: boolean | undefined;
  readonly connectivity: Connectivity | undefined;
  /** CIDRs offered, default routes included. */
  readonly advertisedRoutes: readonly string[];
  /** CIDRs approved and offered. */
  readonly enabledRoutes: readonly string[];
  /** Text of the lock's complaint about it; empty for none. */
  readonly lockError: string;
}

/** What posture providers say of a device. */
export interface PostureAttributes {
  /** By `namespace:name`. */
  readonly attributes: ReadonlyMap<string, string | number | boolean>;
  readonly expiresMs: ReadonlyMap<string, number>;
}

/** An invitation to share a device. */
export interface DeviceInvite {
  readonly accepted: boolean;
  readonly multiUse: boolean;
  readonly allowExitNode: boolean;
  readonly email: string;
  /** Login of who accepted it. */
  readonly acceptedBy: string;
  readonly createdMs: number | undefined;
  readonly lastEmailSentMs: number | undefined;
}

/** A person with a login. */
export interface User {
  readonly id: string;
  readonly login: string;
  readonly displayName: string;
  /** `unknown` where the control plane has no such thing, as are status and type. */
  readonly role: string;
  readonly status: string;
  readonly type: string;
  readonly createdMs: number | undefined;
  readonly lastSeenMs: number | undefined;
  readonly deviceCount: number | undefined;
  readonly connected: boolean | undefined;
}

/** An open invitation of a user. */
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
  /** Id of the user; empty for none. */
  readonly owner: string;
  /** Tags a client credential is limited to. */
  readonly tags: readonly string[];
  /** Tags that devices get which join by it. */
  readonly deviceTags: readonly string[];
  readonly preauthorized: boolean | undefined;
}

/** Names of a network's switches, as `vpn.setting.name` shows them. */
export type SettingName =
  | "devices_approval"
  | "devices_auto_updates"
  | "users_approval"
  | "network_flow_logging"
  | "regional_routing"
  | "posture_identity_collection"
  | "https_enabled"
  | "acls_externally_managed";

/** Switches of a network. */
export interface Settings {
  /** Only those that the control plane told. */
  readonly switches: ReadonlyMap<SettingName, boolean>;
  /**
   * Whether a link to the place where the policy is kept is set; undefined when nothing is said of
   * it.
   */
  readonly externalLinkSet: boolean | undefined;
  readonly keyDurationDays: number | undefined;
  /** Role that may join other networks. */
  readonly externalNetworksRole: string | undefined;
}

/** The policy file. */
export interface Policy {
  /** HuJSON. */
  readonly text: string;
  /** Changes when the text does. */
  readonly etag: string;
  /** When it was changed, if the control plane knows. */
  readonly updatedMs: number | undefined;
}

/** What the control plane finds in its own policy. */
export interface PolicyFindings {
  /** No message and no findings at all. */
  readonly ok: boolean;
  readonly errors: readonly string[];
  readonly testFailures: readonly string[];
  readonly warnings: readonly string[];
}

/** A resolver. */
export interface Resolver {
  readonly address: string;
  readonly useWithExitNode: boolean;
}

/** Name resolution of a network. */
export interface Dns {
  readonly nameservers: readonly Resolver[];
  /** By domain; an empty list is a domain without a resolver of its own. */
  readonly splitZones: ReadonlyMap<string, readonly Resolver[]>;
  readonly searchPaths: readonly string[];
  readonly overrideLocal: boolean;
  readonly magicDns: boolean;
}

/**
 * Whether a contact's address still needs to be verified, by kind of contact. Addresses are never
 * read.
 */
export type Contacts = ReadonlyMap<"account" | "support" | "security", boolean>;

/** A webhook endpoint that the control plane calls. */
export interface WebhookEndpoint {
  readonly id: string;
  readonly provider: string;
  readonly createdMs: number | undefined;
  readonly subscriptions: readonly string[];
}

/** A posture provider that the control plane asks. */
export interface PostureIntegration {
  readonly id: string;
  readonly provider: string;
  readonly lastSyncMs: number | undefined;
  readonly error: string;
  readonly matched: number;
  readonly possibleMatched: number;
  readonly providerHosts: number;
}

/** Which logs the control plane streams by itself. */
export type LogStreamType = "configuration" | "network";

/** How such a stream is doing. Numbers are totals since the upstream started. */
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

/** An OAuth application. */
export interface OAuthApp {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly nodeAttributes: readonly string[];
  readonly redirectUris: number;
  readonly createdMs: number | undefined;
}

/** A virtual-IP service. */
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
