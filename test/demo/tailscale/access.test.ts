/** Who may ask for what: credentials, tokens and their ends, scopes, limits. */
import { describe, expect, it } from "vitest";
import { ask, benchTailscale, type TailscaleBench } from "../control-plane/support.ts";

const asked = {
  method: "POST",
  headers: { "content-type": "application/x-www-form-urlencoded" },
} as const;
const form = (members: Record<string, string>): string => new URLSearchParams(members).toString();

async function statusWith(
  { get, token }: TailscaleBench,
  path: string,
  scopes: string,
): Promise<number> {
  return (await get(path, { headers: { authorization: `Bearer ${await token(scopes)}` } })).status;
}

describe("the token endpoint", () => {
  it("hands out tokens that open the API, by form and by Basic", async () => {
    const { sim, get } = await benchTailscale();
    const { clientId, clientSecret } = sim.credentials;
    const url = `${sim.url}/api/v2/oauth/token`;
    const byForm = await ask(url, {
      ...asked,
      body: form({
        grant_type: "client_credentials",
        client_id: clientId,
        client_secret: clientSecret,
      }),
    });
    const byBasic = await ask(url, {
      ...asked,
      headers: { ...asked.headers, authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}` },
      body: form({ grant_type: "client_credentials", scope: "users:read" }),
    });
    expect(byForm.json).toEqual({
      access_token: expect.stringMatching(/^tskey-api-/) as string,
      token_type: "Bearer",
      expires_in: 3600,
      scope: "all:read",
    });
    expect(byBasic.json.scope).toBe("users:read");
    expect(
      (
        await get("/tailnet/-/users", {
          headers: { authorization: `Bearer ${byBasic.json.access_token as string}` },
        })
      ).status,
    ).toBe(200);
  });

  it("refuses in the words of RFC 6749", async () => {
    const { sim } = await benchTailscale({
      clients: [{ id: "k1", secret: "s", scopes: ["users:read"] }],
    });
    const refused = async (members: Record<string, string>): Promise<unknown> => {
      const { status, json } = await ask(`${sim.url}/api/v2/oauth/token`, {
        ...asked,
        body: form(members),
      });
      return [status, json.error];
    };
    const client = { client_id: "k1", client_secret: "s" };
    expect(await refused({ ...client, grant_type: "password" })).toEqual([
      400,
      "unsupported_grant_type",
    ]);
    expect(
      await refused({ client_id: "k2", client_secret: "s", grant_type: "client_credentials" }),
    ).toEqual([401, "invalid_client"]);
    expect(
      await refused({ ...client, client_secret: "t", grant_type: "client_credentials" }),
    ).toEqual([401, "invalid_client"]);
    expect(
      await refused({ ...client, grant_type: "client_credentials", scope: "devices:core:read" }),
    ).toEqual([400, "invalid_scope"]);
    expect(
      await refused({ ...client, grant_type: "client_credentials", scope: "users:fly" }),
    ).toEqual([400, "invalid_scope"]);
  });

  it("exchanges the tokens of other issuers", async () => {
    const { sim, get } = await benchTailscale({ federated: [{ id: "kF", jwt: "a.b.c" }] });
    const exchange = (jwt: string) =>
      ask(`${sim.url}/api/v2/oauth/token-exchange`, {
        ...asked,
        body: form({ client_id: "kF", jwt, grant_type: "authorization_code", code: "" }),
      });
    expect((await exchange("x.y.z")).status).toBe(401);
    const { json } = await exchange("a.b.c");
    expect(
      (
        await get("/tailnet/-/users", {
          headers: { authorization: `Bearer ${json.access_token as string}` },
        })
      ).status,
    ).toBe(200);
  });
});

describe("tokens", () => {
  it("end after their lifetime", async () => {
    const bench = await benchTailscale({ tokenLifetimeMs: 60_000 });
    const headers = { authorization: `Bearer ${await bench.token()}` };
    expect((await bench.get("/tailnet/-/users", { headers })).status).toBe(200);
    bench.clock.advance(60_000);
    expect(await bench.get("/tailnet/-/users", { headers })).toMatchObject({
      status: 401,
      json: { message: "API token invalid" },
    });
  });

  it("end when they are revoked, and with their client", async () => {
    const bench = await benchTailscale();
    const first = { authorization: `Bearer ${await bench.token()}` };
    bench.sim.estate.revokeTokens();
    expect((await bench.get("/tailnet/-/users", { headers: first })).status).toBe(401);
    const second = { authorization: `Bearer ${await bench.token()}` };
    expect((await bench.get("/tailnet/-/users", { headers: second })).status).toBe(200);
    bench.sim.estate.removeClient(bench.sim.credentials.clientId);
    expect((await bench.get("/tailnet/-/users", { headers: second })).status).toBe(401);
    expect(await bench.token()).toBeUndefined();
  });
});

describe("API keys", () => {
  it("are taken as Bearer and as Basic user without a password, until they run out", async () => {
    const { sim, clock, get } = await benchTailscale({
      apiKeys: [{ key: "tskey-api-k1", expiresAtMs: Date.UTC(2026, 10, 22) }],
    });
    expect((await get("/tailnet/-/users")).status).toBe(200);
    expect(
      (
        await get("/tailnet/-/users", {
          headers: { authorization: `Basic ${btoa("tskey-api-k1:")}` },
        })
      ).status,
    ).toBe(200);
    expect(
      (
        await get("/tailnet/-/users", {
          headers: { authorization: `Basic ${btoa("tskey-api-k1:x")}` },
        })
      ).status,
    ).toBe(401);
    clock.advance(86_400_000);
    expect((await get("/tailnet/-/users")).status).toBe(401);
    expect((await ask(`${sim.url}/api/v2/tailnet/-/users`)).status).toBe(401);
  });
});

const NEEDED: readonly (readonly [path: string, scope: string])[] = [
  ["/tailnet/-/devices", "devices:core:read"],
  ["/tailnet/-/users", "users:read"],
  ["/tailnet/-/user-invites", "users:read"],
  ["/tailnet/-/acl", "policy_file:read"],
  ["/tailnet/-/dns/configuration", "dns:read"],
  ["/tailnet/-/contacts", "account_settings:read"],
  ["/tailnet/-/webhooks", "webhooks:read"],
  ["/tailnet/-/posture/integrations", "feature_settings:read"],
  ["/tailnet/-/logging/configuration/stream/status", "log_streaming:read"],
  ["/tailnet/-/oauth-apps", "oauth_apps:read"],
  ["/tailnet/-/services", "services:read"],
];

describe("scopes", () => {
  it.each(NEEDED)(
    "%s is opened by %s, its writing form and all:read, and by nothing else",
    async (path, scope) => {
      const bench = await benchTailscale({ clients: [{ id: "k", secret: "s", scopes: ["all"] }] });
      const other =
        scope === "contacts:read" || path.includes("contacts")
          ? "users:read"
          : "account_settings:read";
      expect(await statusWith(bench, path, scope)).toBe(200);
      expect(await statusWith(bench, path, scope.replace(":read", ""))).toBe(200);
      expect(await statusWith(bench, path, "all:read")).toBe(200);
      expect(await statusWith(bench, path, other)).toBe(403);
    },
  );

  it("of services and devices are both needed for a service's hosts", async () => {
    const bench = await benchTailscale();
    expect(await statusWith(bench, "/tailnet/-/services/svc:web/devices", "services:read")).toBe(
      403,
    );
    expect(
      await statusWith(
        bench,
        "/tailnet/-/services/svc:web/devices",
        "services:read devices:core:read",
      ),
    ).toBe(200);
    expect(await statusWith(bench, "/tailnet/-/services/svc:none/devices", "all:read")).toBe(404);
  });

  it("show each kind of key by itself", async () => {
    const bench = await benchTailscale();
    const kinds = async (scopes: string): Promise<unknown> => {
      const { json } = await bench.get("/tailnet/-/keys?all=true", {
        headers: { authorization: `Bearer ${await bench.token(scopes)}` },
      });
      return [...new Set((json.keys as { keyType: string }[]).map(({ keyType }) => keyType))];
    };
    expect(await kinds("auth_keys:read")).toEqual(["auth"]);
    expect(await kinds("oauth_keys:read federated_keys:read")).toEqual(["client", "federated"]);
    expect(await kinds("all:read")).toEqual(["auth", "api", "client", "federated"]);
    expect(await statusWith(bench, "/tailnet/-/keys?all=true", "users:read")).toBe(403);
  });

  it("that are missing leave settings null or absent", async () => {
    const bench = await benchTailscale();
    const settings = async (scopes: string): Promise<unknown> =>
      (
        await bench.get("/tailnet/-/settings", {
          headers: { authorization: `Bearer ${await bench.token(scopes)}` },
        })
      ).json;
    expect(await settings("logs:network:read")).toEqual({
      aclsExternallyManagedOn: null,
      devicesApprovalOn: null,
      devicesAutoUpdatesOn: null,
      usersApprovalOn: null,
      networkFlowLoggingOn: true,
      regionalRoutingOn: null,
      postureIdentityCollectionOn: null,
      httpsEnabled: null,
    });
    expect(await settings("feature_settings:read")).toMatchObject({
      devicesKeyDurationDays: 180,
      networkFlowLoggingOn: null,
      httpsEnabled: null,
    });
  });
});

describe("the rate limit", () => {
  it("answers 429 until the minute ends, and says when that is", async () => {
    const { sim, clock, get } = await benchTailscale({ limit: { perMinute: 2 } });
    expect([
      (await get("/tailnet/-/users")).status,
      (await get("/tailnet/-/users")).status,
    ]).toEqual([200, 200]);
    expect(await get("/tailnet/-/users")).toMatchObject({
      status: 429,
      headers: { "retry-after": "30" },
      json: { message: "too many requests" },
    });
    sim.estate.limit({ perMinute: 0, announce: "date" });
    expect((await get("/tailnet/-/users")).headers["retry-after"]).toBe(
      "Sat, 21 Nov 2026 10:21:00 GMT",
    );
    sim.estate.limit({ perMinute: 1 });
    clock.advance(30_000);
    expect((await get("/tailnet/-/users")).status).toBe(200);
    sim.estate.limit({ perMinute: 0, announce: "none" });
    expect((await get("/tailnet/-/users")).headers).not.toHaveProperty("retry-after");
  });
});

describe("a plan", () => {
  it("may lack flow logs (403) and other things (404)", async () => {
    const { sim, get } = await benchTailscale({ absent: ["flow_logs", "webhooks"] });
    const window = "start=2026-11-21T10:00:00Z&end=2026-11-21T10:10:00Z";
    expect((await get(`/tailnet/-/logging/network?${window}`)).status).toBe(403);
    expect((await get("/tailnet/-/settings")).json.networkFlowLoggingOn).toBe(false);
    expect((await get("/tailnet/-/webhooks")).status).toBe(404);
    sim.estate.absent(["audit_logs"]);
    expect((await get(`/tailnet/-/logging/configuration?${window}`)).status).toBe(404);
    expect((await get("/tailnet/-/webhooks")).status).toBe(200);
  });
});

describe("networks", () => {
  it("are known by a dash, their name and their id", async () => {
    const { sim, get } = await benchTailscale({ tailnet: "example.org" });
    for (const name of ["-", "example.org", sim.estate.network.tailnetId])
      expect((await get(`/tailnet/${name}/users`)).status).toBe(200);
    expect(await get("/tailnet/other.org/users")).toMatchObject({
      status: 404,
      json: { message: "tailnet not found" },
    });
  });
});
