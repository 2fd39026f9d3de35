/** Collector of unverified network contacts. Addresses are never read. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import { defineOperation } from "../capability/operation.ts";
import { defineCollector } from "./collector.ts";
import { defineSection } from "./section.ts";

const contactNeedsVerification = defineMetric({
  name: "vpn.contact.needs_verification",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.contact.type"],
  group: "Contacts",
  help: "1 when the contact address is unverified; types account, support, security.",
});

const getContacts = defineOperation("getContacts");

const section = defineSection("contacts", {
  collects: "contacts",
  intervalSeconds: 600,
});

export const contacts = defineCollector({
  section,
  description: "Contacts that are not verified",
  needs: "contacts",
  scopes: [["account_settings:read"]],
  operations: [getContacts],
  emits: catalogue([contactNeedsVerification]),
  open:
    ({ provider }) =>
    async (tick) => {
      const result = await tick.call(getContacts, () => provider.contacts(tick.signal));
      for (const [type, unverified] of result)
        tick.sweep.gauge(contactNeedsVerification, Number(unverified), {
          "vpn.contact.type": type,
        });
    },
});
