import { describe, expect, it } from "vitest";
import { Secret } from "../../../../src/kernel/base/secret.ts";
import type { Data } from "../../../../src/tokens/logical/types.ts";
import type { CreatedToken, TokenSpec } from "../../../../src/tokens/vault/types.ts";
import { createAuthBench, textOf, type AuthBench } from "../fixtures/auth.ts";
import { HOUR_MS, specOf } from "../fixtures/tokens.ts";

/** A token that is not root, with policies that exist. */
async function lesser(bench: AuthBench, spec: Partial<TokenSpec> = {}): Promise<CreatedToken> {
  for (const name of ["a", "b", "c"])
    await bench.deps.policies.write(name, 'path "x" { policy = "read" }');
  return bench.tokens.create(specOf({ policies: ["a", "b", "default"], ...spec }));
}

async function withSudo(bench: AuthBench): Promise<CreatedToken> {
  await bench.deps.policies.write(
    "boss",
    'path "auth/token/*" { capabilities = ["update", "sudo"] }',
  );
  return lesser(bench, { policies: ["boss"] });
}

describe("auth/token/create", () => {
  it("makes a child with the policies of its parent, usual times and names", async () => {
    const bench = await createAuthBench();
    const token = await lesser(bench);
    const { entry, ttlMs, made, id } = await bench.grant("auth/token/create", { token, data: {} });
    expect(entry).toMatchObject({
      policies: ["a", "b", "default"],
      parent: token.entry.key,
      path: "auth/token/create",
      displayName: "token",
      numUses: 0,
      renewable: true,
      type: "service",
      meta: undefined,
      periodMs: 0,
    });
    expect([ttlMs, made]).toEqual([768 * HOUR_MS, true]);
    expect(bench.tokens.lookup(id)).toEqual(entry);
  });

  it("takes every field", async () => {
    const bench = await createAuthBench();
    const { entry, id } = await bench.grant("auth/token/create", {
      data: {
        id: "my-own.id",
        policies: ["B", "a", "a"],
        ttl: "2h",
        explicit_max_ttl: 7200,
        period: "30m",
        num_uses: "5",
        renewable: "true",
        meta: { who: "me", n: 1 },
        display_name: "my app!",
        no_parent: true,
        type: "service",
      },
    });
    expect(textOf(id)).toBe("my-own.id");
    expect(entry).toMatchObject({
      policies: ["a", "b", "default"],
      creationTtlMs: HOUR_MS / 2,
      explicitMaxTtlMs: 2 * HOUR_MS,
      periodMs: HOUR_MS / 2,
      numUses: 5,
      meta: { who: "me", n: "1" },
      displayName: "token-my-app",
      parent: undefined,
    });
  });

  it("has at most 16 KiB of metadata, and 128 KiB of all that is stored with it", async () => {
    const bench = await createAuthBench();
    const create = (data: Data): ReturnType<typeof bench.grant> =>
      bench.grant("auth/token/create", { data });
    await create({ meta: { note: "€".repeat(5_000) } });
    await expect(create({ meta: { note: "€".repeat(6_000) } })).rejects.toMatchObject({
      code: "invalid",
      field: "meta",
    });
    await expect(
      create({ policies: Array.from({ length: 100 }, (_, at) => `${at}-${"x".repeat(2_000)}`) }),
    ).rejects.toMatchObject({ code: "too_large" });
  });

  it("cuts what is too long and says so; warns of policies that do not exist and of fields it does not know", async () => {
    const bench = await createAuthBench();
    const answer = await bench.ask("update", "auth/token/create", {
      data: { policies: "nope", ttl: "1000h", strange: 1 },
    });
    expect(answer?.auth?.ttlMs).toBe(768 * HOUR_MS);
    expect(answer?.warnings).toEqual([
      'Policy "nope" does not exist',
      'TTL of "1000h0m0s" exceeded the effective max_ttl of "768h0m0s"; TTL value is capped accordingly',
      "Endpoint ignored these unrecognized parameters: [strange]",
    ]);
  });

  it.each<[Data, string]>([
    [{ policies: ["c"] }, "child policies must be subset of parent"],
    [{ policies: ["root"] }, "child policies must be subset of parent"],
    [{ id: "x" }, "root or sudo privileges required to specify token id"],
    [{ no_parent: true }, "root or sudo privileges required to create orphan token"],
    [{ period: "1h" }, "root or sudo privileges required to create periodic token"],
    [{ num_uses: -1 }, "number of uses cannot be negative"],
    [{ type: "other" }, "invalid 'type' value"],
    [{ type: "batch", num_uses: 1 }, 'batch tokens cannot have "num_uses" set'],
    [{ type: "batch", explicit_max_ttl: 60 }, 'batch tokens cannot have "explicit_max_ttl" set'],
    [{ entity_alias: "me" }, "identities, which are not served"],
    [{ ttl: "-1h" }, "cannot provide negative value"],
    [{ num_uses: "many" }, 'error converting input for field "num_uses"'],
  ])("refuses a token that is not root %j", async (data, why) => {
    const bench = await createAuthBench();
    const token = await lesser(bench);
    await expect(bench.ask("update", "auth/token/create", { token, data })).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining(why),
    });
  });

  it("hands out default only where the parent has it, and never against the request", async () => {
    const bench = await createAuthBench();
    const plain = await lesser(bench, { policies: ["a", "b"] });
    const policies = async (token: CreatedToken, data: Data) =>
      (await bench.grant("auth/token/create", { token, data })).entry.policies;
    expect(await policies(plain, {})).toEqual(["a", "b"]);
    expect(await policies(plain, { policies: "a" })).toEqual(["a"]);
    const usual = await lesser(bench);
    expect(await policies(usual, { policies: "a" })).toEqual(["a", "default"]);
    expect(await policies(usual, { policies: "a", no_default_policy: true })).toEqual(["a"]);
    expect(await policies(usual, { no_default_policy: true })).toEqual(["a", "b"]);
    expect(await policies(bench.root, { policies: "a,b" })).toEqual(["a", "b", "default"]);
    expect(await policies(bench.root, {})).toEqual(["root"]);
    expect(await policies(bench.root, { policies: ["a", "root"] })).toEqual(["root"]);
  });

  it("lets sudo go beyond its own policies, but not to root", async () => {
    const bench = await createAuthBench();
    const token = await withSudo(bench);
    expect(
      (
        await bench.grant("auth/token/create", {
          token,
          data: { policies: "c", no_parent: true, period: "1h", id: "chosen" },
        })
      ).entry,
    ).toMatchObject({ policies: ["c", "default"], parent: undefined });
    await expect(
      bench.ask("update", "auth/token/create", { token, data: { policies: "root" } }),
    ).rejects.toThrow("root tokens may not be created without parent token being root");
    await expect(
      bench.ask("update", "auth/token/create", { token, data: { policies: "response-wrapping" } }),
    ).rejects.toThrow("cannot assign policy");
  });

  it("makes root tokens that never expire only from such ones", async () => {
    const bench = await createAuthBench();
    const root = await bench.grant("auth/token/create", {});
    expect(root).toMatchObject({
      ttlMs: 0,
      entry: { policies: ["root"], renewable: false, expiresAtMs: undefined },
    });
    const mortal = await bench.grant("auth/token/create", { data: { ttl: "1h" } });
    expect(mortal).toMatchObject({
      ttlMs: HOUR_MS,
      entry: { policies: ["root"], renewable: true },
    });
    await expect(bench.ask("update", "auth/token/create", { token: mortal })).rejects.toThrow(
      "expiring root tokens cannot create non-expiring root tokens",
    );
    expect(
      (await bench.grant("auth/token/create", { data: { explicit_max_ttl: "2h" } })).ttlMs,
    ).toBe(2 * HOUR_MS);
    await expect(
      bench.ask("update", "auth/token/create", { data: { type: "batch" } }),
    ).rejects.toThrow("batch");
  });

  it("needs a parent that may have children", async () => {
    const bench = await createAuthBench();
    const batch = await lesser(bench, { type: "batch" });
    await expect(bench.ask("update", "auth/token/create", { token: batch })).rejects.toThrow(
      "batch tokens cannot create more tokens",
    );
    const limited = await lesser(bench, { numUses: 3 });
    await expect(bench.ask("update", "auth/token/create", { token: limited })).rejects.toThrow(
      "restricted use token cannot generate child tokens",
    );
    await expect(
      bench.ask("update", "auth/token/create", { token: undefined }),
    ).rejects.toMatchObject({ code: "denied" });
  });

  it("makes orphans and batch tokens; what a parent is bound to, its children are", async () => {
    const bench = await createAuthBench();
    const token = await lesser(bench, { boundCidrs: ["10.0.0.0/8"] });
    expect((await bench.grant("auth/token/create-orphan", { token })).entry).toMatchObject({
      parent: undefined,
      path: "auth/token/create-orphan",
      boundCidrs: ["10.0.0.0/8"],
    });
    expect(
      (await bench.grant("auth/token/create", { token, data: { type: "batch", ttl: 60 } })).entry,
    ).toMatchObject({
      type: "batch",
      parent: token.entry.key,
      renewable: false,
      creationTtlMs: 60_000,
    });
  });
});

describe("auth/token/roles", () => {
  it("are written in parts, read, listed and deleted", async () => {
    const bench = await createAuthBench();
    expect(await bench.ask("list", "auth/token/roles/")).toBeUndefined();
    expect(
      await bench.token.exists({
        id: "",
        operation: "update",
        path: "roles/r",
        data: {},
        mountPoint: "auth/token/",
        signal: new AbortController().signal,
      }),
    ).toBe(false);
    await bench.ask("create", "auth/token/roles/r", {
      data: { allowed_policies: "B, a", token_period: "1h", token_bound_cidrs: "10.0.0.1" },
    });
    await bench.ask("update", "auth/token/roles/r", {
      data: { orphan: true, explicit_max_ttl: 60 },
    });
    expect(await bench.data("read", "auth/token/roles/r")).toMatchObject({
      name: "r",
      allowed_policies: ["a", "b"],
      orphan: true,
      period: 3600,
      token_period: 3600,
      explicit_max_ttl: 60,
      token_explicit_max_ttl: 60,
      renewable: true,
      token_type: "default-service",
      token_bound_cidrs: ["10.0.0.1/32"],
    });
    expect(await bench.data("list", "auth/token/roles")).toEqual({ keys: ["r"] });
    await bench.ask("delete", "auth/token/roles/r");
    expect(await bench.ask("read", "auth/token/roles/r")).toBeUndefined();
  });

  it.each<[Data, string]>([
    [{ token_type: "odd" }, "invalid 'token_type' value"],
    [{ path_suffix: "a/b" }, "given role path suffix contains invalid characters"],
    [{ token_bound_cidrs: "10.0.0.0/33" }, "is neither an address nor a network"],
    [{ token_num_uses: -1 }, "cannot be negative"],
    [{ token_type: "batch", token_period: 60 }, "periodic tokens"],
    [{ allowed_entity_aliases: ["x"] }, "not served"],
  ])("refuse %j", async (data, why) => {
    const bench = await createAuthBench();
    await expect(bench.ask("create", "auth/token/roles/r", { data })).rejects.toThrow(why);
  });

  it("decide what is made by them", async () => {
    const bench = await createAuthBench();
    const token = await lesser(bench);
    const make = (data: Data) => bench.grant("auth/token/create/r", { token, data });
    await expect(make({})).rejects.toThrow("unknown role r");
    await bench.ask("create", "auth/token/roles/r", {
      data: {
        allowed_policies: "c",
        allowed_policies_glob: "x-*",
        orphan: true,
        path_suffix: "ci",
        token_period: "1h",
        token_num_uses: 3,
        renewable: false,
        token_bound_cidrs: "10.0.0.0/8",
        token_explicit_max_ttl: "2h",
      },
    });
    expect((await make({ num_uses: 9 })).entry).toMatchObject({
      policies: ["c", "default"],
      parent: undefined,
      path: "auth/token/create/r/ci",
      periodMs: HOUR_MS,
      numUses: 3,
      renewable: false,
      boundCidrs: ["10.0.0.0/8"],
      explicitMaxTtlMs: 2 * HOUR_MS,
      role: "r",
    });
    expect(
      (await make({ policies: ["x-1", "c"], no_default_policy: true, num_uses: 2 })).entry,
    ).toMatchObject({ policies: ["c", "x-1"], numUses: 2 });
    await expect(make({ policies: "a" })).rejects.toThrow(
      `token policies (["a" "default"]) must be subset of the role's allowed policies (["c" "default"]) or glob policies (["x-*"])`,
    );
  });

  it("may forbid instead of allow", async () => {
    const bench = await createAuthBench();
    const token = await lesser(bench);
    await bench.ask("create", "auth/token/roles/r", {
      data: {
        disallowed_policies: "a,default",
        disallowed_policies_glob: "z*",
        token_type: "default-batch",
      },
    });
    const make = (data: Data) => bench.grant("auth/token/create/r", { token, data });
    expect((await make({ policies: "c" })).entry).toMatchObject({ policies: ["c"], type: "batch" });
    expect((await make({ policies: "c", type: "service" })).entry.type).toBe("service");
    await expect(make({ policies: "zoo" })).rejects.toThrow(
      'token policy "zoo" is disallowed by this role',
    );
    await expect(make({})).rejects.toThrow('token policy "a" is disallowed by this role');
    await expect(make({ policies: "root" })).rejects.toThrow("root tokens may not be created");
  });
});

describe("auth/token/lookup", () => {
  it("tells what is known, the id to who knows it already", async () => {
    const bench = await createAuthBench();
    const token = await lesser(bench, {
      meta: { who: "me" },
      boundCidrs: ["::1/128"],
      periodMs: HOUR_MS,
    });
    await bench.clock.advance(1_500);
    const self = await bench.data("read", "auth/token/lookup-self", { token });
    expect(self).toEqual({
      accessor: token.entry.accessor,
      bound_cidrs: ["::1/128"],
      creation_time: Math.floor(token.entry.createdAtMs / 1_000),
      creation_ttl: 3600,
      display_name: "token",
      entity_id: "",
      expire_time: new Date(token.entry.expiresAtMs ?? 0).toISOString(),
      explicit_max_ttl: 0,
      id: textOf(token.id),
      issue_time: new Date(token.entry.createdAtMs).toISOString(),
      meta: { who: "me" },
      num_uses: 0,
      orphan: true,
      path: "auth/token/create",
      period: 3600,
      policies: ["a", "b", "default"],
      renewable: true,
      ttl: 3599,
      type: "service",
    });
    expect(
      await bench.data("update", "auth/token/lookup", { data: { token: textOf(token.id) } }),
    ).toEqual(self);
    expect(await bench.data("read", "auth/token/lookup", { token })).toEqual(self);
    expect(
      await bench.data("update", "auth/token/lookup-accessor", {
        data: { accessor: token.entry.accessor },
      }),
    ).toEqual({ ...self, id: "" });
    expect(await bench.data("read", "auth/token/lookup-self")).toMatchObject({
      expire_time: null,
      ttl: 0,
      creation_ttl: 0,
      meta: null,
      policies: ["root"],
      renewable: false,
    });
  });

  it("tells nothing of tokens that are none", async () => {
    const bench = await createAuthBench();
    await expect(
      bench.ask("update", "auth/token/lookup", { data: { token: "hvs.nope" } }),
    ).rejects.toMatchObject({ code: "denied", message: "bad token" });
    await expect(
      bench.ask("update", "auth/token/lookup-accessor", { data: { accessor: "nope" } }),
    ).rejects.toThrow("invalid accessor");
    await expect(bench.ask("update", "auth/token/lookup-accessor")).rejects.toThrow(
      "missing accessor",
    );
  });

  it("lists accessors, for sudo only", async () => {
    const bench = await createAuthBench();
    const token = await lesser(bench);
    expect(await bench.data("list", "auth/token/accessors/")).toEqual({
      keys: [bench.root.entry.accessor, token.entry.accessor].toSorted(),
    });
    const [first, second] = [bench.root.entry.accessor, token.entry.accessor].toSorted();
    const page = (data: Data) => bench.data("list", "auth/token/accessors/", { data });
    expect(await page({ limit: 1 })).toEqual({ keys: [first] });
    expect(await page({ limit: 5, after: first })).toEqual({ keys: [second] });
    expect(await page({ after: second })).toEqual({ keys: [] });
    expect(bench.token.find("accessors/")?.sudo).toBe(true);
  });
});

describe("auth/token/renew", () => {
  it("renews by id, by accessor and oneself, and tells the id only to who knows it", async () => {
    const bench = await createAuthBench();
    const token = await lesser(bench);
    for (const [path, data, id] of [
      ["renew-self", {}, textOf(token.id)],
      ["renew", { token: textOf(token.id) }, textOf(token.id)],
      ["renew-accessor", { accessor: token.entry.accessor }, ""],
    ] as const) {
      const answer = await bench.ask("update", `auth/token/${path}`, {
        token: path === "renew-self" ? token : bench.root,
        data: { ...data, increment: "2h" },
      });
      expect(answer?.auth).toMatchObject({ ttlMs: 2 * HOUR_MS, made: false });
      expect(textOf(answer?.auth?.id)).toBe(id);
    }
  });

  it("refuses what cannot be renewed", async () => {
    const bench = await createAuthBench();
    await expect(bench.ask("update", "auth/token/renew-self")).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining("not renewable"),
    });
    await expect(
      bench.ask("update", "auth/token/renew", { data: { token: "nope" } }),
    ).rejects.toThrow("token not found");
    await expect(bench.ask("update", "auth/token/renew")).rejects.toThrow("missing token ID");
  });

  it("asks the role again, and is over when the role has gone", async () => {
    const bench = await createAuthBench();
    await bench.ask("create", "auth/token/roles/r", { data: { token_period: "1h" } });
    const made = await bench.grant("auth/token/create/r");
    await bench.ask("update", "auth/token/roles/r", { data: { token_period: "3h" } });
    expect((await bench.grant("auth/token/renew-self", { token: made })).ttlMs).toBe(3 * HOUR_MS);
    await bench.ask("delete", "auth/token/roles/r");
    await expect(bench.ask("update", "auth/token/renew-self", { token: made })).rejects.toThrow(
      'original token role "r" could not be found, not renewing',
    );
  });
});

describe("auth/token/revoke", () => {
  it("ends tokens by id, by accessor and oneself, children included", async () => {
    const bench = await createAuthBench();
    for (const [path, data] of [
      ["revoke-self", () => ({})],
      ["revoke", (made: CreatedToken) => ({ token: textOf(made.id) })],
      ["revoke-accessor", (made: CreatedToken) => ({ accessor: made.entry.accessor })],
    ] as const) {
      const token = await lesser(bench);
      const child = await bench.grant("auth/token/create", { token });
      expect(
        await bench.ask("update", `auth/token/${path}`, {
          token: path === "revoke-self" ? token : bench.root,
          data: data(token),
        }),
      ).toBeUndefined();
      expect([bench.tokens.lookup(token.id), bench.tokens.lookup(child.id)]).toEqual([
        undefined,
        undefined,
      ]);
    }
    expect(
      await bench.ask("update", "auth/token/revoke", { data: { token: "nope" } }),
    ).toBeUndefined();
    await expect(bench.ask("update", "auth/token/revoke")).rejects.toThrow("missing token ID");
  });

  it("may leave the children, for sudo only", async () => {
    const bench = await createAuthBench();
    const token = await lesser(bench);
    const child = await bench.grant("auth/token/create", { token });
    await expect(
      bench.ask("update", "auth/token/revoke-orphan", { token, data: { token: textOf(token.id) } }),
    ).rejects.toThrow("root or sudo privileges required to revoke and orphan");
    await bench.ask("update", "auth/token/revoke-orphan", {
      token: await withSudo(bench),
      data: { token: textOf(token.id) },
    });
    expect(bench.tokens.lookup(token.id)).toBeUndefined();
    expect(bench.tokens.lookup(child.id)?.parent).toBeUndefined();
    await expect(
      bench.ask("update", "auth/token/revoke-orphan", { data: { token: "nope" } }),
    ).rejects.toThrow("token to revoke not found");
  });

  it("cannot end batch tokens, and has nothing to tidy", async () => {
    const bench = await createAuthBench();
    const batch = await lesser(bench, { type: "batch" });
    await expect(bench.ask("update", "auth/token/revoke-self", { token: batch })).rejects.toThrow(
      "batch tokens cannot be revoked",
    );
    expect(await bench.ask("update", "auth/token/tidy")).toMatchObject({ status: 202 });
  });
});

describe("the token backend", () => {
  it("never quotes an id in an error", async () => {
    const bench = await createAuthBench();
    const canary = "hvs.canaryCanaryCanary";
    for (const path of ["lookup", "renew", "revoke-orphan", "create/nope"]) {
      const error = await bench
        .ask("update", `auth/token/${path}`, { data: { token: canary, id: canary } })
        .catch((thrown: unknown) => thrown);
      expect(JSON.stringify(error) + String(error)).not.toContain(canary);
    }
    expect(String(Secret.of(canary, "test"))).toBe("[secret]");
  });
});
