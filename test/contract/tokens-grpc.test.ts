/**
 * The secrets manager over gRPC and Connect: the same answers as over its HTTP API, and typed
 * methods for every path of the engine.
 */
import {
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  getOption,
  type MessageInitShape,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import { type ServiceError, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import { http as httpOption } from "../../src/gen/google/api/annotations_pb.ts";
import { EngineService } from "../../src/gen/steward/tokens/v1/engine_service_pb.ts";
import { LogicalService, Operation } from "../../src/gen/steward/tokens/v1/logical_pb.ts";
import { SystemService } from "../../src/gen/steward/tokens/v1/system_pb.ts";
import { removeTemporaryFolders } from "./daemon.ts";
import { connectUnary, grpcUnary } from "./rpc.ts";
import { appKey, configure, startCodeHost, startVault, type VaultDaemon } from "./vault.ts";

let vault: VaultDaemon;
let host: CodeHost;

beforeAll(async () => {
  host = await startCodeHost();
  vault = await startVault();
  await configure(vault, host);
});

afterAll(async () => {
  await vault.daemon.stop();
  await host.stop();
  removeTemporaryFolders();
});

/** Verb and path that a method's http rule names, without prefix and mount. */
function routeOf(method: DescMethod): string {
  const { pattern } = getOption(method, httpOption);
  const [verb, path] =
    pattern.case === "custom"
      ? [pattern.value.kind, pattern.value.path]
      : [(pattern.case ?? "").toUpperCase(), pattern.value ?? ""];
  return `${verb} ${path.replace(/^\/v1\/(\{mount\}\/)?/, "").replaceAll(/\{\w+\}/g, "{}")}`;
}

type Metadata = Readonly<Record<string, string>>;
type Call = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  init: MessageInitShape<I>,
  metadata?: Metadata,
) => Promise<MessageShape<O>>;

const asRoot = (): Metadata => ({ "x-vault-token": vault.root });

/** A refusal as both wires tell it. */
class Refusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const overGrpc: Call = async (method, init, metadata = asRoot()) => {
  try {
    return await grpcUnary(vault.daemon.host, method, init, metadata);
  } catch (error) {
    const { code, details } = error as ServiceError;
    throw new Refusal((status[code] ?? "").toLowerCase(), details);
  }
};

const overConnect: Call = async (method, init, metadata = asRoot()) => {
  const { message, error } = await connectUnary(vault.daemon.url, method, init, metadata);
  if (message === undefined) throw new Refusal(error?.code ?? "", error?.message ?? "");
  return message;
};

const json = (bytes: Uint8Array | undefined): unknown =>
  bytes === undefined ? undefined : JSON.parse(new TextDecoder().decode(bytes));
const bytes = (data: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(data));
const text = (found: unknown): string => expect.stringContaining(String(found)) as string;

describe.each([
  ["gRPC", overGrpc],
  ["Connect", overConnect],
])("over %s", (wire, call) => {
  const mount = `team/${wire.toLowerCase()}`;
  const handle = (
    operation: Operation,
    path: string,
    data?: unknown,
    more: { wrapTtl?: string; namespace?: string; metadata?: Metadata } = {},
  ) =>
    call(
      LogicalService.method.handle,
      {
        operation,
        path,
        ...(data === undefined ? {} : { data: bytes(data) }),
        wrapTtl: more.wrapTtl ?? "",
        namespace: more.namespace ?? "",
      },
      more.metadata,
    );

  it("the state of the manager is the same as over HTTP, without a token", async () => {
    const health = (await vault.ask("GET", "sys/health", { token: "" })).json;
    expect(
      toJson(
        SystemService.method.getHealth.output,
        await call(SystemService.method.getHealth, {}, {}),
        { useProtoFieldName: true, alwaysEmitImplicit: true },
      ),
    ).toEqual({ ...health, server_time_utc: expect.stringMatching(/^\d{10}$/) as string });
    const seal = (await vault.ask("GET", "sys/seal-status", { token: "" })).json;
    expect(
      toJson(
        SystemService.method.getSealStatus.output,
        await call(SystemService.method.getSealStatus, {}, {}),
        { useProtoFieldName: true, alwaysEmitImplicit: true },
      ),
    ).toEqual(seal);
  });

  it("a mount is enabled and configured, under any spelling of its name, and reads as over HTTP", async () => {
    expect(
      (await handle(Operation.CREATE, `sys/mounts/${mount}`, { type: "github" })).data,
    ).toBeUndefined();
    await expect(
      call(EngineService.method.writeConfig, { mount, appId: 7n }),
    ).rejects.toMatchObject({ code: "invalid_argument", message: text("prv_key") });
    expect(
      (
        await call(EngineService.method.writeConfig, {
          mount,
          appId: 7n,
          prvKey: appKey.privateKey,
          baseUrl: host.url,
        })
      ).warnings,
    ).toEqual([]);
    await call(EngineService.method.writeConfig, {
      mount: `${mount}/`,
      excludeRepositoryMetadata: true,
      maxPermissions: { contents: "write", metadata: "read" },
    });
    const config = await call(EngineService.method.readConfig, { mount: `/${mount}/` });
    const { data } = (await vault.ask("GET", `${mount}/config`)).json;
    expect({
      app_id: Number(config.appId),
      prv_key: config.prvKey,
      base_url: config.baseUrl,
      exclude_repository_metadata: config.excludeRepositoryMetadata,
      max_permissions: config.maxPermissions,
    }).toEqual(data);
    expect(json((await handle(Operation.READ, `${mount}/config`)).data)).toEqual(data);
    await expect(call(EngineService.method.readConfig, { mount: "" })).rejects.toMatchObject({
      code: "invalid_argument",
      message: text("mount"),
    });
    await expect(call(EngineService.method.readConfig, { mount: "nowhere" })).rejects.toMatchObject(
      { code: "not_found", message: text('no handler for route "nowhere/config"') },
    );
  });

  it("build information is the same as over HTTP, without a token", async () => {
    const info = toJson(
      EngineService.method.readInfo.output,
      await call(EngineService.method.readInfo, { mount }, {}),
      { useProtoFieldName: true, alwaysEmitImplicit: true },
    );
    expect(info).toEqual((await vault.ask("GET", `${mount}/info`, { token: "" })).json.data);
    expect(
      json((await handle(Operation.READ, `${mount}/info`, undefined, { metadata: {} })).data),
    ).toEqual(info);
  });

  it("metrics come as text", async () => {
    const answer = json(
      (await handle(Operation.READ, `${mount}/metrics`, undefined, { metadata: {} })).data,
    ) as Record<string, unknown>;
    expect(answer).toMatchObject({
      http_status_code: 200,
      http_content_type: "text/plain; version=0.0.4; charset=utf-8",
      http_raw_body: text("vault_github_token_build_info"),
    });
  });

  it("permission sets are written, read, listed, deleted, and nothing there is no error", async () => {
    expect(
      (await call(EngineService.method.readPermissionSet, { mount, name: "ci" })).scope,
    ).toBeUndefined();
    expect((await call(EngineService.method.listPermissionSets, { mount })).keys).toEqual([]);
    expect((await handle(Operation.READ, `${mount}/permissionset/ci`)).data).toBeUndefined();
    expect((await handle(Operation.LIST, `${mount}/permissionsets`)).data).toBeUndefined();
    await call(EngineService.method.writePermissionSet, {
      mount,
      name: "ci",
      installationId: 1001n,
      repositories: ["web"],
      repositoryIds: [9_007_199_254_740_991n],
      permissions: { contents: "read" },
    });
    const { scope } = await call(EngineService.method.readPermissionSet, { mount, name: "ci" });
    expect(scope).toMatchObject({
      installationId: 1001n,
      orgName: "",
      repositories: ["web"],
      repositoryIds: [9_007_199_254_740_991n],
      permissions: { contents: "read" },
    });
    expect((await vault.ask("GET", `${mount}/permissionset/ci`)).json.data).toEqual({
      installation_id: 1001,
      org_name: "",
      repositories: ["web"],
      repository_ids: [9_007_199_254_740_991],
      permissions: { contents: "read" },
    });
    // An id that a double cannot hold is refused, never rounded.
    await expect(
      call(EngineService.method.writePermissionSet, {
        mount,
        name: "ci",
        installationId: 1001n,
        repositoryIds: [9_007_199_254_740_993n],
      }),
    ).rejects.toMatchObject({ code: "invalid_argument", message: text("9007199254740993") });
    await call(EngineService.method.writePermissionSet, {
      mount,
      name: "ci",
      orgName: "example-org",
      permissions: { contents: "read" },
    });
    await call(EngineService.method.writePermissionSet, {
      mount,
      name: "web",
      installationId: 1001n,
    });
    expect((await call(EngineService.method.listPermissionSets, { mount })).keys).toEqual([
      "ci",
      "web",
    ]);
    expect(json((await handle(Operation.LIST, `${mount}/permissionsets`)).data)).toEqual(
      (await vault.ask("LIST", `${mount}/permissionsets`)).json.data,
    );
    await call(EngineService.method.deletePermissionSet, { mount, name: "web" });
    expect((await call(EngineService.method.listPermissionSets, { mount })).keys).toEqual(["ci"]);
    // A name stays one segment, whatever is in it.
    await expect(
      call(EngineService.method.readPermissionSet, { mount, name: "../config" }),
    ).rejects.toThrow();
    await expect(
      call(EngineService.method.deletePermissionSet, { mount, name: "x/../../config" }),
    ).rejects.toThrow();
    expect((await call(EngineService.method.readConfig, { mount })).prvKey).toBe("<configured>");
  });

  it("a scope without lists is warned of, and refused where strict_scopes is set", async () => {
    const { mintToken, writePermissionSet, writeConfig } = EngineService.method;
    const all = { mount, installationId: 1001n };
    const some = { ...all, repositories: ["web"], permissions: { contents: "read" } };
    const byId = { ...all, repositoryIds: [1n], permissions: { contents: "read" } };
    const warning = text("repositories, permissions given empty counts as not given");
    expect((await call(mintToken, all)).minted?.warnings).toContainEqual(warning);
    expect((await call(writePermissionSet, { ...all, name: "all" })).warnings).toEqual([warning]);
    await call(writeConfig, { mount, strictScopes: true });
    const strict = { code: "invalid_argument", message: text("(strict_scopes)") };
    for (const scope of [
      all,
      { ...some, repositories: [] },
      { ...some, permissions: {} },
      { ...byId, repositoryIds: [] },
    ]) {
      await expect(call(mintToken, scope)).rejects.toMatchObject(strict);
      await expect(call(writePermissionSet, { ...scope, name: "all" })).rejects.toMatchObject(
        strict,
      );
    }
    expect((await call(mintToken, some)).minted?.warnings).toEqual([]);
    expect((await call(writePermissionSet, { ...byId, name: "all" })).warnings).toEqual([]);
    await call(writeConfig, { mount, strictScopes: false });
    await call(EngineService.method.deletePermissionSet, { mount, name: "all" });
  });

  it("tokens are minted under leases as over HTTP", async () => {
    const typed = (
      await call(EngineService.method.mintToken, {
        mount,
        orgName: "Example-ORG",
        repositories: ["web"],
        permissions: { contents: "read" },
      })
    ).minted;
    const plain = (
      await vault.ask("POST", `${mount}/token`, {
        body: { org_name: "Example-ORG", repositories: ["web"], permissions: { contents: "read" } },
      })
    ).json;
    const logical = await handle(Operation.UPDATE, `${mount}/token`, {
      org_name: "Example-ORG",
      repositories: "web",
      permissions: "contents=read",
    });
    const same = ({
      token,
      hashed_token: hash,
      expires_at: at,
      ...rest
    }: Record<string, unknown>): Record<string, unknown> => {
      expect([token, hash, at].map((one) => typeof one)).toEqual(["string", "string", "string"]);
      return rest;
    };
    expect(same(json(typed?.data) as Record<string, unknown>)).toEqual(
      same(plain.data as Record<string, unknown>),
    );
    expect(same(json(logical.data) as Record<string, unknown>)).toEqual(
      same(plain.data as Record<string, unknown>),
    );
    expect(typed).toMatchObject({
      installationId: 1001n,
      orgName: "Example-ORG",
      permissions: { contents: "read" },
      repositorySelection: "selected",
      repositories: ["web"],
      token: expect.stringMatching(/^ghs_/) as string,
      warnings: [],
    });
    for (const lease of [typed?.lease, logical.lease]) {
      expect(lease).toMatchObject({
        leaseId: expect.stringMatching(new RegExp(`^${mount}/token/[0-9A-Za-z]{24}$`)) as string,
        renewable: false,
      });
      expect(Number(lease?.leaseDuration)).toBeGreaterThan(3_590);
      expect(
        (await vault.ask("PUT", "sys/leases/lookup", { body: { lease_id: lease?.leaseId } })).json
          .data.path,
      ).toBe(`${mount}/token`);
    }
    const fromSet = (
      await call(EngineService.method.mintTokenFromSet, { mount, permissionset: "ci" })
    ).minted;
    expect(fromSet).toMatchObject({
      installationId: 1001n,
      permissions: { contents: "read" },
      lease: { leaseId: text(`${mount}/token/ci/`) },
    });
    expect(
      (
        await handle(Operation.UPDATE, "sys/leases/revoke", {
          lease_id: fromSet?.lease?.leaseId,
          sync: true,
        })
      ).data,
    ).toBeUndefined();
    expect(host.find(fromSet?.hashedToken ?? "")?.revokedAtMs).toBeDefined();
  });

  it("installations and the doctor's checks are those of HTTP", async () => {
    const { installations } = await call(EngineService.method.listInstallations, { mount });
    expect(
      Object.fromEntries(Object.entries(installations).map(([login, id]) => [login, Number(id)])),
    ).toEqual((await vault.ask("GET", `${mount}/installations`)).json.data);
    const report = await call(EngineService.method.diagnose, { mount, orgName: "example-org" });
    const { data } = (await vault.ask("GET", `${mount}/doctor?org_name=example-org`)).json;
    expect([
      report.ok,
      report.checks.map(({ name, ok, remedy }) => ({ name, ok, remedy })),
    ]).toEqual([
      data.ok,
      data.checks.map(({ name, ok, remedy }: Record<string, unknown>) => ({
        name,
        ok,
        remedy: remedy ?? "",
      })),
    ]);
  });

  it("refusals have the texts of HTTP", async () => {
    const pairs: readonly [() => Promise<unknown>, string, string, unknown, string][] = [
      [
        () => call(EngineService.method.mintToken, { mount }),
        "POST",
        `${mount}/token`,
        {},
        "invalid_argument",
      ],
      [
        () => call(EngineService.method.mintToken, { mount, orgName: "nobody" }),
        "POST",
        `${mount}/token`,
        { org_name: "nobody" },
        "invalid_argument",
      ],
      [
        () => call(EngineService.method.mintTokenFromSet, { mount, permissionset: "none" }),
        "POST",
        `${mount}/token/none`,
        {},
        "invalid_argument",
      ],
      [
        () => handle(Operation.UPDATE, `${mount}/token`, { nope: 1 }),
        "POST",
        `${mount}/token`,
        { nope: 1 },
        "invalid_argument",
      ],
      [
        () => handle(Operation.READ, `${mount}/nope`),
        "GET",
        `${mount}/nope`,
        undefined,
        "not_found",
      ],
      [
        () => handle(Operation.DELETE, `${mount}/token`),
        "DELETE",
        `${mount}/token`,
        undefined,
        "unimplemented",
      ],
      [() => handle(Operation.READ, "nope/x"), "GET", "nope/x", undefined, "not_found"],
      [
        () => handle(Operation.READ, `${mount}/x/../config`),
        "GET",
        `${mount}/x/%2e%2e/config`,
        undefined,
        "invalid_argument",
      ],
      [
        () => handle(Operation.READ, "sys/mounts", undefined, { namespace: "elsewhere" }),
        "",
        "",
        undefined,
        "not_found",
      ],
      [() => handle(Operation.UNSPECIFIED, "sys/mounts"), "", "", undefined, "invalid_argument"],
      [
        () => handle(Operation.READ, "sys/mounts", undefined, { wrapTtl: "soon" }),
        "",
        "",
        undefined,
        "invalid_argument",
      ],
    ];
    for (const [isRead, method, path, body, code] of pairs) {
      const refusal = await isRead().then(
        () => new Refusal("granted", path),
        (error: unknown) => error as Refusal,
      );
      expect([path, refusal.code]).toEqual([path, code]);
      if (method !== "")
        expect(refusal.message).toBe(
          (await vault.ask(method, path, body === undefined ? {} : { body })).json.errors[0],
        );
    }
  });

  it("the token is metadata: x-vault-token first, else a Bearer", async () => {
    const isRead = (metadata: Metadata) =>
      call(EngineService.method.readConfig, { mount }, metadata);
    expect((await isRead({ authorization: `Bearer ${vault.root}` })).prvKey).toBe("<configured>");
    expect(
      (await isRead({ "x-vault-token": vault.root, authorization: "Bearer hvs.wrong" })).prvKey,
    ).toBe("<configured>");
    for (const metadata of [
      {},
      { "x-vault-token": "hvs.wrong" },
      { authorization: "Bearer hvs.wrong" },
      { authorization: `Basic ${vault.root}` },
      { "x-vault-token": "hvs.wrong", authorization: `Bearer ${vault.root}` },
    ]) {
      await expect(isRead(metadata)).rejects.toMatchObject({
        code: "permission_denied",
        message: "permission denied",
      });
    }
  });

  it("every method but those about the state needs a token, and one that may", async () => {
    await vault.ask("PUT", "sys/policies/acl/low", {
      body: { policy: 'path "elsewhere/*" { capabilities = ["read"] }' },
    });
    const low = (
      await vault.ask("POST", "auth/token/create", {
        body: { policies: ["low"], no_default_policy: true },
      })
    ).json.auth.client_token as string;
    const open = [EngineService.method.readInfo.name];
    const named: Readonly<Record<string, unknown>> = {
      mount,
      name: "ci",
      permissionset: "ci",
      path: `${mount}/config`,
      operation: Operation.READ,
    };
    for (const method of [...EngineService.methods, ...LogicalService.methods]) {
      const init = Object.fromEntries(
        method.input.fields.flatMap((field) =>
          named[field.localName] === undefined ? [] : [[field.localName, named[field.localName]]],
        ),
      );
      for (const [metadata, message] of [
        [{}, "permission denied"],
        [{ "x-vault-token": "hvs.wrong" }, "permission denied"],
        [{ "x-vault-token": low }, "1 error occurred:\n\t* permission denied\n\n"],
      ] as const) {
        const refusal = await call(method as DescMethodUnary, init, metadata).then(
          () => "granted",
          (error: unknown) => `${(error as Refusal).code}: ${(error as Refusal).message}`,
        );
        expect([method.name, refusal]).toEqual([
          method.name,
          open.includes(method.name) ? "granted" : `permission_denied: ${message}`,
        ]);
      }
    }
  });

  it("a token is made, used, and an answer is wrapped", async () => {
    const { auth } = await handle(Operation.UPDATE, "auth/token/create", {
      policies: ["default"],
      ttl: "1h",
      meta: { team: "web" },
    });
    expect(auth).toMatchObject({
      policies: ["default"],
      metadata: { team: "web" },
      leaseDuration: 3600n,
      renewable: true,
      tokenType: "service",
      orphan: false,
      numUses: 0n,
    });
    const metadata = { "x-vault-token": auth?.clientToken ?? "" };
    expect(
      json((await handle(Operation.READ, "auth/token/lookup-self", undefined, { metadata })).data),
    ).toMatchObject({ id: auth?.clientToken, accessor: auth?.accessor });
    const { wrapInfo, data, lease } = await handle(
      Operation.UPDATE,
      `${mount}/token`,
      { installation_id: 1001 },
      { wrapTtl: "60s" },
    );
    expect([data, lease, wrapInfo?.ttl, wrapInfo?.creationPath]).toEqual([
      undefined,
      undefined,
      60n,
      `${mount}/token`,
    ]);
    const unwrapped = await vault.ask("POST", "sys/wrapping/unwrap", {
      token: "",
      body: { token: wrapInfo?.token },
    });
    expect(unwrapped.json.data.installation_id).toBe(1001);
    expect(json((await handle(Operation.HELP, `${mount}/config`)).data)).toMatchObject({
      help: text("app_id"),
    });
  });

  it("the configuration is forgotten, and what is live stays to be revoked", async () => {
    const minted = (await call(EngineService.method.mintToken, { mount, installationId: 1001n }))
      .minted;
    await call(EngineService.method.deleteConfig, { mount });
    expect((await call(EngineService.method.readConfig, { mount })).prvKey).toBe("");
    await expect(
      call(EngineService.method.mintToken, { mount, installationId: 1001n }),
    ).rejects.toMatchObject({ code: "invalid_argument", message: text("not configured") });
    await handle(Operation.DELETE, `sys/mounts/${mount}`);
    expect(host.find(minted?.hashedToken ?? "")?.revokedAtMs).toBeDefined();
  });
});

describe("the two tables of the engine", () => {
  /** Served as text, with no message to answer by (RESOLUTIONS §5.3, Plain). */
  const PLAIN = ["GET metrics"];
  /** A second name for the list of permission sets, and GET as a second name of minting. */
  const ALIASES: Readonly<Record<string, string>> = {
    "LIST permissionset": "LIST permissionsets",
    "GET token": "POST token",
    "GET token/{}": "POST token/{}",
  };

  interface Item {
    readonly get?: { readonly parameters?: readonly { readonly name: string }[] };
    readonly post?: unknown;
    readonly delete?: unknown;
    readonly patch?: unknown;
  }

  it("have a twin for every row of the other", async () => {
    const { paths } = (await vault.ask("GET", "sys/internal/specs/openapi", { token: "" }))
      .json as { paths: Record<string, Item> };
    const declared = Object.entries(paths)
      .filter(([path]) => path.startsWith("/github/"))
      .flatMap(([path, item]) => {
        const rest = path
          .slice("/github/".length)
          .replace(/\/$/, "")
          .replaceAll(/\{\w+\}/g, "{}");
        const read =
          item.get === undefined
            ? []
            : [item.get.parameters?.some(({ name }) => name === "list") === true ? "LIST" : "GET"];
        return [
          ...read,
          ...(["post", "delete", "patch"] as const)
            .filter((verb) => item[verb] !== undefined)
            .map((verb) => verb.toUpperCase()),
        ].map((verb) => `${verb} ${rest}`);
      });
    const rows = new Set(
      declared.filter((row) => !PLAIN.includes(row)).map((row) => ALIASES[row] ?? row),
    );
    expect(new Set(EngineService.methods.map(routeOf))).toEqual(rows);
  });

  it("are served under the state's paths, too", async () => {
    for (const method of SystemService.methods) {
      const route = routeOf(method);
      expect((await vault.ask("GET", route.replace("GET ", ""), { token: "" })).status).toBe(200);
    }
  });
});
