/**
 * Who may what, for every path that the running daemon declares: with no token, a wrong, expired,
 * revoked, used up, low and right one.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import { removeTemporaryFolders } from "./daemon.ts";
import {
  configure,
  startCodeHost,
  startVault,
  type VaultAnswer,
  type VaultDaemon,
} from "./vault.ts";

/** Served without a token (facts §2.1). Nothing else is. */
const OPEN: readonly string[] = [
  "auth/approle/login",
  "github/info",
  "github/metrics",
  "sys/health",
  "sys/init",
  "sys/internal/specs/openapi",
  "sys/internal/ui/mounts",
  "sys/internal/ui/mounts/",
  "sys/internal/ui/mounts/{path}",
  "sys/leader",
  "sys/seal-status",
  "sys/unseal",
  "sys/wrapping/lookup",
  "sys/wrapping/rewrap",
  "sys/wrapping/unwrap",
];
/** Need the capability `sudo` (facts §2.3). */
const SUDO: readonly string[] = [
  "auth/token/accessors/",
  "sys/audit",
  "sys/audit/",
  "sys/audit/{path}",
  "sys/auth/{path}",
  "sys/config/cors",
  "sys/generate-root-token/attempt",
  "sys/generate-root-token/update",
  "sys/leases",
  "sys/leases/lookup/{prefix}/",
  "sys/leases/orphans",
  "sys/leases/revoke-force/{prefix}",
  "sys/leases/revoke-prefix/{prefix}",
  "sys/plugins/catalog",
  "sys/plugins/catalog/",
  "sys/rekey/backup",
  "sys/rekey/recovery-key-backup",
  "sys/remount",
  "sys/revoke-force/{prefix}",
  "sys/revoke-prefix/{prefix}",
  "sys/rotate",
  "sys/rotate/keyring",
  "sys/seal",
];
/** Answered sealed and unsealed alike (RESOLUTIONS T22). */
const SEALED_TOO: readonly string[] = [
  "sys/health",
  "sys/init",
  "sys/leader",
  "sys/seal-status",
  "sys/unseal",
];
const METHODS = {
  GET: ["read"],
  LIST: ["list"],
  POST: ["create", "update"],
  DELETE: ["delete"],
  PATCH: ["patch"],
} as const;
type Method = keyof typeof METHODS;
const CAPABILITIES = ["create", "read", "update", "delete", "list", "patch"];
const DENIED = '{"errors":["permission denied"]}\n';
const REFUSED = '{"errors":["1 error occurred:\\n\\t* permission denied\\n\\n"]}\n';
/** Requests at once. */
const TOGETHER = 16;

/** A path of the description, with its variables filled in. */
interface Row {
  readonly template: string;
  readonly path: string;
  readonly methods: readonly Method[];
  readonly open: boolean;
  readonly sudo: boolean;
}

let vault: VaultDaemon;
let host: CodeHost;
let rows: readonly Row[];

beforeAll(async () => {
  host = await startCodeHost();
  vault = await startVault();
  await configure(vault, host);
  await vault.ask("POST", "sys/auth/approle", { body: { type: "approle" } });
  rows = rowsOf((await vault.ask("GET", "sys/internal/specs/openapi", { token: "" })).json);
  await policy("low", "elsewhere/*", [...CAPABILITIES, "sudo"]);
});

afterAll(async () => {
  await vault.daemon.stop();
  await host.stop();
  removeTemporaryFolders();
});

interface Operation {
  readonly parameters?: readonly { readonly name: string }[];
}
type Item = Readonly<Partial<Record<"get" | "post" | "delete" | "patch", Operation>>> & {
  readonly "x-vault-unauthenticated"?: boolean;
  readonly "x-vault-sudo"?: boolean;
};

function rowsOf(description: { readonly paths: Readonly<Record<string, Item>> }): readonly Row[] {
  return Object.entries(description.paths).map(([name, item]) => {
    const template = name.slice(1);
    const read: readonly Method[] =
      item.get === undefined
        ? []
        : item.get.parameters?.some((one) => one.name === "list") === true
          ? ["LIST"]
          : ["GET"];
    return {
      template,
      path: template.replaceAll(/\{\w+\}/g, "matrix"),
      open: item["x-vault-unauthenticated"] === true,
      sudo: item["x-vault-sudo"] === true,
      methods: [
        ...read,
        ...(item.post === undefined ? [] : ["POST" as const]),
        ...(item.delete === undefined ? [] : ["DELETE" as const]),
        ...(item.patch === undefined ? [] : ["PATCH" as const]),
      ],
    };
  });
}

async function policy(name: string, path: string, capabilities: readonly string[]): Promise<void> {
  const answer = await vault.ask("PUT", `sys/policies/acl/${name}`, {
    body: {
      policy: `path ${JSON.stringify(path)} { capabilities = ${JSON.stringify(capabilities)} }`,
    },
  });
  if (answer.status >= 300) throw new Error(answer.text);
}

/** A token with these policies and not even the default one. */
async function tokenOf(
  policies: readonly string[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const answer = await vault.ask("POST", "auth/token/create", {
    body: { policies, no_default_policy: true, no_parent: true, ...more },
  });
  return answer.json.auth.client_token as string;
}

/** Failed attempts are bounded by address, so each stranger comes from one of its own. */
let strangers = 0;

function stranger(): string {
  strangers += 1;
  return `127.0.1.${strangers}`;
}

async function ask(
  method: Method,
  path: string,
  token: string,
  from = "127.0.0.1",
): Promise<VaultAnswer> {
  return await vault.ask(method, path, {
    token,
    from,
    ...(method === "POST"
      ? { body: {} }
      : method === "PATCH"
        ? { body: {}, headers: { "content-type": "application/merge-patch+json" } }
        : {}),
  });
}

/** What came out for each of many, some at a time and in their order. */
async function each<T, R>(
  all: readonly T[],
  run: (one: T, index: number) => Promise<R>,
): Promise<R[]> {
  const found: R[] = [];
  for (let from = 0; from < all.length; from += TOGETHER)
    found.push(
      ...(await Promise.all(
        all.slice(from, from + TOGETHER).map((one, index) => run(one, from + index)),
      )),
    );
  return found;
}

const guarded = (): readonly (readonly [Row, Method])[] =>
  rows
    .filter(({ open }) => !open)
    .flatMap((row) => (Object.keys(METHODS) as Method[]).map((method) => [row, method] as const));
const declared = (): readonly (readonly [Row, Method])[] =>
  rows
    .filter(({ open, template }) => !open && template !== "sys/seal")
    .flatMap((row) => row.methods.map((method) => [row, method] as const));

describe("the description of the running daemon", () => {
  it("covers the engine, the system, tokens, AppRole and the cubbyhole", () => {
    for (const prefix of ["github/", "sys/", "auth/token/", "auth/approle/", "cubbyhole/"])
      expect(
        rows.filter(({ template }) => template.startsWith(prefix)).length,
        prefix,
      ).toBeGreaterThan(0);
    expect(rows.length).toBeGreaterThan(80);
  });

  it("opens no path but the listed ones, and asks sudo of the listed ones", () => {
    expect(
      rows
        .filter(({ open }) => open)
        .map(({ template }) => template)
        .toSorted(),
    ).toEqual(OPEN.toSorted());
    expect(
      rows
        .filter(({ sudo }) => sudo)
        .map(({ template }) => template)
        .toSorted(),
    ).toEqual(SUDO.toSorted());
  });
});

describe("every path and operation, declared or not", () => {
  it.each([
    ["no token", async () => ""],
    ["a token that never was", async () => "hvs.AAAAAAAAAAAAAAAAAAAAAAAA"],
    ["a batch token that never was", async () => `hvb.${"A".repeat(120)}`],
    ["an expired token", expired],
    ["a revoked token", revoked],
    ["a token whose uses are over", usedUp],
  ])("is refused with %s, whatever it may have been able to do", async (_name, make) => {
    const [token, from] = [await make(), stranger()];
    const open = await each(guarded(), async ([row, method]) => ({
      method,
      path: row.path,
      answer: await ask(method, row.path, token, from),
    }));
    expect(
      open
        .filter(({ answer }) => answer.status !== 403 || answer.text !== DENIED)
        .map(({ method, path, answer }) => `${method} ${path}: ${answer.status} ${answer.text}`),
    ).toEqual([]);
  });

  it("is refused with a token for elsewhere", async () => {
    const token = await tokenOf(["low"]);
    const open = await each(guarded(), async ([row, method]) => ({
      method,
      path: row.path,
      answer: await ask(method, row.path, token),
    }));
    expect(
      open
        .filter(({ answer }) => answer.status !== 403 || answer.text !== REFUSED)
        .map(({ method, path, answer }) => `${method} ${path}: ${answer.status} ${answer.text}`),
    ).toEqual([]);
  });

  it("tells its help to no stranger", async () => {
    const from = stranger();
    const told = await each(rows, async (row) => ({
      path: row.path,
      answer: await vault.ask("GET", `${row.path}?help=1`, { token: "", from }),
    }));
    expect(
      told
        .filter(({ path, answer }) => answer.status !== 403 && !SEALED_TOO.includes(path))
        .map(({ path, answer }) => `${path}: ${answer.status}`),
    ).toEqual([]);
  });

  it("is refused below any mount and where nothing is mounted, declared or not", async () => {
    for (const path of [
      "github/nope",
      "sys/nope",
      "auth/token/nope",
      "auth/approle/nope",
      "auth/nope",
      "cubbyhole/nope",
      "nope",
      "identity/x",
      "",
    ]) {
      const answer = await vault.ask("GET", path, { token: "", from: "127.0.2.1" });
      expect([path, answer.status, answer.text]).toEqual([path, 403, DENIED]);
    }
  });
});

describe("every declared operation", () => {
  it("is open to a token whose policy names path and capability", async () => {
    const wrong = await each(declared(), async ([row, method], index) => {
      await policy(`right-${index}`, row.path.replace(/\/$/, ""), [...METHODS[method], "sudo"]);
      // A path that ends in a slash beside its twin is a path of its own to a policy, except for
      // lists.
      if (method !== "LIST" && row.path.endsWith("/"))
        await policy(`right-${index}`, row.path, [...METHODS[method], "sudo"]);
      const answer = await ask(method, row.path, await tokenOf([`right-${index}`]));
      return answer.status === 403 && answer.text.includes("permission denied")
        ? `${method} ${row.path}: ${answer.text}`
        : answer.status >= 500 || answer.status === 405
          ? `${method} ${row.path}: ${answer.status} ${answer.text}`
          : undefined;
    });
    expect(wrong.filter((one) => one !== undefined)).toEqual([]);
  });

  it("is closed to a token that has every other capability on the path", async () => {
    const wrong = await each(declared(), async ([row, method], index) => {
      const needed: readonly string[] = METHODS[method];
      await policy(`other-${index}`, row.path, [
        ...CAPABILITIES.filter((one) => !needed.includes(one)),
        "sudo",
      ]);
      const answer = await ask(method, row.path, await tokenOf([`other-${index}`]));
      return answer.text === REFUSED
        ? undefined
        : `${method} ${row.path}: ${answer.status} ${answer.text}`;
    });
    expect(wrong.filter((one) => one !== undefined)).toEqual([]);
  });

  it("of a sudo path is closed to a token that has everything but sudo", async () => {
    const wrong = await each(
      rows.filter(({ sudo }) => sudo),
      async (row, index) => {
        await policy(`plain-${index}`, row.path, CAPABILITIES);
        const token = await tokenOf([`plain-${index}`]);
        const answers = await Promise.all(
          row.methods.map(async (method) => ({
            method,
            answer: await ask(method, row.path, token),
          })),
        );
        return answers
          .filter(({ answer }) => answer.text !== REFUSED)
          .map(({ method, answer }) => `${method} ${row.path}: ${answer.status} ${answer.text}`);
      },
    );
    expect(wrong.flat()).toEqual([]);
  });

  it("is closed by deny, whatever another policy says", async () => {
    await policy("everything", "*", [...CAPABILITIES, "sudo"]);
    const wrong = await each(declared(), async ([row, method], index) => {
      await policy(`deny-${index}`, row.path, ["deny"]);
      const answer = await ask(method, row.path, await tokenOf(["everything", `deny-${index}`]));
      return answer.text === REFUSED
        ? undefined
        : `${method} ${row.path}: ${answer.status} ${answer.text}`;
    });
    expect(wrong.filter((one) => one !== undefined)).toEqual([]);
  });
});

describe("a denied path", () => {
  it("has no other spelling that is open", async () => {
    await vault.ask("PUT", "sys/policies/acl/but-config", {
      body: {
        policy:
          'path "github/*" { capabilities = ["create", "read", "update", "list"] }\npath "github/config" { capabilities = ["deny"] }\npath "github/token/prod" { capabilities = ["deny"] }',
      },
    });
    await vault.ask("POST", "github/permissionset/prod", { body: { installation_id: 1001 } });
    const token = await tokenOf(["but-config"]);
    const config = [
      "github/config",
      "github/config/",
      "github//config",
      "github/./config",
      "/github/config",
      "GITHUB/config",
      "github/Config",
      "github%2Fconfig",
      "github/%63onfig",
      "github/config%2F",
      "github/config%20",
      "github/config?x=1",
      "github/config;x",
      "github/config%00",
      "github/x/../config",
      "github/x%2F..%2Fconfig",
      "github/config#x",
    ];
    for (const path of config) {
      const answer = await vault.ask("GET", path, { token });
      expect([path, answer.status === 200, answer.text.includes("prv_key")]).toEqual([
        path,
        false,
        false,
      ]);
    }
    const before = host.counts().minted;
    for (const path of [
      "github/token/prod",
      "github/token/prod/",
      "github/token//prod",
      "github//token/prod",
      "github/token/%70rod",
      "github/token%2Fprod",
    ]) {
      for (const method of ["GET", "POST", "PUT", "LIST"])
        expect([path, method, (await vault.ask(method, path, { token })).status]).not.toEqual([
          path,
          method,
          200,
        ]);
    }
    expect(host.counts().minted).toBe(before);
  });

  it("has none below sys/ either", async () => {
    await configure(vault, host);
    await policy("victim", "elsewhere", ["read"]);
    await vault.ask("POST", "sys/mounts/spare", { body: { type: "github" } });
    await vault.ask("POST", "github/token", { body: { installation_id: 1001 } });
    const denied = [
      "sys/policies/acl/victim",
      "sys/policy/victim",
      "sys/leases/revoke-prefix/github/token",
      "sys/leases/revoke-force/github/token",
      "sys/leases/lookup/github/token",
      "sys/mounts/spare",
      "sys/mounts/spare/tune",
    ];
    const rules = [
      ...["sys/policies/*", "sys/policy/*", "sys/leases/*", "sys/mounts/*"].map((path) => [
        path,
        "create,read,update,delete,list,sudo",
      ]),
      ...denied.flatMap((path) => [
        [path, "deny"],
        [`${path}/`, "deny"],
      ]),
    ];
    await vault.ask("PUT", "sys/policies/acl/but-some", {
      body: {
        policy: rules
          .map(
            ([path = "", allowed = ""]) =>
              `path ${JSON.stringify(path)} { capabilities = ${JSON.stringify(allowed.split(","))} }`,
          )
          .join("\n"),
      },
    });
    const token = await tokenOf(["but-some"]);
    const leases = async (): Promise<unknown> =>
      (await vault.ask("GET", "sys/leases/count")).json.data.lease_count;
    const before = await leases();
    for (const path of denied) {
      const [parent, name] =
        /^(sys\/(?:policies\/acl|policy|leases\/[a-z-]+|mounts))\/(.*)$/.exec(path)?.slice(1) ?? [];
      for (const spelling of [
        path,
        `${path}/`,
        `${path}//`,
        `${parent}//${name}`,
        `${parent}/%2F${name}`,
        `${parent}//${name}/`,
        path.replace("/tune", "//tune"),
      ]) {
        for (const method of ["GET", "LIST", "PUT", "DELETE"] as const) {
          const { status, json } = await vault.ask(method, spelling, {
            token,
            ...(method === "PUT"
              ? { body: { policy: 'path "*" { capabilities = ["sudo"] }' } }
              : {}),
          });
          expect([
            method,
            spelling,
            status >= 400 || (json?.data ?? undefined) === undefined,
          ]).toEqual([method, spelling, true]);
        }
      }
    }
    expect((await vault.ask("GET", "sys/policies/acl/victim")).json.data.policy).toContain(
      "elsewhere",
    );
    expect((await vault.ask("GET", "sys/mounts/spare")).json.data.type).toBe("github");
    expect(await leases()).toBe(before);
  });
});

describe("all leases of all mounts", () => {
  it.each(["revoke-prefix", "revoke-force"])(
    "are not ended by %s without a prefix",
    async (name) => {
      await configure(vault, host);
      await vault.ask("POST", "github/token", { body: { installation_id: 1001 } });
      const before = (await vault.ask("GET", "sys/leases/count")).json.data.lease_count as number;
      expect(before).toBeGreaterThan(0);
      for (const path of [name, `${name}/`, `${name}//`])
        expect([path, (await vault.ask("PUT", `sys/leases/${path}`)).status]).toEqual([path, 404]);
      expect((await vault.ask("GET", "sys/leases/count")).json.data.lease_count).toBe(before);
    },
  );
});

describe("a token role", () => {
  it("is for those who may use its path, not for those who name it in a body", async () => {
    await vault.ask("POST", "auth/token/roles/admin", {
      body: { allowed_policies: "everything", orphan: true },
    });
    await policy("children", "auth/token/create", ["create", "update"]);
    const token = await tokenOf(["children"]);
    const answer = await vault.ask("POST", "auth/token/create", {
      token,
      body: { role_name: "admin" },
    });
    expect(answer.json?.auth?.policies ?? []).not.toContain("everything");
  });
});

describe("a token that is tried too often", () => {
  it("has to wait, while a live one and other attempts pass from there", async () => {
    const from = "127.0.3.1";
    const answers = await each(
      Array.from({ length: 1_010 }),
      async () => (await vault.ask("GET", "github/config", { token: "hvs.guess", from })).status,
    );
    expect([
      answers.filter((status) => status === 403).length,
      answers.filter((status) => status === 429).length,
    ]).toEqual([1_000, 10]);
    const late = await vault.ask("GET", "github/config", { token: "hvs.guess", from });
    expect([late.status, Number(late.headers["retry-after"]) > 0]).toEqual([429, true]);
    expect(
      (
        await vault.ask("POST", "auth/approle/login", {
          token: "",
          from,
          body: { role_id: "x", secret_id: "y" },
        })
      ).status,
    ).toBe(400);
    expect((await vault.ask("GET", "github/config", { from })).status).toBe(200);
    expect((await vault.ask("GET", "github/info", { token: "", from })).status).toBe(200);
    expect(
      (await vault.ask("GET", "github/config", { token: "hvs.guess", from: "127.0.3.2" })).status,
    ).toBe(403);
  });
});

describe("a sealed daemon", () => {
  it("is sealed by sudo alone, and answers nothing but its state then, not even to root", async () => {
    await policy("sealer", "sys/seal", ["update", "sudo"]);
    expect((await ask("POST", "sys/seal", await tokenOf(["sealer"]))).status).toBe(204);
    const answers = await each(
      rows.flatMap((row) => row.methods.map((method) => [row, method] as const)),
      async ([row, method]) => ({
        method,
        path: row.path,
        answer: await ask(method, row.path, vault.root),
      }),
    );
    expect(
      answers
        .filter(
          ({ path, answer }) =>
            (answer.text === '{"errors":["Vault is sealed"]}\n' && answer.status === 503) ===
            SEALED_TOO.includes(path),
        )
        .map(({ method, path, answer }) => `${method} ${path}: ${answer.status} ${answer.text}`),
    ).toEqual([]);
  });
});

/** A root token that lived for a second. */
async function expired(): Promise<string> {
  const token = await tokenOf(["root"], { ttl: "1s" });
  await expect
    .poll(
      async () =>
        (await vault.ask("GET", "auth/token/lookup-self", { token, from: "127.0.2.2" })).status,
      { timeout: 60_000 },
    )
    .toBe(403);
  return token;
}

async function revoked(): Promise<string> {
  const token = await tokenOf(["root"]);
  await vault.ask("POST", "auth/token/revoke-self", { token });
  return token;
}

async function usedUp(): Promise<string> {
  const token = await tokenOf(["root"], { num_uses: 1 });
  expect((await vault.ask("GET", "sys/mounts", { token })).status).toBe(200);
  return token;
}

describe("the API's own description", () => {
  it("asks for a token exactly where the paths do", async () => {
    const { paths } = (await (await fetch(`${vault.daemon.url}/openapi.json`)).json()) as {
      readonly paths: Readonly<
        Record<string, Readonly<Record<string, { readonly security: readonly unknown[] }>>>
      >;
    };
    const below = Object.entries(paths).filter(([path]) => path.startsWith("/v1/"));
    expect(below.length).toBeGreaterThan(5);
    for (const [path, verbs] of below)
      for (const [verb, { security }] of Object.entries(verbs)) {
        const open = OPEN.includes(path.replace("/v1/", "").replace("{mount}", "github"));
        expect({ path, verb, security }).toEqual({
          path,
          verb,
          security: open ? [] : [{ vaultToken: [] }],
        });
      }
  });
});
