/** Metrics of the monitor: contact addresses. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

export const contactNeedsVerification = defineMetric({
  name: "vpn.contact.needs_verification",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.contact.type"],
  group: "Contacts",
  help: "1 when the contact address is unverified; types account, support, security.",
});

export const contactsMetrics: readonly AnyRow[] = catalogue([contactNeedsVerification]);
