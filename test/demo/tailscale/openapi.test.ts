/**
 * Every answer of the simulator against the vendor's own document. Where the wire is known to
 * differ from it, the difference is named here.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { benchTailscale, NOW_MS } from "../control-plane/support.ts";
import { violations, type SpecDocument } from "./schema.ts";

const document = JSON.parse(
  readFileSync(new URL("openapi.json", import.meta.url), "utf8"),
) as SpecDocument;

/** What live networks send against the document's word. */
const KNOWN: readonly RegExp[] = [
  /\.(created|expires): "" is no time$/, // of a device that is shared in
  /Traffic\[\d+\]\.proto: number instead of string$/,
  /\.(srcNode|dstNodes): unknown$/,
  /^\$\.tailnetId: unknown$/,
  /^\$\.(maxNumEntries|numMaxBodyRequests): unknown$/,
  /\.providerType:  is not in the enum$/,
];

const hour = `start=${new Date(NOW_MS - 3_600_000).toISOString()}&end=${new Date(NOW_MS).toISOString()}`;
const day = `start=${new Date(NOW_MS - 86_400_000).toISOString()}&end=${new Date(NOW_MS).toISOString()}`;

const ASKED: readonly (readonly [
  path: string,
  documented: string,
  least: (body: any) => number,
])[] = [
  ["/tailnet/-/devices", "/tailnet/{tailnet}/devices", (body) => body.devices.length],
  ["/tailnet/-/devices?fields=all", "/tailnet/{tailnet}/devices", (body) => body.devices.length],
  ["/tailnet/-/users", "/tailnet/{tailnet}/users", (body) => body.users.length],
  ["/tailnet/-/user-invites", "/tailnet/{tailnet}/user-invites", (body) => body.length],
  ["/tailnet/-/keys?all=true", "/tailnet/{tailnet}/keys", (body) => body.keys.length],
  ["/tailnet/-/settings", "/tailnet/{tailnet}/settings", (body) => Object.keys(body).length],
  [
    "/tailnet/-/dns/configuration",
    "/tailnet/{tailnet}/dns/configuration",
    (body) => body.nameservers.length,
  ],
  ["/tailnet/-/contacts", "/tailnet/{tailnet}/contacts", (body) => Object.keys(body).length],
  ["/tailnet/-/webhooks", "/tailnet/{tailnet}/webhooks", (body) => body.webhooks.length],
  [
    "/tailnet/-/posture/integrations",
    "/tailnet/{tailnet}/posture/integrations",
    (body) => body.integrations.length,
  ],
  [
    "/tailnet/-/logging/configuration/stream/status",
    "/tailnet/{tailnet}/logging/{logType}/stream/status",
    (body) => body.numEntriesSent,
  ],
  ["/tailnet/-/oauth-apps", "/tailnet/{tailnet}/oauth-apps", (body) => body.oauthApps.length],
  ["/tailnet/-/services", "/tailnet/{tailnet}/services", (body) => body.vipServices.length],
  [
    "/tailnet/-/services/svc:web/devices",
    "/tailnet/{tailnet}/services/{serviceName}/devices",
    (body) => body.hosts.length,
  ],
  [
    `/tailnet/-/logging/network?${hour}`,
    "/tailnet/{tailnet}/logging/network",
    (body) => body.logs.length,
  ],
  [
    `/tailnet/-/logging/configuration?${day}`,
    "/tailnet/{tailnet}/logging/configuration",
    (body) => body.logs.length,
  ],
];

function schemaOf(documented: string): Readonly<Record<string, any>> {
  return document.paths[documented]?.["get"].responses["200"].content["application/json"]
    .schema as Readonly<Record<string, any>>;
}

describe("answers and the vendor's document", () => {
  it.each(ASKED)("%s fits and is not empty", async (path, documented, least) => {
    const { get } = await benchTailscale({ devices: 60 });
    const { status, headers, json } = await get(path);
    expect([status, headers["content-type"]]).toEqual([200, "application/json"]);
    expect(least(json)).toBeGreaterThan(0);
    expect(
      violations(json, schemaOf(documented), document).filter(
        (each) => !KNOWN.some((known) => known.test(each)),
      ),
    ).toEqual([]);
  });

  it("fits for attributes and invites of every device", async () => {
    const { get, sim } = await benchTailscale();
    let invites = 0;
    for (const device of sim.estate.network.devices.at(NOW_MS)) {
      const attributes = await get(`/device/${device.nodeId}/attributes`);
      const invited = await get(`/device/${device.legacyId}/device-invites`);
      invites += invited.json.length as number;
      expect(
        violations(attributes.json, schemaOf("/device/{deviceId}/attributes"), document),
      ).toEqual([]);
      expect(
        violations(invited.json, schemaOf("/device/{deviceId}/device-invites"), document),
      ).toEqual([]);
    }
    expect(invites).toBeGreaterThan(0);
  });

  it("refuses with an error of the document's form", async () => {
    const { get } = await benchTailscale();
    for (const path of [
      "/tailnet/other.test/users",
      "/device/none/attributes",
      "/tailnet/-/logging/network",
      "/tailnet/-/nowhere",
    ]) {
      const { status, json } = await get(path);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(violations(json, { $ref: "#/components/schemas/Error" }, document)).toEqual([]);
    }
  });
});

describe("the walker over schemas", () => {
  it("finds members that are missing, unknown, of another type, or out of an enum", () => {
    const schema = {
      type: "object",
      required: ["a"],
      properties: {
        a: { type: "integer", maximum: 3 },
        b: { enum: ["x"] },
        c: { type: "string", format: "date-time" },
        d: { anyOf: [{ type: "string" }, { type: "null" }] },
      },
    };
    expect(violations({ b: "y", c: "today", d: 1, e: 1 }, schema, document)).toEqual([
      "$.a: missing",
      "$.b: y is not in the enum",
      '$.c: "today" is no time',
      "$.d: none of the choices",
      "$.e: unknown",
    ]);
    expect(violations({ a: 4 }, schema, document)).toEqual(["$.a: 4 is out of bounds"]);
    expect(
      violations({ a: 3, b: "x", c: "2026-01-01T00:00:00.5+02:00", d: null }, schema, document),
    ).toEqual([]);
  });
});
