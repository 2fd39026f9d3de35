import { describe, expect, it } from "vitest";
import { startEngineRoom } from "../support/engine.ts";
import { logical } from "../support/host.ts";

describe("a permission set", () => {
  it("is read as it was written, unset lists as null", async () => {
    await using room = await startEngineRoom({ config: false });
    expect(
      await room.ask("create", "permissionset/ci", {
        installation_id: "5",
        permissions: "contents=read,issues=write",
      }),
    ).toBeUndefined();
    expect(await room.ask("read", "permissionset/ci")).toEqual({
      data: {
        installation_id: 5,
        org_name: "",
        permissions: { contents: "read", issues: "write" },
        repositories: null,
        repository_ids: null,
      },
    });
    await room.ask("create", "permissionset/all", {
      org_name: "Org",
      repositories: "a,b",
      repository_ids: [1, "2"],
    });
    expect(await room.ask("read", "permissionset/all")).toEqual({
      data: {
        installation_id: 0,
        org_name: "Org",
        permissions: null,
        repositories: ["a", "b"],
        repository_ids: [1, 2],
      },
    });
  });

  it("is replaced whole by writing its name again", async () => {
    await using room = await startEngineRoom({ config: false });
    await room.ask("create", "permissionset/ci", {
      installation_id: 5,
      permissions: "contents=read",
      repositories: "a",
    });
    await room.ask("update", "permissionset/ci", { org_name: "x" });
    expect((await room.ask("read", "permissionset/ci"))?.data).toEqual({
      installation_id: 0,
      org_name: "x",
      permissions: null,
      repositories: null,
      repository_ids: null,
    });
  });

  it("can be written back as it is read, without a warning", async () => {
    await using room = await startEngineRoom({ config: { strict_scopes: true } });
    await room.ask("create", "permissionset/ci", { installation_id: 5 });
    const data = (await room.ask("read", "permissionset/ci"))?.data ?? {};
    expect(await room.ask("update", "permissionset/ci", data)).toBeUndefined();
    expect((await room.ask("read", "permissionset/ci"))?.data).toEqual(data);
  });

  it("says nothing when it is not there, and deleting it is fine", async () => {
    await using room = await startEngineRoom({ config: false });
    expect(await room.ask("read", "permissionset/none")).toBeUndefined();
    expect(await room.ask("delete", "permissionset/none")).toBeUndefined();
  });

  it("is known to exist from its first write to its deletion", async () => {
    await using room = await startEngineRoom({ config: false });
    const exists = (): Promise<boolean | undefined> =>
      room.backend.exists(logical("update", "permissionset/ci"));
    const seen = [await exists()];
    await room.ask("create", "permissionset/ci", { installation_id: 5 });
    seen.push(await exists());
    await room.ask("delete", "permissionset/ci");
    seen.push(await exists());
    expect(seen).toEqual([false, true, false]);
  });

  it("needs an installation or an organisation with every write", async () => {
    await using room = await startEngineRoom({ config: false });
    await room.ask("create", "permissionset/ci", { installation_id: 5 });
    expect(
      await room.refusal("update", "permissionset/ci", { permissions: "contents=read" }),
    ).toMatchObject({
      code: "invalid",
      message: "installation_id or org_name is a required parameter",
    });
  });

  it("tells of fields that it ignores, for a misspelt one means a wider token", async () => {
    await using room = await startEngineRoom({ config: false });
    expect(
      await room.ask("create", "permissionset/ci", {
        installation_id: 5,
        permisions: "contents=read",
      }),
    ).toEqual({ warnings: ["Endpoint ignored these unrecognized parameters: [permisions]"] });
  });

  it("has the name of its path, whatever the body says", async () => {
    await using room = await startEngineRoom({ config: false });
    await room.ask("create", "permissionset/ci", { name: "other", installation_id: 5 });
    expect((await room.ask("list", "permissionsets/"))?.data).toEqual({ keys: ["ci"] });
  });

  it("is kept as the original keeps it", async () => {
    await using room = await startEngineRoom({ config: false });
    await room.ask("create", "permissionset/ci", {
      installation_id: 5,
      permissions: "contents=read",
    });
    expect(
      JSON.parse(Buffer.from(room.host.stored.get("permissionset/ci") ?? []).toString()),
    ).toEqual({
      Name: "ci",
      TokenRequest: { installation_id: 5, org_name: "", permissions: { contents: "read" } },
    });
    room.host.stored.set(
      "permissionset/old",
      Buffer.from(
        '{"Name":"old","TokenRequest":{"org_name":"x","repositories":null,"repository_ids":[7]}}',
      ),
    );
    expect((await room.ask("read", "permissionset/old"))?.data).toEqual({
      installation_id: 0,
      org_name: "x",
      permissions: null,
      repositories: null,
      repository_ids: [7],
    });
  });

  it("that is damaged says so", async () => {
    await using room = await startEngineRoom();
    for (const row of ["{", "[]", '{"Name":"x"}']) {
      room.host.stored.set("permissionset/x", Buffer.from(row));
      expect(await room.refusal("read", "permissionset/x")).toMatchObject({
        code: "corrupt",
        message: "the stored permissionset/x is damaged; write it again",
      });
      expect(await room.refusal("create", "token/x")).toMatchObject({ code: "corrupt" });
    }
  });

  it("may have a long name, but no endless one", async () => {
    await using room = await startEngineRoom({ config: false });
    await room.ask("create", `permissionset/${"a".repeat(256)}`, { installation_id: 5 });
    expect(
      await room.refusal("create", `permissionset/${"a".repeat(257)}`, { installation_id: 5 }),
    ).toMatchObject({ code: "invalid", message: "name must have at most 256 characters" });
  });
});

describe("the list of permission sets", () => {
  it("has its names in every spelling of the path, sorted bytewise", async () => {
    await using room = await startEngineRoom({ config: false });
    for (const name of ["b", "B", "a.c", "a-b", "_"])
      await room.ask("create", `permissionset/${name}`, { installation_id: 5 });
    for (const path of ["permissionsets/", "permissionsets", "permissionset/", "permissionset"])
      expect(await room.ask("list", path)).toEqual({
        data: { keys: ["B", "_", "a-b", "a.c", "b"] },
      });
  });

  it("is nothing when there are none, and is not read", async () => {
    await using room = await startEngineRoom({ config: false });
    expect(await room.ask("list", "permissionsets/")).toBeUndefined();
    expect(await room.refusal("read", "permissionsets")).toMatchObject({ code: "unsupported" });
  });
});

describe("a token by permission set", () => {
  it.each(["read", "create", "update"] as const)(
    "is minted as the set says: %s",
    async (operation) => {
      await using room = await startEngineRoom();
      await room.ask("create", "permissionset/ci", {
        org_name: "example-org",
        permissions: "contents=read",
        repositories: "web",
      });
      const response = await room.ask(operation, "token/ci");
      expect(response?.data).toMatchObject({
        org_name: "example-org",
        installation_id: 1001,
        permissions: { contents: "read" },
      });
      expect(JSON.parse(room.codeHost.lastRequest("mint")?.body ?? "")).toEqual({
        permissions: { contents: "read" },
        repositories: ["web"],
      });
      expect(response?.secret?.ttlMs).toBeGreaterThan(3_590_000);
    },
  );

  it("takes no scope of its own", async () => {
    await using room = await startEngineRoom();
    await room.ask("create", "permissionset/ci", {
      installation_id: 1001,
      permissions: "contents=read",
    });
    expect(
      await room.refusal("create", "token/ci", { permissions: "contents=write" }),
    ).toMatchObject({
      code: "invalid",
      message: "1 error occurred:\n\t* unknown field: permissions\n\n",
    });
    expect(room.codeHost.counts().minted).toBe(0);
  });

  it("names a set that is not there", async () => {
    await using room = await startEngineRoom();
    expect(await room.refusal("create", "token/none")).toMatchObject({
      code: "invalid",
      message: "permission set 'none' does not exist",
    });
  });

  it("obeys the ceiling of the moment", async () => {
    await using room = await startEngineRoom();
    await room.ask("create", "permissionset/ci", {
      installation_id: 1001,
      permissions: "contents=write",
    });
    await room.ask("update", "config", { max_permissions: "contents=read" });
    expect(await room.refusal("create", "token/ci")).toMatchObject({
      code: "invalid",
      message: "contents=write is above max_permissions of this mount, which allow contents=read",
    });
  });
});
