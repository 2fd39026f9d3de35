import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Data } from "../../../../src/tokens/logical/types.ts";
import { storedValues } from "../../../../src/tokens/vault/mounts/tables.ts";
import { createAuthBench, type AuthBench } from "../fixtures/auth.ts";
import { HOUR_MS, specOf } from "../fixtures/tokens.ts";

const ROLE = "auth/approle/role/app";
const MISMATCH = { code: "invalid", message: "invalid role or secret ID" };

interface App {
  readonly bench: AuthBench;
  readonly roleId: string;
  readonly secret: (data?: Data) => Promise<{ readonly id: string; readonly accessor: string }>;
  readonly login: (secretId?: string, from?: string) => ReturnType<AuthBench["grant"]>;
}

async function createApp(role: Data = {}): Promise<App> {
  const bench = await createAuthBench();
  await bench.deps.policies.write("deploy", 'path "x" { policy = "read" }');
  await bench.ask("create", ROLE, {
    data: { token_policies: "deploy", token_ttl: "1h", token_max_ttl: "4h", ...role },
  });
  const roleId = String((await bench.data("read", `${ROLE}/role-id`))["role_id"]);
  return {
    bench,
    roleId,
    async secret(data = {}) {
      const made = await bench.data("update", `${ROLE}/secret-id`, { data });
      return { id: String(made["secret_id"]), accessor: String(made["secret_id_accessor"]) };
    },
    login: (secretId, from) =>
      bench.grant("auth/approle/login", {
        token: undefined,
        data: { role_id: roleId, ...(secretId === undefined ? {} : { secret_id: secretId }) },
        ...(from === undefined ? {} : { from }),
      }),
  };
}

describe("roles", () => {
  it("are written in parts, read, listed and deleted, whatever the case of their name", async () => {
    const { bench } = await createApp({
      bound_cidr_list: "10.0.0.0/8",
      secret_id_num_uses: "3",
      secret_id_ttl: "10m",
      token_type: "service",
      token_strictly_bind_ip: true,
    });
    await bench.ask("update", "auth/approle/role/APP", {
      data: { token_num_uses: 5, policies: ["B", "a"] },
    });
    expect(await bench.data("read", ROLE)).toEqual({
      bind_secret_id: true,
      local_secret_ids: false,
      secret_id_bound_cidrs: ["10.0.0.0/8"],
      secret_id_num_uses: 3,
      secret_id_ttl: 600,
      token_bound_cidrs: [],
      token_explicit_max_ttl: 0,
      token_max_ttl: 14_400,
      token_no_default_policy: false,
      token_num_uses: 5,
      token_period: 0,
      token_policies: ["a", "b"],
      token_strictly_bind_ip: true,
      token_ttl: 3_600,
      token_type: "service",
    });
    expect(await bench.data("list", "auth/approle/role/")).toEqual({ keys: ["app"] });
    await bench.ask("delete", ROLE);
    expect(await bench.ask("read", ROLE)).toBeUndefined();
    expect(await bench.ask("list", "auth/approle/role")).toBeUndefined();
    expect(await bench.ask("read", `${ROLE}/role-id`)).toBeUndefined();
  });

  it.each<[Data, string]>([
    [{ bind_secret_id: false }, "at least one constraint should be enabled on the role"],
    [{ token_ttl: "9h" }, "'token_ttl' cannot be greater than 'token_max_ttl'"],
    [{ token_policies: "root" }, "auth methods cannot create root tokens"],
    [{ token_type: "odd" }, "invalid 'token_type' value"],
    [{ token_type: "batch", token_period: 60 }, "periodic tokens"],
    [{ token_type: "batch", token_num_uses: 1 }, "limited use count"],
    [{ token_num_uses: -1 }, "cannot be negative"],
    [{ secret_id_bound_cidrs: "10.0.0.0/8,here" }, "is neither an address nor a network"],
    [{ secret_id_ttl: "soon" }, "error converting input"],
  ])("refuse %j", async (data, why) => {
    const { bench } = await createApp();
    await expect(bench.ask("update", ROLE, { data })).rejects.toThrow(why);
  });

  it("warn of times that the mount does not allow", async () => {
    const { bench } = await createApp();
    expect(
      (await bench.ask("update", ROLE, { data: { token_max_ttl: "9999h" } }))?.warnings,
    ).toEqual([expect.stringContaining("will be truncated")]);
  });

  it("may have a chosen id, one role each", async () => {
    const { bench, secret } = await createApp();
    await bench.ask("update", `${ROLE}/role-id`, { data: { role_id: "my-app" } });
    const { id } = await secret();
    expect(
      (
        await bench.grant("auth/approle/login", {
          token: undefined,
          data: { role_id: "my-app", secret_id: id },
        })
      ).entry.displayName,
    ).toBe("approle");
    await expect(
      bench.ask("create", "auth/approle/role/other", { data: { role_id: "my-app" } }),
    ).rejects.toThrow("role_id already in use");
    await expect(bench.ask("update", `${ROLE}/role-id`, { data: { role_id: "" } })).rejects.toThrow(
      "1 to 1024",
    );
    await expect(
      bench.ask("update", "auth/approle/role/none/role-id", { data: { role_id: "x" } }),
    ).rejects.toThrow('role "none" does not exist');
    const both = await Promise.allSettled(
      ["x", "y"].map((name) =>
        bench.ask("create", `auth/approle/role/${name}`, { data: { role_id: "same" } }),
      ),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });
});

describe("secret ids", () => {
  it("are told once, listed by accessor, looked up and destroyed", async () => {
    const { bench, secret, login } = await createApp();
    const [one, two] = [
      await secret({ metadata: '{"env":"prod"}', cidr_list: "10.0.0.0/8", num_uses: 2, ttl: 60 }),
      await secret(),
    ];
    expect(one.id).toMatch(/^[\da-f-]{36}$/);
    expect(await bench.data("list", `${ROLE}/secret-id/`)).toEqual({
      keys: [one.accessor, two.accessor].toSorted(),
    });
    const about = await bench.data("update", `${ROLE}/secret-id/lookup`, {
      data: { secret_id: one.id },
    });
    expect(about).toMatchObject({
      secret_id_accessor: one.accessor,
      secret_id_num_uses: 2,
      secret_id_ttl: 60,
      metadata: { env: "prod" },
      cidr_list: ["10.0.0.0/8"],
      token_bound_cidrs: [],
    });
    expect(
      await bench.data("update", `${ROLE}/secret-id-accessor/lookup`, {
        data: { secret_id_accessor: one.accessor },
      }),
    ).toEqual(about);
    await bench.ask("update", `${ROLE}/secret-id/destroy`, { data: { secret_id: one.id } });
    await bench.ask("delete", `${ROLE}/secret-id-accessor/destroy`, {
      data: { secret_id_accessor: two.accessor },
    });
    expect(
      await bench.ask("update", `${ROLE}/secret-id/lookup`, { data: { secret_id: one.id } }),
    ).toBeUndefined();
    expect(await bench.ask("list", `${ROLE}/secret-id`)).toBeUndefined();
    await expect(
      bench.ask("update", `${ROLE}/secret-id-accessor/lookup`, {
        data: { secret_id_accessor: two.accessor },
      }),
    ).rejects.toMatchObject({ code: "not_found" });
    for (const { id } of [one, two]) await expect(login(id)).rejects.toMatchObject(MISMATCH);
  });

  it("may be chosen, once each", async () => {
    const { bench, login } = await createApp();
    const choose = (data: Data) => bench.data("update", `${ROLE}/custom-secret-id`, { data });
    expect(await choose({ secret_id: "chosen" })).toMatchObject({
      secret_id: "chosen",
      secret_id_num_uses: 0,
      secret_id_ttl: 0,
    });
    await expect(choose({ secret_id: "chosen" })).rejects.toThrow("secret_id already registered");
    await expect(choose({})).rejects.toThrow("missing secret_id");
    expect((await login("chosen")).entry.policies).toEqual(["default", "deploy"]);
  });

  it("stay within what their role says", async () => {
    const { secret, bench } = await createApp({
      secret_id_num_uses: 5,
      secret_id_ttl: 60,
      secret_id_bound_cidrs: "10.0.0.0/8",
      token_bound_cidrs: "fd00::/8",
    });
    for (const [data, why] of [
      [{ num_uses: 0 }, "num_uses cannot be higher"],
      [{ num_uses: 6 }, "num_uses cannot be higher"],
      [{ ttl: 0 }, "ttl cannot be longer"],
      [{ ttl: 61 }, "ttl cannot be longer"],
      [{ cidr_list: "11.0.0.1" }, "subset"],
      [{ cidr_list: "10.0.0.0/7" }, "subset"],
      [{ token_bound_cidrs: "::1" }, "subset"],
      [{ metadata: "x" }, "failed to parse metadata"],
      [{ metadata: '{"a":1}' }, "failed to parse metadata"],
    ] as const)
      await expect(secret(data)).rejects.toThrow(why);
    const { accessor } = await secret({
      num_uses: 5,
      ttl: 60,
      cidr_list: ["10.1.0.0/16"],
      token_bound_cidrs: "fd00::1",
    });
    expect(
      await bench.data("update", `${ROLE}/secret-id-accessor/lookup`, {
        data: { secret_id_accessor: accessor },
      }),
    ).toMatchObject({ cidr_list: ["10.1.0.0/16"], token_bound_cidrs: ["fd00::1/128"] });
    await expect(bench.ask("update", "auth/approle/role/none/secret-id")).rejects.toThrow(
      'role "none" does not exist',
    );
  });

  it("are over in time, and forgotten by tidying", async () => {
    const { bench, secret, login } = await createApp();
    const { id } = await secret({ ttl: 60 });
    const other = await secret({ ttl: 60 });
    await login(id);
    await bench.clock.advance(60_000);
    await expect(login(id)).rejects.toMatchObject(MISMATCH);
    expect(await bench.ask("list", `${ROLE}/secret-id`)).toBeUndefined();
    expect(
      await bench.ask("update", `${ROLE}/secret-id/lookup`, { data: { secret_id: other.id } }),
    ).toBeUndefined();
    expect(await bench.ask("update", "auth/approle/tidy/secret-id")).toMatchObject({
      status: 202,
      warnings: ["Tidy operation is done; 1 secret ids had expired."],
    });
  });

  it("that expired leave by themselves within an hour, however many, and the others stay", async () => {
    const { bench, secret, login } = await createApp();
    const kept = await secret();
    await Promise.all(Array.from({ length: 600 }, () => secret({ ttl: 60 })));
    await bench.ask("create", "auth/approle/role/other", { data: { token_policies: "deploy" } });
    await bench.ask("update", "auth/approle/role/other/secret-id", { data: { ttl: 60 } });
    const rows = (): number => bench.env.read((snapshot) => snapshot.count(storedValues));
    const before = rows();
    await bench.clock.advance(HOUR_MS);
    // A secret id and its accessor.
    await expect.poll(rows).toBe(before - 2 * 601);
    await login(kept.id);
    await secret({ ttl: 60 });
    await bench.clock.advance(HOUR_MS);
    await expect.poll(rows).toBe(before - 2 * 601);
  });

  it("are left alone once the mount is closed", async () => {
    const { bench, secret } = await createApp();
    await secret({ ttl: 60 });
    const rows = (): number => bench.env.read((snapshot) => snapshot.count(storedValues));
    const before = rows();
    await bench.approle.close();
    await bench.clock.advance(HOUR_MS);
    expect(rows()).toBe(before);
  });

  it("live no longer when the wall clock is set back", async () => {
    const { bench, secret, login } = await createApp();
    const { id } = await secret({ ttl: 60 });
    bench.clock.step(-24 * HOUR_MS);
    await login(id);
    await bench.clock.advance(60_000);
    await expect(login(id)).rejects.toMatchObject(MISMATCH);
  });

  it("are refused while the wall clock is far ahead, and are there when that is undone", async () => {
    const { bench, secret, login } = await createApp();
    const { id, accessor } = await secret({ ttl: 60 });
    await bench.clock.advance(1_000);
    bench.clock.step(100_000 * HOUR_MS);
    await expect(login(id)).rejects.toMatchObject(MISMATCH);
    expect(await bench.ask("update", "auth/approle/tidy/secret-id")).toMatchObject({
      warnings: ["Tidy operation is done; 0 secret ids had expired."],
    });
    bench.clock.step(-100_000 * HOUR_MS);
    expect(
      await bench.data("update", `${ROLE}/secret-id-accessor/lookup`, {
        data: { secret_id_accessor: accessor },
      }),
    ).toMatchObject({ expiration_time: new Date(bench.clock.now() + 59_000).toISOString() });
    await login(id);
  });

  it("go with their role", async () => {
    const { bench, secret, login, roleId } = await createApp();
    const { id } = await secret();
    await bench.ask("delete", ROLE);
    await expect(login(id)).rejects.toMatchObject(MISMATCH);
    await bench.ask("create", ROLE, { data: { role_id: roleId } });
    await expect(login(id)).rejects.toMatchObject(MISMATCH);
  });

  it("of a role whose deletion a crash broke off do not come back with a role of its name", async () => {
    const { bench, secret, roleId } = await createApp();
    const { id } = await secret();
    // The deletion begins with the role: all that is left is what a crash after that leaves.
    await bench.host.storage.delete("role/app");
    await bench.env.close();
    const again = await createAuthBench({ directory: bench.directory, clock: bench.clock });
    await again.ask("create", ROLE, { data: { role_id: roleId } });
    await expect(
      again.ask("update", "auth/approle/login", {
        token: undefined,
        data: { role_id: roleId, secret_id: id },
      }),
    ).rejects.toMatchObject(MISMATCH);
    expect(await again.host.storage.list("secret_id/")).toEqual([]);
    expect(await again.host.storage.list("accessor/")).toEqual([]);
  });

  it("lie nowhere in clear", async () => {
    const { bench, secret, roleId } = await createApp();
    const { id, accessor } = await secret({ metadata: '{"env":"canary-env"}' });
    await bench.env.close();
    const file = readFileSync(join(bench.directory, "test.mdb"));
    for (const canary of [id, accessor, roleId, "canary-env"])
      expect(file.includes(canary)).toBe(false);
  });
});

describe("a login", () => {
  it("gives an orphan with the role's policies and times, and says who it is", async () => {
    const { secret, login, bench } = await createApp({
      token_num_uses: 7,
      token_bound_cidrs: "127.0.0.0/8",
    });
    const { id } = await secret({ metadata: '{"env":"prod","role_name":"forged"}' });
    const grant = await login(id);
    expect(grant).toMatchObject({
      ttlMs: HOUR_MS,
      made: true,
      entry: {
        type: "service",
        policies: ["default", "deploy"],
        parent: undefined,
        path: "auth/approle/login",
        displayName: "approle",
        meta: { env: "prod", role_name: "app" },
        numUses: 7,
        boundCidrs: ["127.0.0.0/8"],
        renewable: true,
      },
    });
    expect(bench.tokens.lookup(grant.id)).toEqual(grant.entry);
    expect(bench.approle.find("login")?.unauthenticated).toBe(true);
  });

  it("answers every mismatch the same", async () => {
    const { bench, roleId, secret, login } = await createApp();
    const { id, accessor } = await secret();
    for (const data of [
      { role_id: roleId },
      { role_id: roleId, secret_id: "" },
      { role_id: roleId, secret_id: `${id}x` },
      { role_id: roleId, secret_id: accessor },
      { role_id: "x", secret_id: id },
      { role_id: "app", secret_id: id },
    ]) {
      await expect(
        bench.ask("update", "auth/approle/login", { token: undefined, data }),
      ).rejects.toMatchObject(MISMATCH);
    }
    await expect(
      bench.ask("update", "auth/approle/login", { token: undefined, data: { secret_id: id } }),
    ).rejects.toThrow("missing role_id");
    await bench.ask("create", "auth/approle/role/other", { data: {} });
    const other = String((await bench.data("read", "auth/approle/role/other/role-id"))["role_id"]);
    await expect(
      bench.ask("update", "auth/approle/login", {
        token: undefined,
        data: { role_id: other, secret_id: id },
      }),
    ).rejects.toMatchObject(MISMATCH);
    await login(id);
  });

  it("takes no more uses than a secret id has, however many come at once", async () => {
    const { secret, login } = await createApp();
    const { id } = await secret({ num_uses: 3 });
    const logins = await Promise.allSettled(Array.from({ length: 12 }, () => login(id)));
    expect(logins.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    await expect(login(id)).rejects.toMatchObject(MISMATCH);
  });

  it("comes from where it may only, and costs no use from elsewhere", async () => {
    const { secret, login } = await createApp({ secret_id_bound_cidrs: "10.0.0.0/8" });
    const { id } = await secret({ cidr_list: "10.1.0.0/16", num_uses: 1 });
    for (const from of ["10.2.0.1", "11.1.0.1", "::1", undefined])
      await expect(login(id, from)).rejects.toMatchObject(MISMATCH);
    await login(id, "::ffff:10.1.0.1");
  });

  it("does without a secret id where only the address counts", async () => {
    const { bench, login } = await createApp({
      bind_secret_id: false,
      secret_id_bound_cidrs: "10.0.0.0/8",
      token_strictly_bind_ip: true,
    });
    expect((await login(undefined, "10.0.0.9")).entry.boundCidrs).toEqual(["10.0.0.9/32"]);
    await expect(login(undefined, "11.0.0.9")).rejects.toMatchObject(MISMATCH);
    await expect(bench.ask("update", `${ROLE}/secret-id`)).rejects.toThrow(
      "bind_secret_id is not set on the role",
    );
  });

  it("gives batch tokens where the role says so", async () => {
    const { secret, login } = await createApp({ token_type: "batch" });
    expect((await login((await secret()).id)).entry).toMatchObject({
      type: "batch",
      renewable: false,
    });
  });

  it("works after a restart with what was stored", async () => {
    const { bench, secret, roleId } = await createApp();
    const { id } = await secret();
    await bench.env.close();
    const again = await createAuthBench({ directory: bench.directory, clock: bench.clock });
    expect(
      (
        await again.grant("auth/approle/login", {
          token: undefined,
          data: { role_id: roleId, secret_id: id },
        })
      ).entry.policies,
    ).toEqual(["default", "deploy"]);
  });
});

describe("the renewal of a login's token", () => {
  it("follows the role as it is now, and ends with it", async () => {
    const { bench, secret, login } = await createApp();
    const token = await login((await secret()).id);
    const renew = () => bench.grant("auth/token/renew-self", { token, data: {} });
    await bench.ask("update", ROLE, { data: { token_ttl: "2h" } });
    expect((await renew()).ttlMs).toBe(2 * HOUR_MS);
    await bench.ask("update", ROLE, { data: { token_ttl: "3h", token_max_ttl: "3h" } });
    await bench.clock.advance(HOUR_MS);
    expect((await renew()).ttlMs).toBe(2 * HOUR_MS);
    await bench.ask("delete", ROLE);
    await expect(renew()).rejects.toThrow('role "app" does not exist during renewal');
  });

  it("stays within the mount's TTLs as they are now", async () => {
    const { bench, secret, login } = await createApp({ token_ttl: 0, token_max_ttl: 0 });
    Object.assign(bench.mountLimits, { defaultLeaseTtlMs: HOUR_MS, maxLeaseTtlMs: 2 * HOUR_MS });
    const token = await login((await secret()).id);
    const renew = (increment: string) =>
      bench.ask("update", "auth/token/renew-self", { token, data: { increment } });
    expect(token.ttlMs).toBe(HOUR_MS);
    expect(await renew("0")).toMatchObject({ auth: { ttlMs: HOUR_MS } });
    expect(await renew("700h")).toMatchObject({
      auth: { ttlMs: 2 * HOUR_MS },
      warnings: [expect.stringContaining('exceeded the effective max_ttl of "2h0m0s"')],
    });
    bench.mountLimits.maxLeaseTtlMs = HOUR_MS / 2;
    expect(await renew("700h")).toMatchObject({ auth: { ttlMs: HOUR_MS / 2 } });
  });

  it("gives a period within the mount's maximum, again and again", async () => {
    const { bench, secret, login } = await createApp({
      token_ttl: 0,
      token_max_ttl: 0,
      token_period: "3h",
    });
    bench.mountLimits.maxLeaseTtlMs = 2 * HOUR_MS;
    const token = await login((await secret()).id);
    for (let renewals = 0; renewals < 3; renewals += 1) {
      await bench.clock.advance(HOUR_MS);
      expect(await bench.ask("update", "auth/token/renew-self", { token })).toMatchObject({
        auth: { ttlMs: 2 * HOUR_MS },
        warnings: [expect.stringContaining("period value is capped accordingly")],
      });
    }
  });

  it("works after a restart, and not while its mount is gone", async () => {
    const { bench, secret, login } = await createApp();
    const token = await login((await secret()).id);
    await bench.env.close();
    const again = await createAuthBench({ directory: bench.directory, clock: bench.clock });
    expect((await again.grant("auth/token/renew-self", { token })).ttlMs).toBe(HOUR_MS);
    const stray = await again.tokens.create(specOf({ issuer: "a mount that was" }));
    await expect(again.ask("update", "auth/token/renew-self", { token: stray })).rejects.toThrow(
      "the auth mount that made this token is gone, not renewing",
    );
  });
});
