/**
 * Refusals of both flavours against those of real servers, as far as reading goes: status, type and
 * body of each.
 */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ask, benchHeadscale } from "../../demo/control-plane/support.ts";
import type { PolicyMode } from "./types.ts";

interface Measured {
  readonly server: string;
  readonly case: string;
  readonly request: string;
  readonly status: number;
  readonly content_type: string | null;
  readonly body: unknown;
  readonly allow?: string;
}

const measured = JSON.parse(
  readFileSync(new URL("samples/errors.json", import.meta.url), "utf8"),
) as readonly Measured[];

/** Writing is not simulated, and a single device's neighbours are asked for by another path. */
const reading = measured.filter(
  ({ request }) =>
    /^(GET|HEAD|OPTIONS|DELETE \/api\/v1\/(node|user\/1)$)/.test(request) &&
    !request.startsWith("DELETE /api/v1/preauthkey"),
);

const NO_KEY = /no Authorization|no key|without key|no credential/;

function headersOf(name: string, key: string): Record<string, string> {
  if (NO_KEY.test(name) || name === "trailing slash no key") return {};
  if (/wrong token|well-formed unknown|OAuth access token|wrong credential/.test(name))
    return { authorization: "Bearer hskey-api-000000000000-1111" };
  if (/wrong secret/.test(name)) return { authorization: `Bearer ${key.slice(0, -4)}zzzz` };
  if (/zero expiration/.test(name)) return { authorization: "Bearer hskey-api-zero" };
  if (name === "expired key") return { authorization: "Bearer hskey-api-old" };
  if (/lower-case/.test(name)) return { authorization: `bearer ${key}` };
  if (/without scheme/.test(name)) return { authorization: key };
  if (/Basic/.test(name))
    return { authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}` };
  return name === "good key as query parameter" ? {} : { authorization: `Bearer ${key}` };
}

function policyOf(name: string): PolicyMode {
  if (name.startsWith("no policy, database")) return "none";
  return name.startsWith("no policy, file") ? "unset_file" : "database";
}

describe.each(reading)("$server: $case", (expected) => {
  it("is answered as measured", async () => {
    const flavour = expected.server === "0.29.2" ? "release" : "development";
    const key = "hskey-api-4cedbd805aa9-0123456789abcdef";
    const { sim } = await benchHeadscale({
      flavour,
      policy: policyOf(expected.case),
      apiKeys: [
        { key },
        { key: "hskey-api-zero", expiresAtMs: "zero" },
        { key: "hskey-api-old", expiresAtMs: 1 },
      ],
    });
    const [method = "", path = ""] = expected.request.split(" ");
    const { status, headers, text, json } = await ask(`${sim.url}${path}`, {
      method,
      headers: headersOf(expected.case, key),
    });
    expect({ status, type: headers["content-type"] ?? null, allow: headers.allow }).toEqual({
      status: expected.status,
      type: expected.content_type,
      allow: expected.allow,
    });
    expect(typeof expected.body === "string" ? text : json).toEqual(expected.body);
  });
});

describe("keys", () => {
  it("are taken with blanks around them by the development flavour", async () => {
    const { sim } = await benchHeadscale({ flavour: "development" });
    expect(
      (await ask(`${sim.url}/api/v1/user`, { headers: { authorization: `Bearer  ${sim.apiKey}` } }))
        .status,
    ).toBe(200);
  });

  it("of OAuth clients open v2 and not v1", async () => {
    const { sim } = await benchHeadscale({ flavour: "development" });
    const body = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: "3616b8fb319a",
      client_secret: sim.apiKey,
    }).toString();
    const {
      json: { access_token: token },
    } = await ask(`${sim.url}/api/v2/oauth/token`, { method: "POST", body });
    const headers = { authorization: `Bearer ${token as string}` };
    expect((await ask(`${sim.url}/api/v2/tailnet/-/users`, { headers })).status).toBe(200);
    expect((await ask(`${sim.url}/api/v1/user`, { headers })).status).toBe(401);
  });

  it("are refused once they are revoked", async () => {
    const { sim, get } = await benchHeadscale({ flavour: "release" });
    sim.estate.revokeKeys();
    expect((await get("/api/v1/user")).status).toBe(401);
  });
});
