/** Interface of a control plane, as collectors use it. */
import type { OperationStatus } from "../../kernel/client/types.ts";
import type {
  Contacts,
  Device,
  DeviceInvite,
  Dns,
  Key,
  LogStreamStatus,
  LogStreamType,
  OAuthApp,
  Policy,
  PolicyFindings,
  PostureAttributes,
  PostureIntegration,
  ServiceHost,
  Settings,
  User,
  UserInvite,
  VirtualService,
  WebhookEndpoint,
} from "./model.ts";

export type ProviderKind = "tailscale" | "headscale";

/** Optional features; a collector whose feature is missing makes no calls. */
export type Capability =
  | "devices"
  | "device_posture"
  | "device_invites"
  | "users"
  | "user_invites"
  | "keys"
  | "settings"
  | "acl"
  | "acl_validate"
  | "dns"
  | "contacts"
  | "webhooks"
  | "posture_integrations"
  | "log_stream"
  | "oauth_apps"
  | "services"
  | "flowlogs"
  | "auditlogs";

/** `from` inclusive, `to` exclusive, in milliseconds since 1970. */
export interface TimeWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What is known of the credential, for the capability matrix. */
export interface Granted {
  readonly method: "oauth" | "apikey" | "workload_identity";
  /** Requested scopes; undefined when the credential has no comparable scopes. */
  readonly scopes: readonly string[] | undefined;
}

/**
 * One control plane with one credential. Methods reject with a client error (`failureOf` gives its
 * status), with the signal's reason, or with `unsupported` when `supports` is false. Lists keep the
 * control plane's order.
 */
export interface Provider {
  readonly kind: ProviderKind;
  readonly granted: Granted;
  supports(capability: Capability): boolean;
  devices(signal: AbortSignal): Promise<readonly Device[]>;
  devicePosture(deviceId: string, signal: AbortSignal): Promise<PostureAttributes>;
  deviceInvites(deviceId: string, signal: AbortSignal): Promise<readonly DeviceInvite[]>;
  users(signal: AbortSignal): Promise<readonly User[]>;
  userInvites(signal: AbortSignal): Promise<readonly UserInvite[]>;
  keys(signal: AbortSignal): Promise<readonly Key[]>;
  settings(signal: AbortSignal): Promise<Settings>;
  /** Undefined when there is none. */
  policy(signal: AbortSignal): Promise<Policy | undefined>;
  validatePolicy(text: string, signal: AbortSignal): Promise<PolicyFindings>;
  dns(signal: AbortSignal): Promise<Dns>;
  contacts(signal: AbortSignal): Promise<Contacts>;
  webhooks(signal: AbortSignal): Promise<readonly WebhookEndpoint[]>;
  postureIntegrations(signal: AbortSignal): Promise<readonly PostureIntegration[]>;
  /** Undefined when nothing is streamed. */
  logStream(type: LogStreamType, signal: AbortSignal): Promise<LogStreamStatus | undefined>;
  oauthApps(signal: AbortSignal): Promise<readonly OAuthApp[]>;
  services(signal: AbortSignal): Promise<readonly VirtualService[]>;
  serviceHosts(name: string, signal: AbortSignal): Promise<readonly ServiceHost[]>;
  /**
   * Undecoded records as they arrive; all sources share a decoder. A window is complete only when
   * the iteration has ended.
   */
  flowLogs(window: TimeWindow, signal: AbortSignal): AsyncIterable<unknown[]>;
  auditLogs(window: TimeWindow, signal: AbortSignal): AsyncIterable<unknown[]>;
  /** The network's own name; undefined when the control plane does not report it. */
  networkName(signal: AbortSignal): Promise<string | undefined>;
  /** State of each endpoint. */
  status(): readonly OperationStatus[];
  close(): Promise<void>;
}
