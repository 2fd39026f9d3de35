/** Keys of the collectors of current state. */
import {
  defineKeyGroup,
  keysOf,
  type KeyField,
  type KeyGroup,
} from "../../kernel/config/key-group.ts";
import type { Schema } from "../../kernel/config/key.ts";
import { noBlank, timer } from "../../kernel/config/rules.ts";
import { boolean, duration, integer, listOf, oneOf, string } from "../../kernel/config/types.ts";
import type { CollectorOptions } from "../options.ts";

/** A collector's options with its `enabled` flag. */
export type Switched<T> = T & { readonly enabled: boolean };
type Of<K extends keyof CollectorOptions> = Switched<NonNullable<CollectorOptions[K]>>;

/** `enabled` and `interval` of a collector. */
export function everyFields(
  what: string,
  intervalSeconds: number,
  enabled = true,
): { readonly enabled: KeyField<boolean>; readonly intervalMs: KeyField<number> } {
  return {
    enabled: { type: boolean, default: enabled, help: `Collects ${what}.` },
    intervalMs: {
      type: duration,
      default: intervalSeconds * 1000,
      rule: timer,
      help: "Time between runs.",
    },
  };
}

const on = (value: boolean, help: string): KeyField<boolean> => ({
  type: boolean,
  default: value,
  help,
});

/** By the names of `CollectorOptions`. */
export interface StateCollectorKeys {
  readonly devices: KeyGroup<Of<"devices">>;
  readonly users: KeyGroup<Of<"users">>;
  readonly keys: KeyGroup<Of<"keys">>;
  readonly settings: KeyGroup<Of<"settings">>;
  readonly acl: KeyGroup<Of<"acl">>;
  readonly dns: KeyGroup<Of<"dns">>;
  readonly contacts: KeyGroup<Of<"contacts">>;
  readonly webhooks: KeyGroup<Of<"webhooks">>;
  readonly postureIntegrations: KeyGroup<Of<"postureIntegrations">>;
  readonly logStream: KeyGroup<Of<"logStream">>;
  readonly oauthApps: KeyGroup<Of<"oauthApps">>;
  readonly services: KeyGroup<Of<"services">>;
}

export const stateCollectors: StateCollectorKeys = {
  devices: defineKeyGroup<Of<"devices">>("collectors.devices", {
    ...everyFields("devices", 60),
    collectRoutes: on(false, "Counts advertised and approved routes of each device."),
    collectConnectivity: on(
      true,
      "Collects the connectivity of devices: UDP, IPv6, NAT and endpoints.",
    ),
    collectPosture: on(false, "Collects posture attributes, with one call per device."),
    collectDeviceInvites: on(true, "Collects open invitations, with one call per device."),
    postureLogMode: {
      type: oneOf(["changes", "always", "off"]),
      default: "changes",
      help: "Which posture attributes are written as log records.",
    },
    attributeNamespaces: {
      type: listOf(string),
      default: ["intune", "jamf", "kandji", "crowdstrike", "sentinelone", "kolide", "ip"],
      rule: noBlank,
      help: "Namespaces of the posture attributes to collect; * is all.",
    },
    collectTagRollup: on(true, "Counts devices by tag."),
    tagRollupLimit: {
      type: integer(-1, 1_000_000),
      default: 50,
      help: "Maximum number of tags with their own count; 0 or less is no limit.",
    },
  }),
  users: defineKeyGroup<Of<"users">>("collectors.users", everyFields("users", 300)),
  keys: defineKeyGroup<Of<"keys">>("collectors.keys", {
    ...everyFields("keys and tokens", 300),
    expiryWarnMs: {
      type: duration,
      default: 604_800_000,
      help: "Keys that expire sooner than this are reported.",
    },
  }),
  settings: defineKeyGroup<Of<"settings">>(
    "collectors.settings",
    everyFields("the network's settings", 600),
  ),
  acl: defineKeyGroup<Of<"acl">>("collectors.acl", {
    ...everyFields("the access policy", 600),
    validate: on(
      true,
      "Has the control plane validate and test the policy. This is the only call that is not a GET.",
    ),
  }),
  dns: defineKeyGroup<Of<"dns">>("collectors.dns", everyFields("the configuration of DNS", 600)),
  contacts: defineKeyGroup<Of<"contacts">>("collectors.contacts", everyFields("contacts", 600)),
  webhooks: defineKeyGroup<Of<"webhooks">>("collectors.webhooks", {
    ...everyFields("webhook endpoints", 600),
    desiredEvents: {
      type: listOf(string),
      default: [],
      rule: noBlank,
      help: "Events that some endpoint should subscribe to.",
    },
  }),
  postureIntegrations: defineKeyGroup<Of<"postureIntegrations">>(
    "collectors.posture_integrations",
    everyFields("posture integrations", 600),
  ),
  logStream: defineKeyGroup<Of<"logStream">>(
    "collectors.log_stream",
    everyFields("the state of log streaming", 600),
  ),
  oauthApps: defineKeyGroup<Of<"oauthApps">>(
    "collectors.oauth_apps",
    everyFields("OAuth applications", 300),
  ),
  services: defineKeyGroup<Of<"services">>("collectors.services", {
    ...everyFields("services", 600),
    collectHosts: on(false, "Collects the hosts of each service, with one call per service."),
  }),
};

export const stateCollectorSchema: Schema = keysOf(
  ...Object.values<KeyGroup<object>>(
    stateCollectors as unknown as Readonly<Record<string, KeyGroup<object>>>,
  ),
);
