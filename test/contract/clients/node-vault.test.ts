import nodeVault from "node-vault";
import { describe, expect, it } from "vitest";
import { appKey } from "../vault.ts";
import { useEstate } from "./estate.ts";

const MOUNT = "team/apps";
const RULES = `path "${MOUNT}/token/ci" { capabilities = ["create", "read"] }\n`;

/** node-vault types an answer as anything. */
type Client = ReturnType<typeof nodeVault>;

describe("node-vault, the npm client of Vault", () => {
  const estate = useEstate();
  const client = (token: string): Client => nodeVault({ endpoint: estate.vault.daemon.url, token });
  // A client that made a token or unwrapped one goes on with that, so each call has a client of its
  // own.
  const root = (): Client => client(estate.vault.root);

  /** Status and text of the refusal, which node-vault puts into an error. */
  async function refusal(isRead: Promise<unknown>): Promise<[status: number, message: string]> {
    const error = await isRead.then(
      () => new Error("it was granted"),
      (thrown: unknown) => thrown as Error & { response?: { statusCode: number } },
    );
    return ["response" in error ? (error.response?.statusCode ?? 0) : 0, error.message];
  }

  it("finds the manager initialised, unsealed and well", async () => {
    expect(await root().initialized()).toEqual({ initialized: true });
    expect(await root().status()).toMatchObject({ initialized: true, sealed: false });
    expect(await root().health()).toMatchObject({
      initialized: true,
      sealed: false,
      standby: false,
    });
    expect(await root().leader()).toMatchObject({ ha_enabled: false });
    expect(await refusal(root().init({ secret_shares: 1, secret_threshold: 1 }))).toEqual([
      400,
      "Vault is already initialized",
    ]);
  });

  it("makes a new data key", async () => {
    const { term } = (await root().read("sys/key-status")).data;
    await root().rotate();
    expect((await root().read("sys/key-status")).data).toMatchObject({ term: term + 1 });
  });

  it("enables the engine at a path of its own, and configures it", async () => {
    await root().mount({ mount_point: MOUNT, type: "github", description: "ours" });
    const mounts = await root().mounts();
    expect(mounts.data[`${MOUNT}/`]).toMatchObject({ type: "github", description: "ours" });
    expect(mounts[`${MOUNT}/`]).toEqual(mounts.data[`${MOUNT}/`]);
    expect(await refusal(root().mount({ mount_point: MOUNT, type: "github" }))).toEqual([
      400,
      "path is already in use at team/apps/",
    ]);
    await root().write(`${MOUNT}/config`, {
      app_id: 7,
      prv_key: appKey.privateKey,
      base_url: estate.host.url,
    });
    expect((await root().read(`${MOUNT}/config`)).data).toEqual({
      app_id: 7,
      base_url: estate.host.url,
      exclude_repository_metadata: false,
      prv_key: "<configured>",
    });
  });

  it("writes, reads, deletes and lists permission sets, the last by the method LIST and by a query", async () => {
    expect(await refusal(root().list(`${MOUNT}/permissionsets`))).toEqual([404, "Status 404"]);
    await root().write(`${MOUNT}/permissionset/ci`, {
      installation_id: 1001,
      permissions: { contents: "read" },
    });
    await root().write(`${MOUNT}/permissionset/docs`, { org_name: "other-org" });
    expect((await root().list(`${MOUNT}/permissionsets`)).data).toEqual({ keys: ["ci", "docs"] });
    const plain = nodeVault({
      endpoint: estate.vault.daemon.url,
      token: estate.vault.root,
      noCustomHTTPVerbs: true,
    });
    expect((await plain.list(`${MOUNT}/permissionsets`)).data).toEqual({ keys: ["ci", "docs"] });
    await root().delete(`${MOUNT}/permissionset/docs`);
    expect((await root().list(`${MOUNT}/permissionsets`)).data).toEqual({ keys: ["ci"] });
    expect((await root().read(`${MOUNT}/permissionset/ci`)).data).toMatchObject({
      installation_id: 1001,
      permissions: { contents: "read" },
    });
    expect(await refusal(root().read(`${MOUNT}/permissionset/docs`))).toEqual([404, "Status 404"]);
    expect((await root().help(`${MOUNT}/permissionset/ci`)).help).toContain("permission");
  });

  it("mints by read and by write, and ends leases one by one and by prefix", async () => {
    const [read, written] = [
      await root().read(`${MOUNT}/token/ci`),
      await root().write(`${MOUNT}/token`, { org_name: "example-org" }),
    ];
    expect([read.data.installation_id, written.data.installation_id, read.renewable]).toEqual([
      1001,
      1001,
      false,
    ]);
    expect(
      (await root().write("sys/leases/lookup", { lease_id: read.lease_id })).data,
    ).toMatchObject({ id: read.lease_id, path: `${MOUNT}/token/ci` });
    expect(await refusal(root().renew({ lease_id: read.lease_id }))).toEqual([
      400,
      expect.stringContaining("lease is not renewable"),
    ]);
    await root().revoke({ lease_id: read.lease_id });
    expect(await refusal(root().write("sys/leases/lookup", { lease_id: read.lease_id }))).toEqual([
      400,
      "invalid lease",
    ]);
    expect((await root().list(`sys/leases/lookup/${MOUNT}/token`)).data.keys).toEqual([
      written.lease_id.split("/").at(-1),
    ]);
    await root().revokePrefix({ path_prefix: `${MOUNT}/token` });
    expect(estate.host.liveTokens()).toEqual([]);
    expect(await refusal(root().write(`${MOUNT}/token`, { nope: 1 }))).toEqual([
      400,
      expect.stringContaining("unknown field: nope"),
    ]);
  });

  it("keeps policies, under their older names", async () => {
    await root().addPolicy({ name: "ci", rules: RULES });
    expect((await root().policies()).policies).toEqual(["ci", "default", "root"]);
    expect((await root().getPolicy({ name: "ci" })).data).toEqual({ name: "ci", rules: RULES });
    await root().addPolicy({ name: "short", rules: RULES });
    await root().removePolicy({ name: "short" });
    expect(await refusal(root().getPolicy({ name: "short" }))).toEqual([404, "Status 404"]);
  });

  it("makes, looks up, renews and revokes tokens", async () => {
    const { auth } = await root().tokenCreate({
      policies: ["ci"],
      ttl: "1h",
      display_name: "build",
    });
    expect(auth).toMatchObject({
      policies: ["ci", "default"],
      lease_duration: 3600,
      renewable: true,
      orphan: false,
    });
    const ci = client(auth.client_token);
    expect((await ci.tokenLookupSelf()).data).toMatchObject({
      id: auth.client_token,
      accessor: auth.accessor,
      policies: ["ci", "default"],
    });
    expect((await ci.tokenRenewSelf()).auth.client_token).toBe(auth.client_token);
    expect(
      (await root().tokenRenew({ token: auth.client_token, increment: "30m" })).auth.lease_duration,
    ).toBe(1800);
    expect((await root().tokenAccessors()).data.keys).toContain(auth.accessor);
    expect((await root().tokenLookupAccessor({ accessor: auth.accessor })).data).toMatchObject({
      id: "",
      display_name: "token-build",
    });
    expect((await ci.write(`${MOUNT}/token/ci`, {})).data.installation_id).toBe(1001);
    expect(await refusal(ci.write(`${MOUNT}/token`, { installation_id: 1001 }))).toEqual([
      403,
      "1 error occurred:\n\t* permission denied\n\n",
    ]);
    expect(await refusal(ci.tokenAccessors())).toEqual([
      403,
      expect.stringContaining("permission denied"),
    ]);
    expect(
      (await ci.write("sys/capabilities-self", { paths: [`${MOUNT}/token/ci`, "sys/seal"] })).data,
    ).toMatchObject({ [`${MOUNT}/token/ci`]: ["create", "read"], "sys/seal": ["deny"] });
    await ci.tokenRevokeSelf();
    expect(await refusal(ci.tokenLookupSelf())).toEqual([403, "permission denied"]);
    // What it minted goes with it, in the background.
    await expect.poll(() => estate.host.liveTokens().length).toBe(0);
    const orphan = (await root().tokenCreateOrphan({ policies: ["ci"], ttl: "10m" })).auth;
    expect((await root().tokenLookup({ token: orphan.client_token })).data).toMatchObject({
      orphan: true,
      creation_ttl: 600,
    });
    await root().tokenRevokeAccessor({ accessor: orphan.accessor });
    expect(await refusal(root().tokenLookup({ token: orphan.client_token }))).toEqual([
      403,
      "bad token",
    ]);
  });

  it("makes tokens by a role", async () => {
    await root().addTokenRole({ role_name: "builder", allowed_policies: "ci", period: 300 });
    expect((await root().tokenRoles()).data).toEqual({ keys: ["builder"] });
    expect((await root().getTokenRole({ role_name: "builder" })).data).toMatchObject({
      allowed_policies: ["ci"],
      period: 300,
    });
    expect((await root().tokenCreateRole({ role_name: "builder" })).auth).toMatchObject({
      policies: ["ci", "default"],
      lease_duration: 300,
    });
    await root().removeTokenRole({ role_name: "builder" });
    expect(await refusal(root().getTokenRole({ role_name: "builder" }))).toEqual([
      404,
      "Status 404",
    ]);
  });

  it("lets a machine log in", async () => {
    await root().enableAuth({ mount_point: "approle", type: "approle", description: "machines" });
    expect((await root().auths()).data["approle/"]).toMatchObject({
      type: "approle",
      description: "machines",
    });
    await root().addApproleRole({
      role_name: "web",
      policies: "ci",
      token_ttl: 1200,
      secret_id_num_uses: 1,
    });
    expect((await root().approleRoles()).data).toEqual({ keys: ["web"] });
    expect((await root().getApproleRole({ role_name: "web" })).data).toMatchObject({
      token_policies: ["ci"],
      secret_id_num_uses: 1,
    });
    const { role_id: roleId } = (await root().getApproleRoleId({ role_name: "web" })).data;
    const secret = (await root().getApproleRoleSecret({ role_name: "web" })).data;
    expect((await root().approleSecretAccessors({ role_name: "web" })).data).toEqual({
      keys: [secret.secret_id_accessor],
    });
    expect(
      (await root().approleSecretLookup({ role_name: "web", secret_id: secret.secret_id })).data,
    ).toMatchObject({ secret_id_accessor: secret.secret_id_accessor });
    const { auth } = await client("").approleLogin({
      role_id: roleId,
      secret_id: secret.secret_id,
    });
    expect(auth).toMatchObject({
      policies: ["ci", "default"],
      metadata: { role_name: "web" },
      orphan: true,
    });
    expect((await client(auth.client_token).read(`${MOUNT}/token/ci`)).data.installation_id).toBe(
      1001,
    );
    expect(
      await refusal(client("").approleLogin({ role_id: roleId, secret_id: secret.secret_id })),
    ).toEqual([400, "invalid role or secret ID"]);
    await root().deleteApproleRole({ role_name: "web" });
    await root().disableAuth({ mount_point: "approle" });
    expect(await refusal(client(auth.client_token).tokenLookupSelf())).toEqual([
      403,
      "permission denied",
    ]);
  });

  it("unwraps an answer once", async () => {
    const { wrap_info: wrapped } = await root().read(`${MOUNT}/token/ci`, {
      headers: { "X-Vault-Wrap-TTL": "60s" },
    });
    expect((await root().unwrap({ token: wrapped.token })).data.installation_id).toBe(1001);
    expect(await refusal(root().unwrap({ token: wrapped.token }))).toEqual([
      400,
      "wrapping token is not valid or does not exist",
    ]);
  });

  it("takes the engine away with everything that it minted", async () => {
    await root().unmount({ mount_point: MOUNT });
    expect(Object.keys((await root().mounts()).data)).not.toContain(`${MOUNT}/`);
    expect(estate.host.liveTokens()).toEqual([]);
    expect(await refusal(root().read(`${MOUNT}/config`))).toEqual([
      404,
      `no handler for route "${MOUNT}/config". route entry not found.`,
    ]);
  });
});
