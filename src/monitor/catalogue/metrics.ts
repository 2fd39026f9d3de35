/** All metrics of the monitor. */
import { catalogue } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";
import { aclMetrics } from "./acl.ts";
import { apiMetrics } from "./api.ts";
import { collectionMetrics } from "./collection.ts";
import { contactsMetrics } from "./contacts.ts";
import { devicesMetrics } from "./devices.ts";
import { dnsMetrics } from "./dns.ts";
import { enrichmentMetrics } from "./enrichment.ts";
import { flowsMetrics } from "./flows.ts";
import { ingestMetrics } from "./ingest.ts";
import { k8sAuditMetrics } from "./k8s-audit.ts";
import { keysMetrics } from "./keys.ts";
import { logStreamingMetrics } from "./log-streaming.ts";
import { nodeMetricsMetrics } from "./node-metrics.ts";
import { oauthAppsMetrics } from "./oauth-apps.ts";
import { objectStoreMetrics } from "./object-store.ts";
import { postureMetrics } from "./posture.ts";
import { publishingMetrics } from "./publishing.ts";
import { receiversMetrics } from "./receivers.ts";
import { servicesMetrics } from "./services.ts";
import { settingsMetrics } from "./settings.ts";
import { usersMetrics } from "./users.ts";
import { webhooksMetrics } from "./webhooks.ts";

/** Includes metrics of features that are off. */
export const monitorMetrics: readonly AnyRow[] = catalogue(
  aclMetrics,
  apiMetrics,
  collectionMetrics,
  contactsMetrics,
  devicesMetrics,
  dnsMetrics,
  enrichmentMetrics,
  flowsMetrics,
  ingestMetrics,
  k8sAuditMetrics,
  keysMetrics,
  logStreamingMetrics,
  nodeMetricsMetrics,
  oauthAppsMetrics,
  objectStoreMetrics,
  postureMetrics,
  publishingMetrics,
  receiversMetrics,
  servicesMetrics,
  settingsMetrics,
  usersMetrics,
  webhooksMetrics,
);
