import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../../../src/kernel/client/failure.ts";
import type { TailscaleAuth } from "../../../../src/monitor/options.ts";
import { createUpstream, forever, sendJson } from "../../../kernel/client/upstream.ts";
import { all, ask, byPath, CANARY, http, tailscaleOptions } from "../plane.ts";

const oauth: TailscaleAuth = {
  method: "oauth",
  clientId: "cid",
  clientSecret: { sentSecret: CANARY, origin: "test" },
  scopes: ["devices:core:read", "users:read"],
};

describe("tailscale", () => {
  it("asks each endpoint under its label", async () => {
    const at = (rest: string) => `/api/v2/tailnet/corp.test/${rest}`;
    await using upstream = await createUpstream(
      byPath({
        [at("devices")]: { devices: null },
        "/api/v2/device/n%3A1/attributes": {
          attributes: { "custom:score": 87, "node:os": "linux", x: [] },
          expiries: { "custom:score": "2026-11-28T00:00:00Z", y: "" },
        },
        [at("keys")]: {
          keys: [
            {
              id: "k",
              capabilities: {
                devices: { create: { reusable: true, preauthorized: true, tags: ["tag:ci"] } },
              },
            },
            { id: "f", keyType: "federated", scopes: ["all"] },
          ],
        },
        [at("services/svc%3Aweb/devices")]: {
          hosts: [{ stableNodeID: "n1", approvalLevel: "approved:auto", configured: "ready" }],
        },
        [at("settings")]: {
          devicesApprovalOn: true,
          httpsEnabled: null,
          aclsExternalLink: "",
          devicesKeyDurationDays: 180,
        },
        [at("logging/network/stream/status")]: { maxNumEntries: 0 },
        [at("dns/configuration")]: {
          nameservers: [{ address: "9.9.9.9", useWithExitNode: true }],
          splitDNS: { "old.test": null },
          preferences: { magicDNS: true },
        },
        [at("contacts")]: {
          account: { email: "a@corp.test", needsVerification: true },
          support: null,
          security: { email: "x@corp.test" },
        },
      }),
    );
    await using asked = ask(tailscaleOptions(upstream.url, { network: "corp.test" }));
    const { provider } = asked;
    expect(await provider.devices(forever)).toEqual([]);
    expect(await provider.devicePosture("n:1", forever)).toEqual({
      attributes: new Map<string, unknown>([
        ["custom:score", 87],
        ["node:os", "linux"],
      ]),
      expiresMs: new Map([["custom:score", Date.UTC(2026, 10, 28)]]),
    });
    expect(await provider.keys(forever)).toMatchObject([
      { type: "auth", authKind: "reusable", preauthorized: true, deviceTags: ["tag:ci"], tags: [] },
      { type: "unknown", authKind: "none", preauthorized: undefined },
    ]);
    expect(await provider.serviceHosts("svc:web", forever)).toEqual([
      { nodeId: "n1", approval: "approved:auto", configured: "ready" },
    ]);
    expect(await provider.settings(forever)).toEqual({
      switches: new Map([["devices_approval", true]]),
      externalLinkSet: false,
      keyDurationDays: 180,
      externalNetworksRole: undefined,
    });
    expect(await provider.logStream("network", forever)).toBeUndefined();
    expect(await provider.dns(forever)).toEqual({
      nameservers: [{ address: "9.9.9.9", useWithExitNode: true }],
      splitZones: new Map([["old.test", []]]),
      searchPaths: [],
      overrideLocal: false,
      magicDns: true,
    });
    expect(await provider.contacts(forever)).toEqual(
      new Map([
        ["account", true],
        ["security", false],
      ]),
    );
    expect(asked.calls.map(({ operation }) => operation)).toEqual([
      "devices",
      "device/attributes",
      "keys",
      "services/devices",
      "settings",
      "logging/network/stream/status",
      "dns/configuration",
      "contacts",
    ]);
    expect(upstream.requests.map(({ url }) => url).filter((url) => url.includes("?"))).toEqual([
      `${at("devices")}?fields=all`,
      `${at("keys")}?all=true`,
    ]);
  });

  it("knows where logs are streamed, also to S3 without a URL", async () => {
    await using upstream = await createUpstream(
      byPath({
        "/api/v2/tailnet/corp.test/logging/network/stream": {
          logType: "network",
          destinationType: "s3",
          url: "",
          s3Bucket: "logs",
        },
        "/api/v2/tailnet/corp.test/logging/configuration/stream": {},
      }),
    );
    await using asked = ask(tailscaleOptions(upstream.url, { network: "corp.test" }));
    expect(await asked.provider.logStreamTarget("network", forever)).toEqual({
      destination: "s3",
      url: "",
    });
    expect(await asked.provider.logStreamTarget("configuration", forever)).toBeUndefined();
  });

  it("takes several connections that are left out for none, and leaves unknown flags out", async () => {
    const devices = [{ id: "1" }, { id: "2", multipleConnections: true, sshEnabled: false }];
    await using upstream = await createUpstream(
      byPath({ "/api/v2/tailnet/corp.test/devices": { devices } }),
    );
    await using asked = ask(tailscaleOptions(upstream.url, { network: "corp.test" }));
    expect(await asked.provider.devices(forever)).toMatchObject([
      { multipleConnections: false, sshEnabled: undefined },
      { multipleConnections: true, sshEnabled: false },
    ]);
  });

  it("reads the policy as text and takes an empty validation for a good one", async () => {
    const bodies = [
      "",
      "{}",
      '{"message":"test(s) failed","data":[{"user":"a","errors":["x","y"]}]}',
      '{"message":"warning(s) found","data":[{"warnings":["w"]}]}',
    ];
    await using upstream = await createUpstream((request, response, count) => {
      response.writeHead(
        200,
        request.method === "GET"
          ? { "content-type": "application/hujson", etag: '"a1"' }
          : { "content-type": "application/json" },
      );
      response.end(request.method === "GET" ? "{ // demo\n}" : bodies[count - 2]);
    });
    await using asked = ask(tailscaleOptions(upstream.url));
    expect(await asked.provider.policy(forever)).toEqual({
      text: "{ // demo\n}",
      etag: '"a1"',
      updatedMs: undefined,
    });
    const found = [];
    for (const _ of bodies) found.push(await asked.provider.validatePolicy("{}", forever));
    expect(
      found.map(({ ok, errors, testFailures, warnings }) => [ok, errors, testFailures, warnings]),
    ).toEqual([
      [true, [], [], []],
      [true, [], [], []],
      [false, [], ["x", "y"], []],
      [false, [], [], ["w"]],
    ]);
    expect(upstream.requests[0]?.headers.accept).toBe("application/hujson");
  });

  it("reads logs in windows of whole seconds and learns the network's name from them", async () => {
    await using upstream = await createUpstream((_, response) =>
      sendJson(response, {
        version: "1.1",
        tailnet: "corp.test",
        logs: [{ a: 1 }, "odd"],
        tailnetId: "TSim",
      }),
    );
    await using asked = ask(tailscaleOptions(upstream.url));
    expect(await all(asked.provider.flowLogs({ fromMs: 1_500, toMs: 61_999 }, forever))).toEqual([
      { a: 1 },
      "odd",
    ]);
    expect(await all(asked.provider.auditLogs({ fromMs: 1_100, toMs: 1_900 }, forever))).toEqual(
      [],
    );
    expect(await asked.provider.networkName(forever)).toBe("TSim");
    expect(upstream.requests).toHaveLength(2);
    expect(upstream.requests[0]?.url).toBe(
      "/api/v2/tailnet/-/logging/network?start=1970-01-01T00%3A00%3A01Z&end=1970-01-01T00%3A01%3A01Z",
    );
  });

  it("shares one rate over all its clients and keeps the wait apart", async () => {
    await using upstream = await createUpstream(
      byPath({
        "/api/v2/tailnet/-/users": { users: [] },
        "/api/v2/tailnet/-/logging/network": { logs: [] },
      }),
    );
    await using asked = ask(tailscaleOptions(upstream.url, { http: { ...http, rateLimit: 1 } }));
    await asked.provider.users(forever);
    await all(asked.provider.flowLogs({ fromMs: 0, toMs: 5_000 }, forever));
    expect(asked.calls[1]?.waitedMs).toBeGreaterThan(50);
  });

  it("never repeats an address that holds a password", () => {
    for (const url of ["https://jo:canary-pass@api.test", "no url canary-pass"]) {
      let error: unknown;
      try {
        ask({ ...tailscaleOptions(new URL("http://x.test")), url });
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toMatchObject({ code: "invalid" });
      expect(String(error)).not.toContain("canary-pass");
    }
  });
});

describe("an access token", () => {
  it("is fetched once for all, used until it ends and renewed when it is refused", async () => {
    let token = 0;
    await using upstream = await createUpstream((request, response) => {
      if (request.url === "/api/v2/oauth/token")
        sendJson(response, { access_token: `tok-${++token}`, expires_in: "3600" });
      else
        sendJson(
          response,
          { users: [] },
          {},
          request.headers.authorization === "Bearer tok-1" && token === 1 && revoked ? 401 : 200,
        );
    });
    let revoked = false;
    await using asked = ask(tailscaleOptions(upstream.url, { auth: oauth }));
    await Promise.all([
      asked.provider.users(forever),
      asked.provider.users(forever),
      asked.provider.users(forever),
    ]);
    expect(token).toBe(1);
    revoked = true;
    await asked.provider.users(forever);
    expect(token).toBe(2);
    expect(upstream.requests[0]).toMatchObject({
      body: "grant_type=client_credentials&scope=devices%3Acore%3Aread+users%3Aread",
      headers: { authorization: `Basic ${Buffer.from(`cid:${CANARY}`).toString("base64")}` },
    });
    expect(asked.provider.granted).toEqual({
      method: "oauth",
      scopes: ["devices:core:read", "users:read"],
    });
    expect(asked.calls.map(({ operation }) => operation)).toEqual([
      "oauth/token",
      "users",
      "users",
      "users",
      "oauth/token",
      "users",
    ]);
    expect(asked.provider.status().map(({ operation }) => operation)).toEqual([
      "users",
      "oauth/token",
    ]);
  });

  it("is asked for by the form when the server does not know the header, and from then on", async () => {
    await using upstream = await createUpstream((request, response, count) => {
      if (!request.url?.includes("oauth")) return sendJson(response, { users: [] });
      const form = request.headers.authorization === undefined;
      sendJson(
        response,
        form ? { access_token: `t${count}`, expires_in: 1 } : { error: "invalid_client" },
        {},
        form ? 200 : 401,
      );
    });
    await using asked = ask(tailscaleOptions(upstream.url, { auth: oauth }));
    await asked.provider.users(forever);
    await asked.provider.users(forever);
    expect(
      upstream.requests
        .filter(({ url }) => url.includes("oauth"))
        .map(({ headers, body }) => [
          headers.authorization !== undefined,
          body.includes("client_secret"),
        ]),
    ).toEqual([
      [true, false],
      [false, true],
      [false, true],
    ]);
  });

  it.each([
    [400, "invalid_scope", "oauth_invalid_scope"],
    [403, "<b>secret page</b>", "oauth_error"],
    [404, "x", "oauth_error"],
  ])(
    "that is refused with %i ends the call, and its status is not taken for that of the endpoint",
    async (status, code, reason) => {
      await using upstream = await createUpstream((_, response) =>
        sendJson(response, { error: code, error_description: "canary-text" }, {}, status),
      );
      await using asked = ask(tailscaleOptions(upstream.url, { auth: oauth }));
      const error: unknown = await asked.provider.users(forever).catch((thrown: unknown) => thrown);
      expect(failureOf(error)).toMatchObject({ class: "auth", status: 0, reason });
      expect(upstream.requests).toHaveLength(1);
      expect(JSON.stringify([String(error), asked.lines])).not.toMatch(/canary|secret page/);
      expect(asked.lines.some(({ level }) => level === "error")).toBe(status === 403);
    },
  );

  it("that does not come because of an outage is fetched again by the next attempt", async () => {
    await using upstream = await createUpstream((request, response, count) =>
      request.url?.includes("oauth")
        ? sendJson(response, { access_token: "t" }, {}, count === 1 ? 503 : 200)
        : sendJson(response, { users: [] }),
    );
    await using asked = ask(tailscaleOptions(upstream.url, { auth: oauth }));
    expect(await asked.provider.users(forever)).toEqual([]);
    expect(upstream.requests).toHaveLength(3);
  });

  it("of a workload comes for the file's present content", async () => {
    const folder = mkdtempSync(join(tmpdir(), "steward-"));
    try {
      const idTokenFile = join(folder, "token");
      await using upstream = await createUpstream((request, response) =>
        sendJson(
          response,
          request.url?.includes("oauth") ? { access_token: "t", expires_in: 5 } : { users: [] },
        ),
      );
      await using asked = ask(
        tailscaleOptions(upstream.url, {
          auth: { method: "workload_identity", clientId: "cid", idTokenFile },
        }),
      );
      await expect(asked.provider.users(forever)).rejects.toThrow(
        /ID token file .* cannot be read: ENOENT/,
      );
      for (const jwt of ["one", "two"]) {
        writeFileSync(idTokenFile, `${jwt}\n`);
        await asked.provider.users(forever);
      }
      expect(
        upstream.requests
          .filter(({ url }) => url === "/api/v2/oauth/token-exchange")
          .map(({ body }) => body),
      ).toEqual(["client_id=cid&jwt=one", "client_id=cid&jwt=two"]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
