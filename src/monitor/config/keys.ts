/** All configuration keys of the monitor, and rules over several of them. */
import type { Schema } from "../../kernel/config/key.ts";
import type { Check } from "../../kernel/config/load.ts";
import { collectorSections } from "../collectors/all.ts";
import { annotationSchema } from "./annotation-keys.ts";
import { cardinalitySchema } from "./cardinality-keys.ts";
import { checkCredentials } from "./checks/credentials.ts";
import {
  checkAnnotations,
  checkUnusedCollectors,
  checkNetworkNames,
  checkVersions,
} from "./checks/inert.ts";
import { checkFeeds, checkWindows } from "./checks/logs.ts";
import { checkCardinality, checkNodes } from "./checks/series.ts";
import { checkEvents, eventSchema } from "./event-keys.ts";
import { checkFlowStore, flowSchema } from "./flow-keys.ts";
import { networks } from "./network-keys.ts";
import { privacySchema } from "./privacy-keys.ts";
import { providerKeys } from "./provider-keys.ts";
import { checkIngress } from "../ingress/config/check-ingress.ts";
import { ingressSchema } from "../ingress/config/ingress-keys.ts";
import { checkStreaming } from "../receivers/config/check-streaming.ts";
import { checkWebhook } from "../receivers/config/check-webhook.ts";
import { streamingSchema, streamingTls } from "../receivers/config/stream-keys.ts";
import { webhookSchema, webhookTls } from "../receivers/config/webhook-keys.ts";
import { checkCoordination, coordinationSchema } from "../coordination/config/keys.ts";
import { checkGeoip, geoipSchema } from "../geoip/keys.ts";
import { checkReverseDns, reverseDnsSchema } from "../reverse-dns/keys.ts";
import { upkeepSchema } from "./upkeep-keys.ts";

/** They stand at the root of the file. */
export const monitorKeys: Schema = [
  ...providerKeys,
  networks,
  ...collectorSections.flatMap(({ schema }) => schema),
  ...cardinalitySchema,
  ...privacySchema,
  ...annotationSchema,
  ...eventSchema,
  ...flowSchema,
  ...upkeepSchema,
  ...streamingSchema,
  ...webhookSchema,
  ...ingressSchema,
  ...reverseDnsSchema,
  ...geoipSchema,
  ...coordinationSchema,
];

export const monitorChecks: readonly Check[] = [
  checkCredentials,
  checkWindows,
  checkFeeds,
  checkCardinality,
  checkNodes,
  checkUnusedCollectors,
  checkVersions,
  checkNetworkNames,
  checkAnnotations,
  checkStreaming,
  streamingTls.check,
  checkWebhook,
  webhookTls.check,
  checkIngress,
  checkEvents,
  checkFlowStore,
  checkReverseDns,
  checkGeoip,
  checkCoordination,
];
