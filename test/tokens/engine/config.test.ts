import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { startEngineRoom } from "../support/engine.ts";
import { countTurns, slowClock } from "../support/turns.ts";

const key = (bits: number): string =>
  generateKeyPairSync("rsa", { modulusLength: bits })
    .privateKey.export({ type: "pkcs8", format: "pem" })
    .toString();
const PEM = key(2048);

describe("a write whose outcome is not known", () => {
  it("is in force once it is stored, also when it was said to have failed", async () => {
    await using room = await startEngineRoom();
    await room.mint();
    const { storage } = room.host;
    const put = storage.put.bind(storage);
    storage.put = async (key, value) => {
      await put(key, value);
      storage.put = put;
      throw new StewardError("deadline", "the storage did not answer in time");
    };
    const ceiling = { max_permissions: "contents=read" };
    expect((await room.refusal("update", "config", ceiling)).code).toBe("deadline");
    expect(await room.ask("update", "config", ceiling)).toBeUndefined();
    const wanted = { installation_id: room.demo.installationId, permissions: "contents=write" };
    expect((await room.refusal("create", "token", wanted)).message).toContain("max_permissions");
  });
});

describe("reading the configuration", () => {
  it("answers with the defaults when nothing is stored", async () => {
    await using room = await startEngineRoom({ config: false });
    expect(await room.ask("read", "config")).toEqual({
      data: {
        app_id: 0,
        base_url: "https://api.github.com",
        exclude_repository_metadata: false,
        prv_key: "",
      },
    });
    expect(
      await room.backend.exists({
        id: "",
        operation: "create",
        path: "config",
        data: {},
        mountPoint: "github/",
        signal: new AbortController().signal,
      }),
    ).toBe(false);
  });

  it("shows that there is a key, and never the key", async () => {
    await using room = await startEngineRoom({
      config: { base_url: "https://ghes.example.org/api/v3" },
    });
    expect(await room.ask("read", "config")).toEqual({
      data: {
        app_id: 1,
        base_url: "https://ghes.example.org/api/v3",
        exclude_repository_metadata: false,
        prv_key: "<configured>",
      },
    });
  });

  it("shows additions only when they are set", async () => {
    await using room = await startEngineRoom({
      config: { strict_scopes: true, max_permissions: "contents=read" },
    });
    expect((await room.ask("read", "config"))?.data).toMatchObject({
      strict_scopes: true,
      max_permissions: { contents: "read" },
    });
    await room.ask("update", "config", { strict_scopes: false, max_permissions: "" });
    expect(Object.keys((await room.ask("read", "config"))?.data ?? {})).toEqual([
      "app_id",
      "base_url",
      "exclude_repository_metadata",
      "prv_key",
    ]);
  });

  it("refuses parameters that it does not know, and so does deleting", async () => {
    await using room = await startEngineRoom();
    for (const operation of ["read", "delete", "update"] as const)
      expect(await room.refusal(operation, "config", { nope: "1" })).toMatchObject({
        code: "invalid",
        message: "1 error occurred:\n\t* unknown field: nope\n\n",
      });
  });
});

describe("writing the configuration", () => {
  it.each<readonly [object, string]>([
    [{}, "app_id and prv_key are required parameters"],
    [{ app_id: 1 }, "prv_key is a required parameter"],
    [{ prv_key: PEM }, "app_id is a required parameter"],
    [{ base_url: "https://x" }, "app_id and prv_key are required parameters"],
    [{ app_id: 0, prv_key: PEM }, "app_id must be above 0; the app's settings show it"],
    [{ app_id: -1, prv_key: PEM }, "app_id must be above 0; the app's settings show it"],
    [
      { app_id: "x", prv_key: PEM },
      'error converting input for field "app_id": cannot parse \'\' as int: strconv.ParseInt: parsing "x": invalid syntax',
    ],
    [
      { app_id: 1, prv_key: PEM, exclude_repository_metadata: "maybe" },
      'error converting input for field "exclude_repository_metadata": cannot parse \'\' as bool: strconv.ParseBool: parsing "maybe": invalid syntax',
    ],
    [
      { app_id: 1, prv_key: { a: PEM } },
      "error converting input for field \"prv_key\": '' expected type 'string', got unconvertible type 'map[string]interface {}'",
    ],
  ])("for the first time is refused: %o", async (data, message) => {
    await using room = await startEngineRoom({ config: false });
    expect(await room.refusal("create", "config", data as Record<string, unknown>)).toMatchObject({
      code: "invalid",
      message,
    });
    expect(room.host.stored.size).toBe(0);
  });

  it("changes just what is given", async () => {
    await using room = await startEngineRoom();
    const before = JSON.parse(
      Buffer.from(room.host.stored.get("config") ?? []).toString(),
    ) as object;
    expect(
      await room.ask("update", "config", { exclude_repository_metadata: "true" }),
    ).toBeUndefined();
    expect(JSON.parse(Buffer.from(room.host.stored.get("config") ?? []).toString())).toEqual({
      ...before,
      exclude_repository_metadata: true,
    });
    await room.ask("update", "config", { app_id: "7" });
    expect((await room.ask("read", "config"))?.data).toMatchObject({
      app_id: 7,
      exclude_repository_metadata: true,
      prv_key: "<configured>",
    });
  });

  it("gives the loop turns while many permission sets are compared with the ceiling", async () => {
    await using room = await startEngineRoom();
    const scope = { org_name: "example-org", permissions: "contents=write" };
    await room.ask("create", "permissionset/set", scope);
    const { stored } = room.host;
    for (let at = 0; at < 100; at += 1)
      stored.set(`permissionset/set-${at}`, stored.get("permissionset/set") as Uint8Array);
    slowClock();
    const turns = countTurns();
    expect(
      (await room.ask("update", "config", { max_permissions: "contents=read" }))?.warnings,
    ).toEqual([expect.stringContaining("and 91 more")]);
    expect(turns()).toBeGreaterThan(10);
  });

  it("names the permission sets that a lower ceiling refuses from then on, at most ten of them", async () => {
    await using room = await startEngineRoom();
    for (const [name, permissions] of [
      ["ci", "contents=read"],
      ["deploy", "contents=write,issues=write"],
      ["everything", ""],
    ]) {
      await room.ask("create", `permissionset/${name ?? ""}`, {
        org_name: "example-org",
        permissions,
      });
    }
    room.host.stored.set("permissionset/damaged", Buffer.from("{"));
    const text =
      "permission sets above max_permissions are refused when they are used; write them again with less";
    expect(await room.ask("update", "config", { max_permissions: "contents=read" })).toEqual({
      warnings: [`${text}: deploy (contents=write, issues=write)`],
    });
    expect(
      await room.ask("update", "config", { max_permissions: "contents=write,issues=write" }),
    ).toBeUndefined();
    for (let number = 1; number <= 12; number++)
      await room.ask("create", `permissionset/set-${number}`, {
        org_name: "example-org",
        permissions: "issues=write",
      });
    expect(
      (await room.ask("update", "config", { max_permissions: "metadata=read" }))?.warnings,
    ).toEqual([expect.stringMatching(/: ci \(contents=read\), .* and 4 more$/)]);
    expect(
      await room.ask("update", "config", { exclude_repository_metadata: "true" }),
    ).toBeUndefined();
    expect(await room.ask("update", "config", { max_permissions: "" })).toBeUndefined();
  });

  it("keeps the original's key and members, so that either engine can take over", async () => {
    await using room = await startEngineRoom();
    expect(
      Object.keys(
        JSON.parse(Buffer.from(room.host.stored.get("config") ?? []).toString()) as object,
      ),
    ).toEqual(["prv_key", "base_url", "app_id", "exclude_repository_metadata"]);
    expect(Buffer.from(room.host.stored.get("config") ?? []).toString()).toContain(
      "BEGIN RSA PRIVATE KEY",
    );
  });

  it("does nothing when nothing changes", async () => {
    await using room = await startEngineRoom();
    await room.mint();
    room.host.calls.length = 0;
    for (const data of [
      {},
      { app_id: 1 },
      { prv_key: room.demo.privateKeyPem.replaceAll("\n", String.raw`\n`) },
    ])
      expect(await room.ask("update", "config", data)).toBeUndefined();
    expect(room.host.calls.filter((call) => call.startsWith("put"))).toEqual([]);
  });

  it("warns of a short key and of an address without TLS", async () => {
    await using room = await startEngineRoom();
    expect(
      await room.ask("update", "config", {
        prv_key: key(1024),
        base_url: "http://ghes.example.org",
      }),
    ).toEqual({
      warnings: [
        "the private key has 1024 bits; generate one of at least 2048 in the app's settings",
        "base_url is not https: tokens travel in clear",
      ],
    });
  });

  it("refuses a bad key or address and keeps the present ones", async () => {
    await using room = await startEngineRoom();
    for (const data of [{ prv_key: "" }, { prv_key: null }, { base_url: "" }, { base_url: "/x" }])
      expect(await room.refusal("update", "config", data)).toMatchObject({ code: "invalid" });
    await expect(room.mint()).resolves.toMatchObject({ installation_id: 1001 });
  });

  it("leads to another origin only with the key", async () => {
    await using room = await startEngineRoom();
    const before = (await room.ask("read", "config"))?.data;
    for (const base_url of [
      "https://elsewhere.example",
      room.codeHost.url.replace("http:", "https:"),
      room.codeHost.url.replace(/\d+$/, "1"),
    ]) {
      expect(await room.refusal("update", "config", { base_url, app_id: 7 })).toMatchObject({
        code: "invalid",
        field: "base_url",
        rule: "origin",
        message: expect.stringContaining("give prv_key with it") as string,
      });
    }
    expect((await room.ask("read", "config"))?.data).toEqual(before);
    await room.ask("update", "config", { base_url: `${room.codeHost.url}/api/v3` });
    await room.ask("update", "config", { base_url: "https://elsewhere.example", prv_key: PEM });
    expect((await room.ask("read", "config"))?.data).toMatchObject({
      base_url: "https://elsewhere.example",
    });
  });

  it("leads to no link-local address and no metadata service, stored ones included", async () => {
    await using room = await startEngineRoom();
    for (const base_url of [
      "http://169.254.169.254/latest",
      "http://2852039166",
      "http://[::ffff:169.254.169.254]",
      "https://metadata.google.internal./",
    ]) {
      expect(await room.refusal("update", "config", { base_url, prv_key: PEM })).toMatchObject({
        code: "invalid",
        field: "base_url",
        rule: "forbidden_address",
        message: expect.stringContaining("tokens.allow_link_local_base_url") as string,
      });
    }
    const stored = JSON.parse(
      Buffer.from(room.host.stored.get("config") ?? []).toString(),
    ) as object;
    room.host.stored.set(
      "config",
      Buffer.from(JSON.stringify({ ...stored, base_url: "http://169.254.169.254" })),
    );
    room.backend.invalidate("config");
    expect(await room.refusal("create", "token", { installation_id: 1001 })).toMatchObject({
      code: "upstream",
      rule: "forbidden_address",
    });
  });

  it("loses no change when several come at once", async () => {
    await using room = await startEngineRoom();
    await Promise.all([
      room.ask("update", "config", { app_id: 9 }),
      room.ask("update", "config", { strict_scopes: true }),
      room.ask("update", "config", { exclude_repository_metadata: true }),
    ]);
    expect((await room.ask("read", "config"))?.data).toMatchObject({
      app_id: 9,
      strict_scopes: true,
      exclude_repository_metadata: true,
    });
  });

  it("takes effect with the next request, as deleting does", async () => {
    await using room = await startEngineRoom();
    await room.mint();
    await room.ask("update", "config", { app_id: 99 });
    expect(await room.refusal("create", "token", { installation_id: 1001 })).toMatchObject({
      code: "upstream",
      rule: "auth",
    });
    expect(await room.ask("delete", "config")).toBeUndefined();
    expect(await room.ask("delete", "config")).toBeUndefined();
    expect(await room.refusal("create", "token", { installation_id: 1001 })).toMatchObject({
      code: "invalid",
      rule: "not_configured",
      message: "not configured: write app_id and prv_key to github/config first",
    });
  });

  it("takes effect when the host says that the stored key changed", async () => {
    await using room = await startEngineRoom();
    await room.mint();
    const stored = room.host.stored.get("config");
    room.host.stored.delete("config");
    await room.mint();
    room.backend.invalidate("permissionset/x");
    await room.mint();
    room.backend.invalidate("config");
    expect(await room.refusal("create", "token", { installation_id: 1001 })).toMatchObject({
      rule: "not_configured",
    });
    room.host.stored.set("config", stored ?? new Uint8Array());
    room.backend.invalidate("config");
    await room.mint();
  });

  it("tells a damaged one apart from none, and writing mends nothing by chance", async () => {
    await using room = await startEngineRoom();
    room.host.stored.set("config", Buffer.from("{"));
    room.backend.invalidate("config");
    expect(await room.refusal("read", "config")).toMatchObject({ code: "corrupt" });
    expect(await room.refusal("create", "token", { installation_id: 1001 })).toMatchObject({
      code: "corrupt",
    });
  });
});
