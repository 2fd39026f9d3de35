/** All collectors, in the order of registration and display. */
import { acl } from "./acl.ts";
import { auditlogs } from "./auditlogs.ts";
import type { Collector } from "./collector.ts";
import { contacts } from "./contacts.ts";
import { devices } from "./devices.ts";
import { dns } from "./dns.ts";
import { flowlogsFeature } from "./flowlogs-feature.ts";
import { flowlogs } from "./flowlogs.ts";
import { keys } from "./keys.ts";
import { logStream } from "./log-stream.ts";
import { nodemetrics } from "./nodemetrics.ts";
import { oauthApps } from "./oauth-apps.ts";
import { objectstore, objectstoreAudit, objectstoreK8sAudit } from "./objectstore.ts";
import { postureIntegrations } from "./posture-integrations.ts";
import type { CollectorSection } from "./section.ts";
import { services } from "./services.ts";
import { settings } from "./settings.ts";
import { users } from "./users.ts";
import { webhooks } from "./webhooks.ts";

/** Which ones run depends on the options and the control plane. */
export const allCollectors: readonly Collector[] = [
  devices,
  users,
  keys,
  settings,
  acl,
  dns,
  contacts,
  webhooks,
  postureIntegrations,
  logStream,
  oauthApps,
  services,
  nodemetrics,
  flowlogs,
  flowlogsFeature,
  objectstore,
  auditlogs,
  objectstoreAudit,
  objectstoreK8sAudit,
];

/** The sections of the configuration; some collectors share one. */
export const collectorSections: readonly CollectorSection[] = [
  ...new Set(allCollectors.map(({ section }) => section)),
];
