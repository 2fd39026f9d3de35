/**
 * What the command-line clients of OpenBao and Vault send, request by request (facts §2.4): Vault's
 * is not at hand here, but what it sends is known; `tokens-docs.test.ts` runs OpenBao's.
 */
import { describe, expect, it } from "vitest";
import { appKey, type VaultAnswer } from "../vault.ts";
import { useEstate } from "./estate.ts";

describe("the requests of the command line", () => {
  const estate = useEstate();
  const HEADERS = { "x-vault-request": "true", "user-agent": "Go-http-client/1.1" };

  async function send(
    method: string,
    path: string,
    body?: unknown,
    token?: string,
  ): Promise<VaultAnswer> {
    return await estate.vault.ask(method, path, {
      headers: HEADERS,
      ...(body === undefined ? {} : { body }),
      ...(token === undefined ? {} : { token }),
    });
  }

  async function mint(): Promise<string> {
    return (await send("PUT", "gh/token", { installation_id: "1001" })).json.lease_id as string;
  }

  it("of `secrets enable`, `write`, `read`, `list`, `delete`, `path-help`", async () => {
    expect(
      (
        await send("POST", "sys/mounts/gh", {
          type: "vault-plugin-secrets-github",
          description: "",
          config: {
            options: null,
            default_lease_ttl: "0s",
            max_lease_ttl: "0s",
            force_no_cache: false,
          },
          local: false,
          seal_wrap: false,
          external_entropy_access: false,
          options: null,
        })
      ).status,
    ).toBe(204);
    // Every value is text; a repeated key is an array.
    expect(
      (
        await send("PUT", "gh/config", {
          app_id: "7",
          prv_key: appKey.privateKey.replaceAll("\n", "\\n"),
          base_url: estate.host.url,
          exclude_repository_metadata: "true",
        })
      ).status,
    ).toBe(204);
    expect(
      (
        await send("PUT", "gh/permissionset/ci", {
          org_name: "example-org",
          repositories: ["web", "api"],
          permissions: ["contents=read", "issues=write"],
        })
      ).status,
    ).toBe(204);
    expect((await send("GET", "gh/permissionset/ci")).json.data).toMatchObject({
      repositories: ["web", "api"],
      permissions: { contents: "read", issues: "write" },
    });
    expect((await send("GET", "gh/permissionsets?list=true")).json.data.keys).toEqual(["ci"]);
    expect((await send("PUT", "gh/token/ci", "null")).json.data).toMatchObject({
      repositories: ["web", "api"],
      permissions: { contents: "read", issues: "write" },
    });
    expect(
      (await send("GET", "gh/token?installation_id=1001&repository_ids=11")).json.data.repositories,
    ).toEqual(["web"]);
    expect((await send("GET", "gh/config?help=1")).json.help).toContain("app_id");
    expect((await send("DELETE", "gh/permissionset/ci")).status).toBe(204);
    expect([
      (await send("GET", "gh/permissionset/ci")).text,
      (await send("GET", "gh/permissionsets?list=true")).status,
    ]).toEqual(['{"errors":[]}\n', 404]);
  });

  it("of `lease lookup`, `lease renew`, `lease revoke` and its flags", async () => {
    const lease = await mint();
    expect((await send("PUT", "sys/leases/lookup", { lease_id: lease })).json.data.id).toBe(lease);
    expect((await send("PUT", "sys/leases/renew", { increment: 0, lease_id: lease })).status).toBe(
      400,
    );
    expect((await send("PUT", `sys/leases/revoke/${lease}`, { sync: true })).status).toBe(204);
    expect((await send("PUT", `sys/leases/revoke/${lease}`, { sync: true })).status).toBe(204);
    expect([
      (await send("PUT", "sys/leases/revoke", {})).status,
      (await send("PUT", "sys/leases/revoke", {})).json.errors,
    ]).toEqual([400, ["lease_id must be specified"]]);
    expect((await send("PUT", `sys/leases/revoke/${await mint()}`, { sync: false })).status).toBe(
      202,
    );
    const live = (): number => estate.host.liveTokens().length;
    expect((await send("PUT", "sys/leases/revoke-force/gh")).status).toBe(204);
    await expect.poll(live).toBe(0);
    for (const path of ["revoke-prefix", "revoke-force"]) {
      const [one] = [await mint(), await mint()];
      expect((await send("PUT", `sys/leases/${path}/${one}`)).status).toBe(204);
      expect([live(), (await send("PUT", "sys/leases/lookup", { lease_id: one })).status]).toEqual([
        1, 400,
      ]);
      expect((await send("PUT", "sys/leases/revoke-force/gh")).status).toBe(204);
    }
    await mint();
    expect((await send("PUT", "sys/leases/revoke-prefix/gh", { sync: false })).status).toBe(202);
    await mint();
    expect((await send("PUT", "sys/leases/revoke-force/gh")).status).toBe(204);
    expect((await send("POST", "sys/leases/tidy")).status).toBe(202);
    expect((await send("GET", "sys/leases/count?type=irrevocable")).json.data).toMatchObject({
      lease_count: 0,
    });
    await expect.poll(live).toBe(0);
  });

  it("of `token create`, `lookup`, `renew`, `capabilities`, `revoke`", async () => {
    const { auth, warnings } = (
      await send("POST", "auth/token/create", {
        policies: ["default"],
        ttl: "0s",
        explicit_max_ttl: "0s",
        period: "0s",
        display_name: "",
        num_uses: 0,
        renewable: true,
        type: "service",
        entity_alias: "",
        no_parent: false,
        no_default_policy: false,
      })
    ).json;
    expect([
      auth.lease_duration,
      auth.policies,
      auth.token_policies,
      auth.identity_policies ?? [],
      auth.num_uses,
      warnings,
    ]).toEqual([2_764_800, ["default"], ["default"], [], 0, null]);
    const token = auth.client_token as string;
    expect(token).toMatch(/^hvs\.[0-9A-Za-z]{24}$/);
    expect((await send("GET", "auth/token/lookup-self", undefined, token)).json.data).toMatchObject(
      {
        id: token,
        creation_ttl: 2_764_800,
        explicit_max_ttl: 0,
        path: "auth/token/create",
        type: "service",
        num_uses: 0,
        orphan: false,
        meta: null,
        entity_id: "",
        display_name: "token",
      },
    );
    expect((await send("POST", "auth/token/lookup", { token })).json.data.id).toBe(token);
    expect(
      (await send("PUT", "auth/token/renew", { increment: 0, token })).json.auth.client_token,
    ).toBe(token);
    expect(
      (await send("PUT", "auth/token/renew-self", { increment: 0, token: "" }, token)).json.auth
        .client_token,
    ).toBe(token);
    expect(
      (await send("POST", "sys/capabilities-self", { path: "gh/config", token: "" }, token)).json,
    ).toMatchObject({
      capabilities: ["deny"],
      "gh/config": ["deny"],
      data: { capabilities: ["deny"] },
    });
    expect(
      (await send("POST", "sys/capabilities", { path: "auth/token/lookup-self", token })).json
        .capabilities,
    ).toEqual(["read"]);
    expect((await send("PUT", "auth/token/revoke", { token })).status).toBe(204);
    expect([
      (await send("GET", "auth/token/lookup-self", undefined, token)).text,
      (await send("PUT", "auth/token/renew-self", {}, estate.vault.root)).status,
    ]).toEqual(['{"errors":["permission denied"]}\n', 400]);
  });

  it("of `status`, `operator rotate`, `secrets list`, `secrets tune`, `auth list`, `audit list`, `plugin list`, `policy write`", async () => {
    expect((await send("GET", "sys/seal-status", undefined, "")).json).toMatchObject({
      sealed: false,
      initialized: true,
      storage_type: expect.any(String) as string,
    });
    expect((await send("GET", "sys/leader", undefined, "")).json).toMatchObject({
      ha_enabled: false,
    });
    expect((await send("PUT", "sys/rotate", {})).status).toBe(204);
    expect((await send("GET", "sys/key-status")).json.data).toMatchObject({ term: 2 });
    expect((await send("GET", "sys/mounts")).json.data["gh/"]).toMatchObject({
      type: "github",
      options: null,
      local: false,
      seal_wrap: false,
      external_entropy_access: false,
      config: { default_lease_ttl: 2_764_800, force_no_cache: false },
    });
    expect((await send("GET", "sys/mounts")).json.data["cubbyhole/"]).toMatchObject({
      description: "private storage of each token",
    });
    expect((await send("POST", "sys/mounts/gh/tune", { options: { a: "b" } })).status).toBe(204);
    expect(
      (
        await send("POST", "sys/mounts/gh/tune", {
          options: null,
          default_lease_ttl: "3600s",
          max_lease_ttl: "",
          force_no_cache: false,
        })
      ).status,
    ).toBe(204);
    expect(
      (await send("POST", "sys/mounts/gh/tune", { listing_visibility: "unauth" })).json.errors,
    ).toEqual([expect.stringContaining("a mount has no setting listing_visibility")]);
    expect((await send("GET", "sys/mounts/gh/tune")).json.data).toMatchObject({
      default_lease_ttl: 3600,
      max_lease_ttl: 2_764_800,
      options: { a: "b" },
    });
    expect(Object.keys((await send("GET", "sys/auth")).json.data)).toEqual(["token/"]);
    expect(
      Object.values((await send("GET", "sys/audit")).json.data as Record<string, object>),
    ).toEqual([expect.objectContaining({ type: "file" })]);
    expect((await send("GET", "sys/plugins/catalog")).json.data).toMatchObject({
      secret: ["github"],
    });
    const policy = 'path "gh/token/ci" {\n  capabilities = ["create", "update"]\n}\n';
    expect(
      (await send("PUT", "sys/policies/acl/CI", { policy: Buffer.from(policy).toString("base64") }))
        .status,
    ).toBe(204);
    expect((await send("GET", "sys/policies/acl/ci")).json.data).toMatchObject({
      name: "ci",
      policy,
    });
    expect((await send("GET", "sys/policies/acl?list=true")).json.data.keys).toEqual([
      "ci",
      "default",
      "root",
    ]);
    expect((await send("DELETE", "sys/policies/acl/ci")).status).toBe(204);
    expect((await send("GET", "sys/internal/ui/mounts/gh/token")).json.data).toMatchObject({
      path: "gh/",
      type: "github",
    });
    expect(
      (await send("GET", "sys/internal/ui/mounts/gh/token", undefined, "")).json.errors,
    ).toEqual([
      'preflight capability check returned 403, please ensure client\'s policies grant access to path "gh/"',
    ]);
  });

  it("of `unwrap`, and of `secrets disable`", async () => {
    const wrapped = await estate.vault.ask("PUT", "gh/token", {
      body: { installation_id: "1001" },
      headers: { ...HEADERS, "x-vault-wrap-ttl": "5m" },
    });
    const token = wrapped.json.wrap_info.token as string;
    expect(wrapped.json).toEqual({
      request_id: "",
      lease_id: "",
      renewable: false,
      lease_duration: 0,
      data: null,
      wrap_info: {
        token,
        accessor: expect.any(String) as string,
        ttl: 300,
        creation_time: expect.any(String) as string,
        creation_path: "gh/token",
      },
      warnings: null,
      auth: null,
    });
    expect(
      (await send("PUT", "sys/wrapping/unwrap", { token }, "")).json.data.installation_id,
    ).toBe(1001);
    expect((await send("PUT", "sys/wrapping/unwrap", { token })).status).toBe(400);
    expect((await send("DELETE", "sys/mounts/gh")).status).toBe(204);
    expect((await send("DELETE", "sys/mounts/gh")).status).toBe(204);
    expect(estate.host.liveTokens()).toEqual([]);
  });

  it("of a Terraform provider: a child token of its own first", async () => {
    const { auth } = (
      await send("POST", "auth/token/create", {
        display_name: "terraform",
        ttl: "20m0s",
        explicit_max_ttl: "40m0s",
        renewable: false,
        num_uses: 0,
      })
    ).json;
    expect(auth).toMatchObject({ lease_duration: 1200, renewable: false, policies: ["root"] });
    expect(
      (
        await send(
          "GET",
          "sys/health?drsecondarycode=299&performancestandbycode=299&sealedcode=299&standbycode=299&uninitcode=299",
          undefined,
          auth.client_token as string,
        )
      ).status,
    ).toBe(200);
    expect(
      (await send("PUT", "auth/token/revoke-self", undefined, auth.client_token as string)).status,
    ).toBe(204);
  });
});
