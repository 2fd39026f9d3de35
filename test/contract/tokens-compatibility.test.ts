/** What clients of Vault and OpenBao ask beyond minting, each on the running daemon over HTTP. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import { removeTemporaryFolders } from "./daemon.ts";
import {
  appKey,
  configure,
  startCodeHost,
  startVault,
  vaultRequest,
  type VaultAnswer,
  type VaultDaemon,
} from "./vault.ts";

let vault: VaultDaemon;

beforeAll(async () => {
  vault = await startVault();
});

afterAll(async () => {
  await vault.daemon.stop();
  removeTemporaryFolders();
});

describe("a spent wrapping token", () => {
  const GONE = ["wrapping token is not valid or does not exist"];

  async function wrap(): Promise<string> {
    return (
      await vault.ask("POST", "sys/wrapping/wrap", {
        body: { a: 1 },
        headers: { "x-vault-wrap-ttl": "60" },
      })
    ).json.wrap_info.token as string;
  }

  it.each(["unwrap", "rewrap", "lookup"])(
    "says so to sys/wrapping/%s, as the request's own token and as its parameter",
    async (operation) => {
      const token = await wrap();
      const isRead = (asking: {
        token?: string;
        body?: unknown;
      }): ReturnType<typeof vaultRequest> =>
        vaultRequest(vault.daemon.url, "PUT", `sys/wrapping/${operation}`, asking);
      expect(
        (await vaultRequest(vault.daemon.url, "PUT", "sys/wrapping/unwrap", { token })).json.data,
      ).toEqual({ a: 1 });
      for (const asking of [
        { token },
        { body: { token } },
        { token, body: { token: "" } },
        { token: vault.root, body: { token } },
      ]) {
        const { status, json } = await isRead(asking);
        expect([status, json.errors]).toEqual([400, GONE]);
      }
      expect((await isRead({})).json.errors).toEqual(['missing "token" value in input']);
    },
  );

  it("says so to a GET of sys/wrapping/lookup, which agents send before they unwrap a secret id", async () => {
    const token = await wrap();
    const look = (): ReturnType<typeof vaultRequest> =>
      vaultRequest(vault.daemon.url, "GET", "sys/wrapping/lookup", { token });
    for (let times = 0; times < 2; times++) {
      const { status, json } = await look();
      expect([status, json?.data]).toEqual([
        200,
        {
          creation_path: "sys/wrapping/wrap",
          creation_time: expect.any(String) as string,
          creation_ttl: 60,
        },
      ]);
    }
    expect(
      (await vaultRequest(vault.daemon.url, "PUT", "sys/wrapping/unwrap", { token })).json.data,
    ).toEqual({ a: 1 });
    expect((await look()).json.errors).toEqual(GONE);
  });
});

describe("sys/internal/ui/resultant-acl", () => {
  it("shows what all policies of the asking token allow together", async () => {
    await vault.ask("PUT", "sys/policies/acl/ui", {
      body: {
        policy: `
      path "github/token/ci" { capabilities = ["create", "update"] }
      path "github/*" { capabilities = ["read"] }
      path "team/+/token" { capabilities = ["create"] }
      path "github/config" { capabilities = ["deny"] }`,
      },
    });
    await vault.ask("PUT", "sys/policies/acl/ui-more", {
      body: { policy: 'path "github/token/ci" { capabilities = ["read"] }' },
    });
    const token = (
      await vault.ask("POST", "auth/token/create", { body: { policies: ["ui", "ui-more"] } })
    ).json.auth.client_token as string;
    const { status, json } = await vault.ask("GET", "sys/internal/ui/resultant-acl", { token });
    expect([status, json.data.root, json.root]).toEqual([200, false, false]);
    expect(json.data.exact_paths).toMatchObject({
      "github/token/ci": { capabilities: ["create", "read", "update"] },
      "github/config": { capabilities: ["deny"] },
      "sys/internal/ui/resultant-acl": { capabilities: ["read"] },
    });
    expect(json.data.glob_paths).toMatchObject({
      "github/": { capabilities: ["read"] },
      "team/+/token": { capabilities: ["create"] },
      "cubbyhole/": { capabilities: expect.arrayContaining(["list"]) as string[] },
    });
  });

  it("says of a root token that it is one, and nothing without a token", async () => {
    expect((await vault.ask("GET", "sys/internal/ui/resultant-acl")).json.data).toEqual({
      root: true,
      exact_paths: {},
      glob_paths: {},
    });
    expect(
      (await vaultRequest(vault.daemon.url, "GET", "sys/internal/ui/resultant-acl")).status,
    ).toBe(403);
  });
});

describe("auth/token/revoke-accessor", () => {
  it("of an unknown accessor and of a token that ended succeeds and says that there was none", async () => {
    const { accessor } = (
      await vault.ask("POST", "auth/token/create", { body: { policies: ["default"] } })
    ).json.auth as { accessor: string };
    expect(
      (await vault.ask("POST", "auth/token/revoke-accessor", { body: { accessor } })).status,
    ).toBe(204);
    for (const unknown of [accessor, "nope"]) {
      const { status, json } = await vault.ask("POST", "auth/token/revoke-accessor", {
        body: { accessor: unknown },
      });
      expect([status, json.warnings, json.data]).toEqual([
        200,
        ["No token found with this accessor"],
        null,
      ]);
    }
    expect((await vault.ask("POST", "auth/token/revoke-accessor", { body: {} })).status).toBe(400);
    expect(
      (await vault.ask("POST", "auth/token/lookup-accessor", { body: { accessor } })).status,
    ).toBe(400);
  });
});

describe("PATH/tune", () => {
  const tune = (body: unknown, path = "sys/mounts/tuned"): ReturnType<VaultDaemon["ask"]> =>
    vault.ask("POST", `${path}/tune`, { body });

  beforeAll(async () => {
    await vault.ask("POST", "sys/mounts/tuned", { body: { type: "github" } });
    await vault.ask("POST", "sys/auth/tuned-role", { body: { type: "approle" } });
  });

  it.each([
    ["listing_visibility", "unauth"],
    ["audit_non_hmac_response_keys", ["token"]],
    ["audit_non_hmac_request_keys", "org_name"],
    ["passthrough_request_headers", ["X-A"]],
    ["allowed_response_headers", ["X-A"]],
    ["force_no_cache", true],
    ["token_type", "batch"],
    ["plugin_version", "v1.2.3"],
    ["user_lockout_config", { lockout_threshold: "5" }],
    ["no_such_setting", 1],
    ["type", "other"],
    ["config", { max_lease_ttl: "1h" }],
  ])("refuses %s, which it would not follow, and changes nothing", async (name, value) => {
    for (const path of ["sys/mounts/tuned", "sys/auth/tuned-role"]) {
      const { status, json } = await tune({ description: "changed", [name]: value }, path);
      expect([status, json.errors]).toEqual([400, [expect.stringContaining(name)]]);
      expect((await vault.ask("GET", `${path}/tune`)).json.data.description).toBe("");
    }
  });

  it("takes settings that clients send empty or as they are", async () => {
    expect(
      (
        await tune({
          options: null,
          default_lease_ttl: "1h",
          max_lease_ttl: "",
          force_no_cache: false,
          listing_visibility: "hidden",
          audit_non_hmac_request_keys: [],
          audit_non_hmac_response_keys: null,
          passthrough_request_headers: [],
          allowed_managed_keys: [],
          plugin_version: "",
          user_lockout_config: {},
        })
      ).status,
    ).toBe(204);
    expect(
      (await tune({ token_type: "default-service", listing_visibility: "" }, "sys/auth/tuned-role"))
        .status,
    ).toBe(204);
    expect((await vault.ask("GET", "sys/mounts/tuned/tune")).json.data.default_lease_ttl).toBe(
      3600,
    );
  });

  it("is no more lenient when a mount is enabled", async () => {
    const { status, json } = await vault.ask("POST", "sys/mounts/visible", {
      body: { type: "github", config: { listing_visibility: "unauth", default_lease_ttl: "1h" } },
    });
    expect([status, json.errors]).toEqual([400, [expect.stringContaining("listing_visibility")]]);
    expect((await vault.ask("GET", "sys/mounts")).json.data["visible/"]).toBeUndefined();
  });
});

describe("sys/remount", () => {
  const move = (from: string, to: string): Promise<VaultAnswer> =>
    vault.ask("POST", "sys/remount", { body: { from, to } });

  it("moves an engine with its configuration, ends its leases, and a restart finds it there", async () => {
    const host = await startCodeHost();
    onTestFinished(() => host.stop());
    await vault.ask("POST", "sys/mounts/old", {
      body: { type: "github", description: "moves", config: { max_lease_ttl: "30m" } },
    });
    await vault.ask("POST", "old/config", {
      body: { app_id: 7, prv_key: appKey.privateKey, base_url: host.url },
    });
    await vault.ask("POST", "old/permissionset/ci", { body: { installation_id: 1001 } });
    expect((await vault.ask("POST", "old/token/ci")).json.lease_id).toMatch(/^old\/token\/ci\//);
    expect(host.liveTokens()).toHaveLength(1);

    const { status, json } = await move("old", "team/new/");
    expect([status, host.liveTokens()]).toEqual([200, []]);
    const id = json.data.migration_id as string;
    expect((await vault.ask("GET", `sys/remount/status/${id}`)).json.data).toEqual({
      migration_id: id,
      migration_info: { source_mount: "old/", target_mount: "team/new/", status: "success" },
    });
    expect((await vault.ask("GET", "sys/remount/status/unknown")).status).toBe(404);
    const minted = await vault.ask("POST", "team/new/token/ci");
    expect([minted.json.lease_duration, minted.json.lease_id]).toEqual([
      1800,
      expect.stringMatching(/^team\/new\/token\/ci\//),
    ]);
    expect([
      (await vault.ask("GET", "old/config")).status,
      Object.keys((await vault.ask("GET", "sys/mounts")).json.data as object),
    ]).toEqual([404, expect.not.arrayContaining(["old/"])]);
    expect(
      (await vault.ask("PUT", "sys/leases/revoke", { body: { lease_id: minted.json.lease_id } }))
        .status,
    ).toBe(204);

    const before = vault;
    await before.daemon.stop();
    vault = await startVault({ state: before.state, root: before.root });
    expect((await vault.ask("GET", "sys/mounts")).json.data["team/new/"]).toMatchObject({
      type: "github",
      description: "moves",
      config: { max_lease_ttl: 1800 },
    });
    expect((await vault.ask("POST", "team/new/token/ci")).status).toBe(200);
  });

  it("moves an auth method below auth/, with its roles; its logins end, and new ones are renewed by its terms", async () => {
    await vault.ask("POST", "sys/auth/apps", { body: { type: "approle" } });
    await vault.ask("POST", "auth/apps/role/ci", {
      body: { token_policies: "default", token_ttl: "1h" },
    });
    const roleId = (await vault.ask("GET", "auth/apps/role/ci/role-id")).json.data
      .role_id as string;
    const login = async (at: string): Promise<string> => {
      const secretId = (await vault.ask("POST", `auth/${at}/role/ci/secret-id`)).json.data
        .secret_id as string;
      return (
        await vaultRequest(vault.daemon.url, "POST", `auth/${at}/login`, {
          body: { role_id: roleId, secret_id: secretId },
        })
      ).json.auth.client_token as string;
    };
    const first = await login("apps");
    expect((await move("auth/apps/", "auth/team/apps")).status).toBe(200);
    expect((await vault.ask("GET", "auth/token/lookup-self", { token: first })).status).toBe(403);
    const second = await login("team/apps");
    expect(
      (await vault.ask("POST", "auth/token/renew-self", { token: second })).json.auth
        .lease_duration,
    ).toBe(3600);
  });

  it.each([
    ["nope", "other", "no mount at nope/"],
    ["sys", "other", "built in"],
    ["auth/token", "auth/other", "built in"],
    ["github", "other", "tokens.mounts"],
    ["moving", "sys/x", "reserved"],
    ["moving", "moving", "already in use"],
    ["moving", "github/x", "already in use"],
    ["moving", "auth/x", "below auth/"],
    ["moving", "a b", "one to eight segments"],
    ["", "x", 'missing "from"'],
    ["moving", "", 'missing "to"'],
  ])("refuses to move %j to %j", async (from, to, why) => {
    await vault.ask("POST", "sys/mounts/moving", { body: { type: "github" } });
    const { status, json } = await move(from, to);
    expect([status, json.errors]).toEqual([400, [expect.stringContaining(why)]]);
    expect((await vault.ask("GET", "sys/mounts")).json.data["moving/"]).toMatchObject({
      type: "github",
    });
  });
});

describe("paths of one field of an AppRole role", () => {
  const ROLE = "auth/fields/role/ci";

  beforeAll(async () => {
    await vault.ask("POST", "sys/auth/fields", { body: { type: "approle" } });
    await vault.ask("POST", ROLE, {
      body: { token_policies: "kept", secret_id_bound_cidrs: "10.0.0.0/8" },
    });
  });

  it.each<
    [
      segment: string,
      sent: Record<string, unknown>,
      shown: Record<string, unknown>,
      reset: Record<string, unknown>,
    ]
  >([
    [
      "bind-secret-id",
      { bind_secret_id: false },
      { bind_secret_id: false },
      { bind_secret_id: true },
    ],
    [
      "secret-id-num-uses",
      { secret_id_num_uses: "5" },
      { secret_id_num_uses: 5 },
      { secret_id_num_uses: 0 },
    ],
    ["secret-id-ttl", { secret_id_ttl: "10m" }, { secret_id_ttl: 600 }, { secret_id_ttl: 0 }],
    [
      "policies",
      { token_policies: "a,b" },
      { token_policies: ["a", "b"], policies: ["a", "b"] },
      { token_policies: [], policies: [] },
    ],
    [
      "policies",
      { policies: ["c"] },
      { token_policies: ["c"], policies: ["c"] },
      { token_policies: [], policies: [] },
    ],
    ["token-ttl", { token_ttl: "1h" }, { token_ttl: 3600 }, { token_ttl: 0 }],
    ["token-max-ttl", { token_max_ttl: 7200 }, { token_max_ttl: 7200 }, { token_max_ttl: 0 }],
    [
      "period",
      { token_period: "1h" },
      { token_period: 3600, period: 3600 },
      { token_period: 0, period: 0 },
    ],
    [
      "period",
      { period: "2h" },
      { token_period: 7200, period: 7200 },
      { token_period: 0, period: 0 },
    ],
    ["token-num-uses", { token_num_uses: 3 }, { token_num_uses: 3 }, { token_num_uses: 0 }],
    [
      "token-bound-cidrs",
      { token_bound_cidrs: "127.0.0.0/8" },
      { token_bound_cidrs: ["127.0.0.0/8"] },
      { token_bound_cidrs: [] },
    ],
    [
      "bound-cidr-list",
      { bound_cidr_list: "127.0.0.0/8" },
      { bound_cidr_list: ["127.0.0.0/8"] },
      { bound_cidr_list: null },
    ],
    [
      "secret-id-bound-cidrs",
      { secret_id_bound_cidrs: "127.0.0.1" },
      { secret_id_bound_cidrs: ["127.0.0.1/32"] },
      { secret_id_bound_cidrs: null },
    ],
  ])(
    "%s is written by %j, read and reset, and nothing else of the role changes",
    async (segment, sent, shown, reset) => {
      const others = async (): Promise<object> => {
        const { data } = (await vault.ask("GET", ROLE)).json as { data: Record<string, unknown> };
        return Object.fromEntries(
          Object.entries(data).filter(
            ([name]) =>
              !(name in shown) &&
              !(segment === "bound-cidr-list" && name === "secret_id_bound_cidrs"),
          ),
        );
      };
      const before = await others();
      const { status, json } = await vault.ask("POST", `${ROLE}/${segment}`, {
        body: { ...sent, role_id: "not for this path" },
      });
      expect([status, json.warnings]).toEqual([200, [expect.stringContaining("role_id")]]);
      expect((await vault.ask("GET", `${ROLE}/${segment}`)).json.data).toEqual(shown);
      expect(await others()).toEqual(before);
      expect((await vault.ask("DELETE", `${ROLE}/${segment}`)).status).toBe(204);
      expect((await vault.ask("GET", `${ROLE}/${segment}`)).json.data).toEqual(reset);
      expect(await others()).toEqual(before);
      expect((await vault.ask("POST", `${ROLE}/${segment}`, { body: {} })).json.errors).toEqual([
        expect.stringContaining("missing "),
      ]);
    },
  );

  it("follow the rules of the whole role, and an unknown role has none", async () => {
    expect(
      (await vault.ask("POST", `${ROLE}/token-max-ttl`, { body: { token_max_ttl: 60 } })).status,
    ).toBe(204);
    expect(
      (await vault.ask("POST", `${ROLE}/token-ttl`, { body: { token_ttl: 61 } })).json.errors,
    ).toEqual(["'token_ttl' cannot be greater than 'token_max_ttl'"]);
    expect(
      (await vault.ask("POST", `${ROLE}/policies`, { body: { token_policies: "root" } })).json
        .errors,
    ).toEqual(["auth methods cannot create root tokens"]);
    expect((await vault.ask("GET", "auth/fields/role/none/token-ttl")).status).toBe(404);
    expect(
      (await vault.ask("POST", "auth/fields/role/none/token-ttl", { body: { token_ttl: 1 } })).json
        .errors,
    ).toEqual(['role "none" does not exist']);
  });
});

describe("lists with after and limit", () => {
  const NAMES = ["a", "b", "c", "d", "e"];

  beforeAll(async () => {
    await vault.ask("POST", "sys/auth/listed", { body: { type: "approle" } });
    for (const name of NAMES) {
      await vault.ask("POST", `github/permissionset/${name}`, { body: { installation_id: 1 } });
      await vault.ask("POST", `auth/listed/role/${name}`, { body: { token_policies: "default" } });
      await vault.ask("PUT", `sys/policies/acl/page-${name}`, {
        body: { policy: 'path "x" { capabilities = ["read"] }' },
      });
      await vault.ask("POST", `cubbyhole/page/${name}`, { body: { name } });
      await vault.ask("POST", `auth/token/roles/${name}`, { body: { orphan: true } });
    }
  });

  it.each([
    "github/permissionsets",
    "auth/listed/role",
    "cubbyhole/page",
    "auth/token/roles",
    "sys/policies/acl",
    "sys/policy",
    "auth/token/accessors",
    "sys/leases/lookup/",
  ])("read all of %s in pages, each name once", async (path) => {
    const keysOf = async (query: string): Promise<readonly string[]> => {
      const { status, json } = await vault.ask("GET", `${path}?list=true${query}`);
      expect([path, [200, 404].includes(status), json.warnings ?? null]).toEqual([
        path,
        true,
        null,
      ]);
      return (json.data?.keys ?? []) as readonly string[];
    };
    const all = await keysOf("");
    const paged: string[] = [];
    for (
      let page = await keysOf("&limit=2");
      page.length > 0;
      page = await keysOf(`&limit=2&after=${encodeURIComponent(page.at(-1) ?? "")}`)
    ) {
      expect(page.length).toBeLessThanOrEqual(2);
      paged.push(...page);
    }
    expect(paged).toEqual(all.toSorted());
    expect(await keysOf("&limit=-1&after=")).toEqual(all);
  });

  it("begin after a name that need not exist, by the method LIST as well; the last page is nothing", async () => {
    expect(
      (await vault.ask("LIST", "github/permissionsets?after=bb&limit=2")).json.data.keys,
    ).toEqual(["c", "d"]);
    expect((await vault.ask("LIST", "github/permissionsets?after=bb")).json.data.keys).toEqual([
      "c",
      "d",
      "e",
    ]);
    const over = await vault.ask("LIST", "github/permissionsets?after=e");
    expect([over.status, over.text]).toEqual([404, '{"errors":[]}\n']);
    const { json } = await vault.ask("LIST", "sys/policy?limit=1&after=page-a");
    expect([json.data.keys, json.data.policies, json.policies]).toEqual([
      ["page-b"],
      ["page-b"],
      ["page-b"],
    ]);
  });

  it("refuse a limit that is no number", async () => {
    const { status, json } = await vault.ask("LIST", "github/permissionsets?limit=many");
    expect([status, json.errors]).toEqual([400, [expect.stringContaining("limit")]]);
  });
});

describe("what is wrong with a policy", () => {
  const WARNING =
    'path "github/token/ci": minting by POST is a create; grant "create" besides "update"';

  it("is said when it is written, when it is read under either name, and by the doctor of the mount it is about", async () => {
    const doctor = async (): Promise<unknown> =>
      ((await vault.ask("GET", "github/doctor")).json.data.checks as { name: string }[]).find(
        ({ name }) => name === "policies",
      );
    expect(await doctor()).toEqual({
      name: "policies",
      ok: true,
      detail: "no warnings",
      remedy: "",
    });
    const written = await vault.ask("PUT", "sys/policies/acl/forgot", {
      body: {
        policy:
          'path "github/token/ci" { capabilities = ["update"] }\npath "other/token" { capabilities = ["update"] }',
      },
    });
    expect([written.status, written.json.warnings]).toEqual([
      200,
      [WARNING, expect.stringContaining("other/token")],
    ]);
    for (const path of ["sys/policies/acl/forgot", "sys/policy/forgot"]) {
      const { json } = await vault.ask("GET", path);
      expect([json.warnings, json.data.name]).toEqual([
        [WARNING, expect.stringContaining("other/token")],
        "forgot",
      ]);
    }
    expect((await vault.ask("GET", "sys/policies/acl/default")).json.warnings).toBeNull();
    expect(await doctor()).toEqual({
      name: "policies",
      ok: true,
      detail: "warnings about paths of this mount: 1",
      remedy: `policy "forgot", ${WARNING}`,
    });
    await vault.ask("DELETE", "sys/policies/acl/forgot");
    expect(await doctor()).toMatchObject({ detail: "no warnings" });
  });
});

describe("max_permissions", () => {
  it("names the permission sets that are refused from then on, when it is lowered", async () => {
    const config = { app_id: 7, prv_key: appKey.privateKey };
    await vault.ask("POST", "github/config", { body: config });
    await vault.ask("POST", "github/permissionset/deploy", {
      body: { org_name: "example-org", permissions: { contents: "write" } },
    });
    const { status, json } = await vault.ask("POST", "github/config", {
      body: { max_permissions: "contents=read" },
    });
    expect([status, json.warnings]).toEqual([
      200,
      [
        expect.stringMatching(
          /^permission sets above max_permissions are refused .*: deploy \(contents=write\)$/,
        ),
      ],
    ]);
    expect((await vault.ask("POST", "github/token/deploy")).json.errors).toEqual([
      expect.stringContaining("contents=write is above max_permissions"),
    ]);
    expect(
      (await vault.ask("POST", "github/config", { body: { max_permissions: "" } })).status,
    ).toBe(204);
  });
});

describe("a wrapped mint", () => {
  async function mounted(): Promise<{
    readonly host: CodeHost;
    readonly mint: (ttl: string) => Promise<string>;
  }> {
    const host = await startCodeHost();
    onTestFinished(() => host.stop());
    await configure(vault, host);
    return {
      host,
      mint: async (ttl) => {
        const { json } = await vault.ask("POST", "github/token", {
          body: { installation_id: 1001 },
          headers: { "x-vault-wrap-ttl": ttl },
        });
        return json.wrap_info.token as string;
      },
    };
  }

  it("that nobody fetched ends with its wrapping token, by its time or by revocation", async () => {
    const { host, mint } = await mounted();
    await mint("1s");
    const revoked = await mint("5m");
    expect(host.counts().minted).toBe(2);
    expect(
      (await vault.ask("POST", "auth/token/revoke", { body: { token: revoked } })).status,
    ).toBe(204);
    await expect.poll(() => host.liveTokens().length, { timeout: 60_000 }).toBe(0);
    await expect
      .poll(async () => (await vault.ask("GET", "sys/leases/lookup/github/token?list=true")).status)
      .toBe(404);
  });

  it("that was fetched, or wrapped anew, stays", async () => {
    const { host, mint } = await mounted();
    const token = await mint("5m");
    const again = (
      await vaultRequest(vault.daemon.url, "PUT", "sys/wrapping/rewrap", { body: { token } })
    ).json.wrap_info.token as string;
    const { json } = await vaultRequest(vault.daemon.url, "PUT", "sys/wrapping/unwrap", {
      body: { token: again },
    });
    const last = await mint("5m");
    await vault.ask("POST", "auth/token/revoke", { body: { token: last } });
    await expect.poll(() => host.liveTokens().length, { timeout: 60_000 }).toBe(1);
    expect(
      (await vault.ask("PUT", "sys/leases/lookup", { body: { lease_id: json.lease_id } })).status,
    ).toBe(200);
  });

  it("that was wrapped anew and then not fetched ends as well", async () => {
    const { host, mint } = await mounted();
    const again = (
      await vaultRequest(vault.daemon.url, "PUT", "sys/wrapping/rewrap", {
        body: { token: await mint("5m") },
      })
    ).json.wrap_info.token as string;
    expect(host.liveTokens()).toHaveLength(1);
    await vault.ask("POST", "auth/token/revoke", { body: { token: again } });
    await expect.poll(() => host.liveTokens().length, { timeout: 60_000 }).toBe(0);
  });
});
