import { describe, expect, it } from "vitest";
import { contacts } from "../../../src/monitor/collectors/contacts.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import { openCollector } from "./harness.ts";

describe("The collector of contacts", () => {
  it("shows which kinds of contact need to be verified", async () => {
    const provider = createFakeProvider({
      contacts: new Map([
        ["account", false],
        ["support", true],
        ["security", false],
      ]),
    });
    const harness = openCollector(contacts, provider);
    await harness.run();
    expect(harness.series()).toEqual([
      'vpn.contact.needs_verification{vpn.contact.type="account"} 0',
      'vpn.contact.needs_verification{vpn.contact.type="security"} 0',
      'vpn.contact.needs_verification{vpn.contact.type="support"} 1',
    ]);
    provider.answers.contacts = new Map([["account", true]]);
    await harness.run();
    expect(harness.series()).toEqual([
      'vpn.contact.needs_verification{vpn.contact.type="account"} 1',
    ]);
  });

  it("fails with its call", async () => {
    const harness = openCollector(
      contacts,
      createFakeProvider({
        contacts: () => {
          throw failing(500);
        },
      }),
    );
    await expect(harness.run()).rejects.toMatchObject({ code: "upstream" });
    expect(harness.states.get("getContacts")).toBe("transient_failure");
  });
});
