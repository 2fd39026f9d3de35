/** Collector of unverified network contacts. Addresses are never read. */
import { defineOperation } from "../capability/operation.ts";
import { contactNeedsVerification, contactsMetrics } from "../catalogue/contacts.ts";
import { defineCollector } from "./collector.ts";
import { defineSection } from "./section.ts";

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
  emits: contactsMetrics,
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
