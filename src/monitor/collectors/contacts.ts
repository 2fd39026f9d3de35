/** Collector of unverified network contacts. Addresses are never read. */
import { operations } from "../capability/operation.ts";
import { contactNeedsVerification, contactsMetrics } from "../catalogue/contacts.ts";
import { defineCollector } from "./collector.ts";

export const contacts = defineCollector({
  name: "contacts",
  description: "Contacts that are not verified",
  capability: "contacts",
  scopes: [["account_settings:read"]],
  operations: [operations.contacts],
  emits: contactsMetrics,
  options: ({ collectors }) => collectors.contacts,
  open:
    ({ provider }) =>
    async (tick) => {
      const result = await tick.call(operations.contacts, () => provider.contacts(tick.signal));
      for (const [type, unverified] of result)
        tick.sweep.gauge(contactNeedsVerification, Number(unverified), {
          "vpn.contact.type": type,
        });
    },
});
