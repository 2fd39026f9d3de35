import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withoutPluginHost } from "../../support/plugin-host.ts";
import { MOUNT, type PluginEstate, startPluginEstate } from "./estate.ts";

if (withoutPluginHost !== undefined)
  process.stderr.write(`skipped: the plugin in a host of go-plugin (${withoutPluginHost})\n`);

describe.skipIf(withoutPluginHost !== undefined)("the plugin in a host of go-plugin", () => {
  let estate: PluginEstate;
  beforeAll(async () => {
    estate = await startPluginEstate();
  });
  afterAll(() => estate[Symbol.asyncDispose]());

  const asked = (operation: string, path: string, data: object = {}) =>
    estate.host.request(MOUNT, operation, path, { data });

  it("is a secrets engine with a version, open paths, and a configuration to seal-wrap", async () => {
    const { type, version, special_paths: paths } = estate.mounted;
    expect([type, version]).toEqual(["secret", "v0.1.0"]);
    expect(paths).toMatchObject({
      Root: null,
      Unauthenticated: ["info", "metrics"],
      SealWrapStorage: ["config"],
    });
    expect(await estate.host.order("storage calls", { mount: MOUNT })).toMatchObject({
      seal_wrapped: 1,
    });
  });

  it("keeps its configuration in the host's storage, under the keys of the original plugin", async () => {
    expect((await asked("read", "config")).response?.data).toEqual({
      app_id: estate.demo.appId,
      base_url: estate.demo.codeHost.url,
      exclude_repository_metadata: false,
      prv_key: "<configured>",
    });
    const stored = JSON.parse(
      await estate.host.order<string>("get", { mount: MOUNT, key: "config" }),
    ) as Record<string, unknown>;
    expect(Object.keys(stored)).toEqual([
      "prv_key",
      "base_url",
      "app_id",
      "exclude_repository_metadata",
    ]);
  });

  it("mints under a lease of the token's time, and revoking it ends the token at GitHub", async () => {
    const response = await estate.mint();
    expect(response.data).toMatchObject({ installation_id: estate.demo.installationId });
    expect(response.secret).toMatchObject({
      renewable: false,
      internal_data: { secret_type: "github_token", base_url: estate.demo.codeHost.url },
    });
    expect(response.secret?.ttl_seconds).toBeGreaterThan(3_500);
    const hashed = String(response.data?.["hashed_token"]);
    expect(estate.demo.codeHost.find(hashed)?.revokedAtMs).toBeUndefined();
    expect(await estate.revoke(response)).toEqual({ operation: "revoke" });
    expect(estate.demo.codeHost.find(hashed)?.revokedAtMs).toBeDefined();
    expect(await estate.revoke(response)).toEqual({ operation: "revoke" });
  });

  it("sends a lease with a time that Go can read, its zero time (trap 2)", async () => {
    expect((await estate.mint()).secret?.issue_time_is_zero).toBe(true);
  });

  it("revokes the leases that the plugin in Go made (trap 7)", async () => {
    const response = await estate.mint();
    // What that plugin's framework stores: the type alone.
    expect(await estate.revoke(response, { secret_type: "github_token" })).toEqual({
      operation: "revoke",
    });
    const hashed = String(response.data?.["hashed_token"]);
    expect(estate.demo.codeHost.find(hashed)?.revokedAtMs).toBeDefined();
  });

  it("answers what has no data by no response at all (traps 1 and 3)", async () => {
    expect(await asked("read", "permissionset/none")).toEqual({ operation: "read" });
    expect(await asked("list", "permissionsets/")).toEqual({ operation: "list" });
    expect(await asked("delete", "permissionset/none")).toEqual({ operation: "delete" });
  });

  it("answers warnings without data by null, which is JSON (trap 1)", async () => {
    const { response } = await asked("update", "permissionset/noted", {
      org_name: "example-org",
      colour: "red",
    });
    expect(response?.data).toBeNull();
    expect(response?.warnings?.join()).toContain("colour");
    await asked("delete", "permissionset/noted");
  });

  it("answers a mistake of the caller as a logical error, others with their status (trap 4)", async () => {
    const mistake = await asked("update", "token", { colour: "red" });
    expect(mistake.response).toMatchObject({ is_error: true });
    expect(String(mistake.response?.data?.["error"])).toContain("unknown field: colour");
    expect((await asked("update", "token")).response?.data).toEqual({
      error: "installation_id or org_name is a required parameter",
    });
    estate.demo.codeHost.faults.next("mint", { kind: "status", status: 502 });
    expect((await asked("update", "token", { installation_id: 1001 })).error?.status).toBe(502);
  });

  it("answers metrics raw, in base64 (trap 5)", async () => {
    const { response } = await asked("read", "metrics");
    expect(response?.data).toMatchObject({
      http_content_type: "text/plain; version=0.0.4; charset=utf-8",
      http_status_code: 200,
    });
    expect(response?.raw?.is_bytes).toBe(true);
    expect(response?.raw?.body).toMatch(/^vault_github_token_build_info\{.*\} 1$/m);
    expect(response?.secret).toBeUndefined();
  });

  it("answers info with empty strings: the sources are no release", async () => {
    expect(Object.values((await asked("read", "info")).response?.data ?? {})).toEqual(
      Array.from({ length: 7 }, () => ""),
    );
  });

  it("stores, lists, mints with and deletes permission sets (trap 6)", async () => {
    const set = { org_name: "example-org", permissions: "contents=read", repositories: "web" };
    expect(await asked("update", "permissionset/ci", set)).toEqual({ operation: "create" });
    expect((await asked("update", "permissionset/ci", set)).operation).toBe("update");
    for (const path of ["permissionsets/", "permissionsets", "permissionset/"])
      expect((await asked("list", path)).response?.data).toEqual({ keys: ["ci"] });
    const { response } = await asked("read", "token/ci");
    expect(response?.data).toMatchObject({
      org_name: "example-org",
      permissions: { contents: "read" },
    });
    expect(await asked("delete", "permissionset/ci")).toEqual({ operation: "delete" });
    expect(String((await asked("update", "token/ci")).response?.data?.["error"])).toBe(
      "permission set 'ci' does not exist",
    );
  });

  it("makes a POST a create where nothing is stored, and an update otherwise", async () => {
    expect((await estate.configure()).operation).toBe("update");
    expect((await asked("update", "token", { installation_id: 1001 })).operation).toBe("create");
    expect((await asked("update", "info")).operation).toBe("update");
  });

  it("lets the host's minute pass without an error (trap 8), and refuses what it cannot do", async () => {
    expect(await asked("rollback", "")).toEqual({ operation: "rollback" });
    expect(String((await asked("renew", "token")).response?.data?.["error"])).toContain(
      "not renewable",
    );
    for (const operation of ["scan", "alias-lookahead", "resolve-role", "header", "patch"])
      expect((await asked(operation, "token")).error?.status).toBe(405);
    expect((await asked("read", "nowhere")).error?.status).toBe(404);
  });

  it("explains itself, as a whole and by path (trap 9)", async () => {
    const whole = (await asked("help", "")).response?.data;
    expect(Object.keys(whole ?? {})).toEqual(expect.arrayContaining(["help", "openapi"]));
    expect(String(whole?.["help"])).toContain("permissionset/:name");
    const one = (await asked("help", "token/ci")).response?.data;
    expect(String(one?.["help"])).toContain("Matching Route: token/:permissionset");
  });

  it("keeps numbers beyond 2^53 as they are (trap 10)", async () => {
    const outcome = await asked("update", "token", { installation_id: "9223372036854775807" });
    expect(JSON.stringify(outcome)).toContain("9223372036854775807");
  });

  it("takes and gives messages of many megabytes (trap 11)", async () => {
    const outcome = await asked("update", "permissionset/large", {
      org_name: "example-org",
      colour: "r".repeat(16 * 1024 * 1024),
    });
    expect(outcome.response?.warnings?.join()).toContain("colour");
    await asked("delete", "permissionset/large");
  });

  it("logs in the host's form (trap 12)", async () => {
    const lines = () => estate.host.log.map((line) => JSON.parse(line) as Record<string, unknown>);
    await expect.poll(lines).toContainEqual(
      expect.objectContaining({
        "@level": "info",
        "@message": "plugin starts",
        "@module": "steward",
        "@timestamp": expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      }),
    );
  });

  it("serves two mounts in one process, each with its own data", async () => {
    const second = await estate.host.order<{ readonly pid: number }>("mount", { mount: "b/" });
    expect(second.pid).toBe(estate.mounted.pid);
    const { response } = await estate.host.request("b/", "read", "config");
    expect(response?.data).toMatchObject({ app_id: 0, prv_key: "" });
    expect(
      (await estate.host.request("b/", "update", "token", { data: { installation_id: 1001 } }))
        .response?.data?.["error"],
    ).toBe("not configured: write app_id and prv_key to b/config first");
    await estate.configure("b/");
    await estate.mint("b/");
    await estate.host.order("unmount", { mount: "b/" });
    await estate.mint();
    expect(await estate.host.order("pid")).toBe(estate.mounted.pid);
  });

  it("forgets its configuration when the host says that the key has changed elsewhere", async () => {
    await estate.mint();
    const stored = await estate.host.order<string>("get", { mount: MOUNT, key: "config" });
    const changed = { ...(JSON.parse(stored) as object), app_id: 999 };
    await estate.host.order("put", {
      mount: MOUNT,
      key: "config",
      value: JSON.stringify(changed),
    });
    await estate.mint();
    await estate.host.order("invalidate", { mount: MOUNT, key: "config" });
    expect((await asked("update", "token", { installation_id: 1001 })).error?.status).toBe(502);
    await estate.host.order("put", { mount: MOUNT, key: "config", value: stored });
    await estate.host.order("invalidate", { mount: MOUNT, key: "config" });
    await estate.mint();
  });

  it("ends for a reload, and the next process knows everything", async () => {
    const response = await estate.mint();
    await estate.host.order("reload", { mount: MOUNT });
    const pid = await estate.host.order<number>("pid");
    expect(pid).not.toBe(estate.mounted.pid);
    expect(await estate.revoke(response)).toEqual({ operation: "revoke" });
    await estate.mint();
  });

  it("removes its socket when the host unmounts it, and ends", async () => {
    await using other = await startPluginEstate();
    const sockets = (): string[] =>
      readdirSync(other.host.folder).filter((name) => name.startsWith("steward-plugin-"));
    expect(sockets()).toHaveLength(1);
    await other.host.order("unmount", { mount: MOUNT });
    await expect.poll(sockets).toEqual([]);
    await expect.poll(() => other.host.log.join("\n")).toContain('"@message":"plugin ends"');
    expect(other.host.log.join("\n")).not.toContain("failed to exit gracefully");
  });
});
