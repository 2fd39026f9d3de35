/**
 * A control plane as collectors see it: what it can tell, and one method for each thing it tells.
 */
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

/** The kinds of control plane. */
export type ProviderKind = "tailscale" | "headscale";

/** What a control plane may or may not offer; collectors without any of these ask nobody. */
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

/** From, inclusive, to, exclusive: milliseconds since 1970. */
export interface TimeWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What is known of the credential, e.g. for the capability matrix. */
export interface Granted {
  readonly method: "oauth" | "apikey" | "workload_identity";
  /** Scopes that were asked for; undefined when the credential has none that could be compared. */
  readonly scopes: readonly string[] | undefined;
}

/**
 * One control plane with one credential. Every method rejects with an error of the client
 * (`failureOf` tells its status), or with the signal's reason; `unsupported` for what `supports`
 * denies. Lists come in the order of the control plane.
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
  /** Undefined when the control plane has none. */
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
   * Records as they arrive, not decoded yet: every way in decodes alike. A window is whole only
   * when the iteration ended.
   */
  flowLogs(window: TimeWindow, signal: AbortSignal): AsyncIterable<unknown[]>;
  auditLogs(window: TimeWindow, signal: AbortSignal): AsyncIterable<unknown[]>;
  /** The network's own name as the control plane knows it; undefined when it does not say. */
  networkName(signal: AbortSignal): Promise<string | undefined>;
  /** How each endpoint has been doing. */
  status(): readonly OperationStatus[];
  close(): Promise<void>;
}
