import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineMetric } from "../../../src/kernel/telemetry/catalogue.ts";
import type { AnyRow, AttributeValue, Redaction } from "../../../src/kernel/telemetry/types.ts";
import { createTelemetryWriter } from "../../../src/kernel/telemetry/writer/writer.ts";
import {
  aclRiskyRuleRecord,
  configAuditRecord,
  deviceInviteRecord,
  logstreamErrorRecord,
  networkFlowRecord,
  webhookRecord,
} from "../../../src/monitor/catalogue/records.ts";
import {
  monitorMetrics,
  monitorRecords,
} from "../../../src/monitor/catalogue/monitor-catalogue.ts";
import { dnsResolver } from "../../../src/monitor/catalogue/dns.ts";
import { k8sApiRequests } from "../../../src/monitor/catalogue/k8s-audit.ts";
import { keyExpiry } from "../../../src/monitor/catalogue/keys.ts";
import type { PrivacyCategory } from "../../../src/monitor/options.ts";
import { addressCategory } from "../../../src/monitor/privacy/address-class.ts";
import { createRedaction, MASK, mask } from "../../../src/monitor/privacy/redaction.ts";
import { identityAttributes, ruleOf } from "../../../src/monitor/privacy/registry.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";
import { anyHiding, hiding } from "./fixtures.ts";

const common = { unit: "1", group: "Test", help: "For a test." } as const;
const level = defineMetric({
  ...common,
  name: "test.level",
  kind: "gauge",
  attributes: ["host.name", "host.id", "os.type"],
});
const balance = defineMetric({
  ...common,
  name: "test.balance",
  kind: "updown",
  attributes: ["vpn.node", "os.type"],
});
const sum = defineMetric({
  ...common,
  name: "test.sum",
  kind: "counter",
  attributes: ["host.name", "vpn.src.node", "source.address", "label"],
});

function redaction(...hidden: readonly PrivacyCategory[]): Required<Redaction> {
  const redact = createRedaction(hiding(...hidden));
  if (redact === undefined) throw new Error("nothing is hidden");
  return redact;
}

describe("Redaction", () => {
  it("is none while everything is exported", () => {
    expect(createRedaction(hiding())).toBeUndefined();
  });

  it("takes hidden attributes from a level, and the level itself when nothing tells it apart any more", () => {
    const values = ["web-01", "n1", "linux"];
    expect(redaction("hostnames").metric(level, values)).toEqual([undefined, "n1", "linux"]);
    expect(redaction("hostnames", "node_ids").metric(level, values)).toBe("suppress");
    expect(redaction("emails").metric(level, values)).toEqual(values);
    expect(redaction("hostnames").metric(balance, ["web-01", "linux"])).toBe("suppress");
  });

  it("keeps a level that never had an identity, and takes an empty one for none", () => {
    expect(redaction("hostnames").metric(level, [undefined, undefined, "linux"])).toEqual([
      undefined,
      undefined,
      "linux",
    ]);
    expect(redaction("external_ips").metric(dnsResolver, ["9.9.9.9", "global", "", "false"])).toBe(
      "suppress",
    );
    expect(
      redaction("external_ips").metric(dnsResolver, ["9.9.9.9", "split", "corp.test", "false"]),
    ).toEqual([undefined, "split", "corp.test", "false"]);
    expect(
      redaction("network_topology").metric(dnsResolver, ["", "split", "old.test", "false"]),
    ).toBe("suppress");
  });

  it("keeps the expiry of a key whose owner is hidden: its id tells it apart", () => {
    const values = [...keyExpiry.attributes];
    const shown = redaction("user_ids").metric(keyExpiry, values);
    expect(shown).toEqual(values.map((name) => (name === "vpn.key.owner" ? undefined : name)));
  });

  it.each(["node_ids", "hostnames"] as const)("hides recorders by %s", (category) => {
    const values = k8sApiRequests.attributes.map((name) => `value of ${name}`);
    expect(redaction(category).metric(k8sApiRequests, values)).toEqual(
      values.map((value) => (value === "value of vpn.k8s.recorder" ? undefined : value)),
    );
  });

  it("lets sums meet, whatever is hidden of them", () => {
    const shown = redaction("hostnames", "vpn_ips").metric(sum, [
      "web-01",
      "web-01",
      "100.64.0.1",
      "x",
    ]);
    expect(shown).toEqual([undefined, undefined, undefined, "x"]);
    const scope = createTelemetryWriter({ clock: createManualClock() }).scope({
      name: "network",
      resource: {},
      constants: {},
      redact: redaction("hostnames"),
    });
    for (const name of ["web-01", "web-02"])
      scope.add(sum, 1, {
        "host.name": name,
        "vpn.src.node": name,
        "source.address": undefined,
        label: "x",
      });
    expect(scope.series(sum)).toBe(1);
  });

  it("judges an address by its kind, a node by what it is, and any other label by the address it holds", () => {
    const values = (
      node: string,
      address: string,
      label: AttributeValue,
    ): readonly AttributeValue[] => ["h", node, address, label];
    expect(
      redaction("vpn_ips").metric(sum, values("100.64.0.9", "10.0.0.1", "100.64.0.9:80")),
    ).toEqual(["h", undefined, "10.0.0.1", undefined]);
    expect(
      redaction("internal_ips").metric(sum, values("100.64.0.9", "10.0.0.1", "fe80::1")),
    ).toEqual(["h", "100.64.0.9", undefined, undefined]);
    expect(redaction("external_ips").metric(sum, values("web-01", "9.9.9.9", 9))).toEqual([
      "h",
      "web-01",
      undefined,
      9,
    ]);
    expect(redaction("hostnames").metric(sum, values("100.64.0.9", "10.0.0.1", "web-01"))).toEqual([
      undefined,
      "100.64.0.9",
      "10.0.0.1",
      "web-01",
    ]);
  });

  it("hides what should be an address and is none when at least one kind of address is hidden", () => {
    const values = ["h", "n", "somewhere", "x"];
    expect(redaction("external_ips").metric(sum, values)).toEqual(["h", "n", undefined, "x"]);
    expect(redaction("emails").metric(sum, values)).toEqual(values);
    expect(redaction("vpn_ips").metric(sum, ["h", "n", "", "x"])).toEqual(["h", "n", "", "x"]);
  });

  it("suppresses or shows a level of the catalogue, and never takes a sum away", () => {
    fc.assert(
      fc.property(fc.constantFrom(...monitorMetrics), anyHiding, (row, options) => {
        const values = row.attributes.map((name) => `value of ${name}`);
        const shown = createRedaction(options)?.metric(row, values);
        if (shown === "suppress")
          expect([row.kind, row.attributes.some((name) => identityAttributes.has(name))]).toEqual([
            "gauge",
            true,
          ]);
      }),
    );
  });
});

describe("Redacting records", () => {
  it("hides attributes and their values in the body and in free text", () => {
    const record = {
      body: "ada@corp.test invited to n1",
      attributes: {
        "host.name": "web-01",
        "host.id": "n1",
        "vpn.user": "ada@corp.test",
        "user.name": undefined,
        "vpn.device_invite.delivery": "mail",
      },
    };
    expect(redaction("emails").log(deviceInviteRecord, record)).toEqual({
      body: "[redacted] invited to n1",
      attributes: { "host.name": "web-01", "host.id": "n1", "vpn.device_invite.delivery": "mail" },
    });
    const audit = redaction("emails").log(configAuditRecord, {
      body: "update",
      attributes: {
        "user.name": "ada@corp.test",
        "vpn.audit.details": "asked by ada@corp.test",
        "vpn.audit.action": "UPDATE",
      },
    });
    expect(audit?.attributes).toEqual({
      "vpn.audit.details": "asked by [redacted]",
      "vpn.audit.action": "UPDATE",
    });
  });

  it.each([
    [logstreamErrorRecord, "vpn.logstream.type"],
    [webhookRecord, "vpn.webhook.type"],
  ] as const)("replaces a body of free text: %o", (row, name) => {
    const record = {
      body: "web-01 is gone",
      attributes: { [name]: "x" },
      type: "nodeDeleted",
      timeMs: 5,
      severity: "warn" as const,
    };
    expect(redaction("free_text_details").log(row, record)).toEqual({
      ...record,
      body: "[redacted]",
    });
    expect(redaction("emails").log(row, record)).toEqual(record);
  });

  it("keeps a body that only Steward wrote", () => {
    const record = {
      body: "a rule is open",
      attributes: { "vpn.acl.section": "acls", "vpn.acl.rule": "src=* dst=*:*" },
    };
    expect(redaction("free_text_details").log(aclRiskyRuleRecord, record)).toEqual({
      body: "a rule is open",
      attributes: { "vpn.acl.section": "acls" },
    });
  });

  it("hides the addresses of flows by their kind", () => {
    const attributes = {
      "source.address": "100.64.0.1",
      "destination.address": "9.9.9.9",
      "vpn.src.node": "web-01",
      "vpn.dst.node": "9.9.9.9",
      "source.port": 443,
    };
    const shown = redaction("external_ips").log(networkFlowRecord, {
      body: "100.64.0.1:443 to 9.9.9.9:53",
      attributes,
    });
    expect(shown).toEqual({
      body: "100.64.0.1:443 to [redacted]:53",
      attributes: { "source.address": "100.64.0.1", "vpn.src.node": "web-01", "source.port": 443 },
    });
  });
});

/**
 * What an attribute may hold; digits and upper case only, so that no value is part of a name or of
 * the mask.
 */
const word = fc.stringMatching(/^[A-HXYZ0-9]{3,8}$/);
const anyValue = fc.oneof(
  word,
  fc.ipV4(),
  fc.ipV6(),
  fc.tuple(fc.ipV4(), fc.nat(65_535)).map(([address, port]) => `${address}:${port}`),
);

describe("Redaction as a whole", () => {
  const hiddenBy = (
    options: Readonly<Record<PrivacyCategory, boolean>>,
    name: string,
    value: string,
  ): boolean => {
    const rule = ruleOf(name);
    if (name === "vpn.k8s.recorder" && !options.hostnames) return true;
    if (rule !== undefined && rule !== "address" && rule !== "node") return !options[rule];
    const category = addressCategory(value);
    if (category !== undefined) return !options[category];
    return rule === "node"
      ? !options.hostnames
      : rule === "address" && !(options.vpn_ips && options.internal_ips && options.external_ips);
  };

  it("leaves no hidden value in a series, and does nothing the second time", () => {
    const series = fc.constantFrom(...monitorMetrics).chain((row) =>
      fc.tuple(
        fc.constant<AnyRow>(row),
        fc.array(fc.option(anyValue, { nil: undefined }), {
          minLength: row.attributes.length,
          maxLength: row.attributes.length,
        }),
      ),
    );
    fc.assert(
      fc.property(series, anyHiding, ([row, values], options) => {
        const redact = createRedaction(options);
        const shown = redact?.metric(row, values);
        if (shown === undefined || shown === "suppress") return;
        const owner = values[row.attributes.indexOf("vpn.key.owner")];
        expect(shown).toEqual(
          values.map((value, index) => {
            const name = row.attributes[index] ?? "";
            if (value === undefined || hiddenBy(options, name, value)) return undefined;
            return name === "vpn.key.description" && owner !== undefined && !options.user_ids
              ? mask(value, [owner])
              : value;
          }),
        );
        expect(redact?.metric(row, shown)).toEqual(shown);
      }),
      { numRuns: 500 },
    );
  });

  it("leaves no hidden value in a record's body and free text, and does nothing the second time", () => {
    const record = fc.constantFrom(...monitorRecords).chain((row) =>
      fc.tuple(
        fc.constant(row),
        fc.array(anyValue, {
          minLength: row.attributes.length,
          maxLength: row.attributes.length,
        }),
        fc.array(fc.oneof(word, fc.nat(50))),
      ),
    );
    fc.assert(
      fc.property(record, anyHiding, ([row, values, words], options) => {
        const redact = createRedaction(options);
        const attributes: Record<string, string> = Object.fromEntries(
          row.attributes.map((name, index) => [name, values[index] ?? ""]),
        );
        const body = words
          .map((each) => (typeof each === "number" ? (values[each] ?? "said") : each))
          .join(" ");
        const shown = redact?.log(row, { body, attributes });
        const hidden = Object.entries(attributes).filter(([name, value]) =>
          hiddenBy(options, name, value),
        );
        const texts = [
          shown?.body ?? "",
          ...Object.entries(shown?.attributes ?? {})
            .filter(([name]) => ruleOf(name) === "free_text_details")
            .map(([, value]) => String(value)),
        ];
        for (const [name, value] of hidden) {
          expect(shown?.attributes).not.toHaveProperty([name]);
          for (const text of texts)
            for (const piece of text.split("[redacted]")) expect(piece).not.toContain(value);
        }
        expect(shown && redact?.log(row, shown)).toEqual(shown);
      }),
      { numRuns: 500 },
    );
  });

  it("tells levels apart by attributes that the catalogue has", () => {
    const known = new Set(
      [...monitorMetrics, ...monitorRecords].flatMap(({ attributes }) => attributes),
    );
    expect([...identityAttributes].filter((name) => !known.has(name))).toEqual([]);
  });
});

describe("Masking", () => {
  it("takes the longer of two secrets at one place, and everything literally", () => {
    expect(mask("ada@corp.test and ada, not a.a", ["ada", "ada@corp.test"])).toBe(
      "[redacted] and [redacted], not a.a",
    );
    expect(mask("a.c abc (x)|[y]", ["a.c", "(x)|[y]"])).toBe("[redacted] abc [redacted]");
  });

  it("does not look at what it put in", () => {
    expect(mask("it was red", ["red", "was"])).toBe("it [redacted] [redacted]");
  });

  it("leaves a text alone in which there is none", () => {
    expect(mask("nothing", ["", "something"])).toBe("nothing");
  });

  it("leaves no secret in what it did not put in, and each piece as it was", () => {
    const letters = fc.string({
      unit: fc.constantFrom("a", "b", "c", ".", "*", "\\"),
      maxLength: 30,
    });
    const secrets = fc.array(
      fc.string({ unit: fc.constantFrom("a", "b", ".", "*", "\\"), minLength: 1, maxLength: 4 }),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(letters, secrets, (text, hidden) => {
        const pieces = mask(text, hidden).split(MASK);
        for (const piece of pieces)
          for (const secret of hidden) expect(piece).not.toContain(secret);
        let from = 0;
        for (const piece of pieces) {
          const at = text.indexOf(piece, from);
          expect(at).toBeGreaterThanOrEqual(from);
          from = at + piece.length;
        }
      }),
    );
  });
});
