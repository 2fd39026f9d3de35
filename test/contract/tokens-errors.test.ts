/**
 * The Vault API against input that is wrong on purpose: refused with the field and the rule, never
 * with a 5xx, and nothing let in that should not be.
 */
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import { removeTemporaryFolders, rest } from "./daemon.ts";
import {
  configure,
  startCodeHost,
  startVault,
  type Asking,
  type VaultAnswer,
  type VaultDaemon,
} from "./vault.ts";
import { isLongRun } from "../support/long-run.ts";

const BODY_LIMIT = 32 * 2 ** 20;
/** A refusal says what is wrong; it is no mirror. */
const LONGEST_REFUSAL = 4_096;

let host: CodeHost;
let vault: VaultDaemon;

beforeAll(async () => {
  host = await startCodeHost();
  vault = await startVault();
  expect((await configure(vault, host)).status).toBe(204);
  expect((await vault.ask("POST", "sys/auth/approle", { body: { type: "approle" } })).status).toBe(
    204,
  );
  expect(
    (await vault.ask("POST", "auth/approle/role/ci", { body: { token_policies: "default" } }))
      .status,
  ).toBe(204);
  for (const [name, policy] of [
    ["minter", 'path "github/token" { capabilities = ["create", "update"] }'],
    ["reader", 'path "github/config" { capabilities = ["read"] }'],
  ] as const) {
    expect((await vault.ask("PUT", `sys/policies/acl/${name}`, { body: { policy } })).status).toBe(
      204,
    );
  }
});

afterAll(async () => {
  expect(
    vault.daemon.stderr.filter((line) => /assertion|unhandled|TypeError|RangeError/.test(line)),
  ).toEqual([]);
  expect(await vault.daemon.stop()).toEqual({ code: 0, signal: null });
  await host.stop();
  removeTemporaryFolders();
});

async function makeToken(
  body: Readonly<Record<string, unknown>>,
  path = "create",
): Promise<string> {
  return (await vault.ask("POST", `auth/token/${path}`, { body })).json.auth.client_token as string;
}

/** JSON as it is sent, since some of it no JavaScript value writes. */
const values: Readonly<Record<string, string>> = {
  "an object": "{}",
  "a nested object": '{"a":{"b":[1]}}',
  "an array": "[]",
  "nested arrays": "[[[[]]]]",
  "a mixed array": '[1,"x",null,{}]',
  "10^400": "1e400",
  "400 digits": "9".repeat(400),
  "-1": "-1",
  "0.5": "0.5",
  "NaN as text": '"NaN"',
  "empty text": '""',
  null: "null",
  true: "true",
  "a zero byte": '"\\u0000"',
  "half a surrogate pair": '"\\ud800"',
  "1 MiB": JSON.stringify("x".repeat(2 ** 20)),
  __proto__: '{"__proto__":{"x":1}}',
  "a way up": '"../../x"',
};

interface Operation {
  readonly path: string;
  readonly fields: readonly string[];
}

/** Every path that takes a body, with its fields, as the daemon itself declares them. */
async function writable(): Promise<Operation[]> {
  const { paths } = (await vault.ask("GET", "sys/internal/specs/openapi")).json as {
    paths: Record<
      string,
      { post?: { requestBody?: { content: Record<string, { schema: { properties?: object } }> } } }
    >;
  };
  return Object.entries(paths)
    .filter(([path, item]) => item.post !== undefined && path !== "/sys/seal")
    .map(([path, { post }]) => ({
      path: path.slice(1).replaceAll(/\{\w+\}/g, "ci"),
      fields: [
        ...Object.keys(post?.requestBody?.content["application/json"]?.schema.properties ?? {}),
        "unknown_one",
      ],
    }));
}

describe("each field of each path with each wrong value", () => {
  it("is no fault of the server and takes nothing down", async () => {
    const operations = await writable();
    expect(operations.length).toBeGreaterThan(40);
    const wrong: string[] = [];
    const judge = (where: string, answer: VaultAnswer): void => {
      if (answer.status >= 500)
        wrong.push(`${where}: ${answer.status} ${answer.text.slice(0, 200)}`);
      if (answer.status >= 400 && answer.text.length > LONGEST_REFUSAL)
        wrong.push(`${where}: a refusal of ${answer.text.length} characters`);
      if (answer.status === 400 && !/\{"errors":\["\S/.test(answer.text))
        wrong.push(`${where}: says nothing: ${answer.text}`);
      if (/surrogate|not a key:|strconv\.\w+: parsing ""/.test(answer.text))
        wrong.push(`${where}: in words of our own inside: ${answer.text}`);
    };
    let isRead = 0;
    let turn = 0;
    const one = async ({ path, fields }: Operation): Promise<void> => {
      for (const field of fields) {
        turn += 1;
        for (const [at, [name, value]] of Object.entries(values).entries()) {
          // A third of the values, other ones for the next field; in the long run all of them.
          if (!isLongRun && at % 3 !== turn % 3) continue;
          // Some of these end the token that asks.
          const token =
            path.endsWith("-self") || path.startsWith("sys/wrapping")
              ? await makeToken({ policies: ["root"] })
              : vault.root;
          isRead++;
          judge(
            `${path} ${field} ${name}`,
            await vault.ask("POST", path, { token, body: `{${JSON.stringify(field)}:${value}}` }),
          );
        }
      }
    };
    // The engine's configuration comes last: an app_id of 1 makes the platform refuse, and that is
    // a 502.
    const last = operations.filter(({ path }) => path === "github/config");
    const rest = operations.filter(({ path }) => path !== "github/config");
    await Promise.all(
      [0, 1, 2, 3].map(async (lane) => {
        for (const operation of rest.filter((_, at) => at % 4 === lane)) await one(operation);
      }),
    );
    for (const operation of last) await one(operation);
    expect(wrong).toEqual([]);
    expect(isRead).toBeGreaterThan(isLongRun ? 3_000 : 1_000);
    expect(
      (
        await configure(vault, host, {
          exclude_repository_metadata: false,
          strict_scopes: false,
          max_permissions: "",
        })
      ).status,
    ).toBe(204);
    await vault.ask("DELETE", "sys/config/cors");
    expect(
      (await vault.ask("POST", "github/token", { body: { installation_id: 1001 } })).status,
    ).toBe(200);
  });

  it("is refused by the engine and by auth/token/create with the field's name when the type cannot fit", async () => {
    for (const { path, fields } of await writable()) {
      if (!path.startsWith("github/") && path !== "auth/token/create") continue;
      for (const field of fields.filter((name) => name !== "unknown_one")) {
        const answer = await vault.ask("POST", path, {
          body: `{${JSON.stringify(field)}:{"a":{"b":[1]}}}`,
        });
        expect([path, field, answer.status, answer.text]).toEqual([
          path,
          field,
          400,
          expect.stringContaining(field) as string,
        ]);
      }
    }
  });

  it("is named in texts a client can act on", async () => {
    const rows: readonly (readonly [string, string, RegExp])[] = [
      [
        "github/token",
        '{"installation_id":"abc"}',
        /error converting input for field \\"installation_id\\".*invalid syntax/,
      ],
      ["github/token", '{"repository_ids":"1,x"}', /repository_ids.*cannot parse '\[1\]' as int/],
      [
        "github/token",
        '{"permissions":"contents","installation_id":1001}',
        /permissions.*invalid key pair \\"contents\\"/,
      ],
      ["github/token", '{"nope":1,"also":2}', /unknown fields: also, nope/],
      ["github/config", '{"exclude_repository_metadata":"maybe"}', /exclude_repository_metadata/],
      ["github/config", '{"base_url":""}', /unable to parse base URL/],
      [
        "github/config",
        '{"prv_key":"-----BEGIN RSA PRIVATE KEY-----\\nAAAA\\n-----END RSA PRIVATE KEY-----"}',
        /unable to parse private key/,
      ],
      ["github/token/none", "{}", /permission set 'none' does not exist/],
      [
        `auth/token/create/${"r".repeat(1_000)}`,
        "{}",
        /^\{"errors":\["unknown role r{50,150}"\]\}\n$/,
      ],
      ["auth/token/create", '{"ttl":"soon"}', /ttl.*invalid duration/],
      ["sys/policies/acl/x", '{"policy":"path \\"a\\" { capabilities = [\\"fly\\"] }"}', /fly/],
    ];
    for (const [path, body, says] of rows) {
      const answer = await vault.ask("POST", path, { body });
      expect([path, body.slice(0, 80), answer.status, answer.text]).toEqual([
        path,
        body.slice(0, 80),
        400,
        expect.stringMatching(says) as string,
      ]);
    }
  });
});

/**
 * The status for a body with a length or in pieces; `cut` when the server closed before all was
 * written, which a client may see before the answer.
 */
function statusFor(
  body: Buffer,
  headers: Readonly<Record<string, string>>,
): Promise<number | "cut"> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(vault.daemon.url);
    const sent = httpRequest(
      { host: hostname, port, path: "/v1/github/token", method: "POST", agent: false, headers },
      (answer) => {
        const status = answer.statusCode ?? 0;
        answer
          .resume()
          .on("end", () => resolve(status))
          .on("error", () => resolve(status));
      },
    );
    sent.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "EPIPE" || error.code === "ECONNRESET" ? resolve("cut") : reject(error),
    );
    sent.end(body);
  });
}

describe("a body", () => {
  it.each([
    ["a byte under", BODY_LIMIT - 1, 400],
    ["at", BODY_LIMIT, 400],
    ["a byte over", BODY_LIMIT + 1, 413],
  ])(
    "%s the limit, with a length or in chunks, with a token or without",
    async (_name, bytes, status) => {
      const body = Buffer.from(`{"x":"${"a".repeat(bytes - 8)}"}`);
      for (const framing of [
        { "content-length": String(bytes) },
        { "transfer-encoding": "chunked" },
      ]) {
        expect([status, "cut"].slice(0, status === 413 ? 2 : 1)).toContain(
          await statusFor(body, { "x-vault-token": vault.root, ...framing }),
        );
        expect([403, "cut"]).toContain(await statusFor(body, framing));
      }
    },
  );

  it("that is not what it says, or too deep, or too wide, is refused in few words", async () => {
    const deep = 10_000;
    const rows: readonly (readonly [string, string, number, RegExp])[] = [
      ["an array", "[]", 400, /must be a JSON object/],
      ["a number", "7", 400, /must be a JSON object/],
      ["half", '{"installation_id":', 400, /not valid JSON/],
      ["two", "{} {}", 400, /not valid JSON/],
      ["a comma too many", '{"installation_id":1001,}', 400, /not valid JSON/],
      ["hexadecimal", '{"installation_id":0x10}', 400, /not valid JSON/],
      ["deep arrays", `{"repositories":${"[".repeat(deep)}${"]".repeat(deep)}}`, 413, /nesting/],
      [
        "deep objects",
        `{"permissions":${'{"a":'.repeat(deep)}1${"}".repeat(deep)}}`,
        413,
        /nesting/,
      ],
      ["deep and open", "[".repeat(1_000_000), 413, /nesting/],
      [
        "90,000 members",
        `{${Array.from({ length: 90_000 }, (_, at) => `"k${at}":1`).join(",")}}`,
        413,
        /more than 10000 members/,
      ],
      [
        "9,000 members",
        `{${Array.from({ length: 9_000 }, (_, at) => `"k${at}":1`).join(",")}}`,
        400,
        /unknown fields: k0, k1/,
      ],
      ["a million values", `{"a":[${'"",'.repeat(1_000_000)}1]}`, 413, /more than 100000 values/],
      ["a long name", `{"${"k".repeat(2 ** 20)}":1}`, 400, /unknown field: k+/],
      ["__proto__", '{"__proto__":{"installation_id":1001}}', 400, /unknown field: __proto__/],
    ];
    for (const [name, body, status, says] of rows) {
      const answer = await vault.ask("POST", "github/token", { body });
      expect([name, answer.status, answer.text]).toEqual([
        name,
        status,
        expect.stringMatching(says) as string,
      ]);
      expect([name, answer.text.length < LONGEST_REFUSAL]).toEqual([name, true]);
    }
  });

  it("that names a type of mount by a word of the language names an unknown one", async () => {
    for (const path of ["sys/mounts/odd", "sys/auth/odd"])
      for (const type of ["constructor", "__proto__", "toString"]) {
        const answer = await vault.ask("POST", path, { body: { type } });
        const says = expect.stringContaining(`plugin not found in the catalog: ${type}`) as string;
        expect([path, answer.status, answer.json.errors]).toEqual([path, 400, [says]]);
      }
  });

  it("that holds very much keeps nobody waiting, least of all from somebody unknown", async () => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const names = (count: number): string =>
      Array.from({ length: count }, (_, at) => `a${at}=1`).join("&");
    const rows: readonly (readonly [string, Asking])[] = [
      ["ten million values", { body: `{"a":[${'"",'.repeat(10_000_000)}1]}` }],
      ["90,000 names in a form", { headers: form, body: names(90_000) }],
      ["a million names in a form", { headers: form, body: names(1_000_000) }],
      ["ten million pairs in a form", { headers: form, body: "a=&".repeat(10_000_000) }],
      ["one text of 31 MiB", { body: `{"a":"${"x".repeat(31 * 2 ** 20)}"}` }],
      ["ten million backslashes", { body: `{"a":"${"\\".repeat(10_000_000)}"}` }],
      ["ten million blanks", { body: `{"a":[${" ".repeat(10_000_000)}1.5]}` }],
    ];
    // The server answers by the head alone; a client that is still writing may see its connection
    // closed first.
    const statusOf = async (path: string, asking: Asking): Promise<number | "cut"> =>
      await vault.ask("POST", path, { token: "", ...asking }).then(
        ({ status }) => status,
        () => "cut" as const,
      );
    for (const [name, asking] of rows) {
      const since = performance.now();
      expect([
        [name, 403],
        [name, "cut"],
      ]).toContainEqual([name, await statusOf("github/token", asking)]);
      expect([
        [name, 413],
        [name, "cut"],
      ]).toContainEqual([name, await statusOf("sys/wrapping/unwrap", asking)]);
      expect([name, performance.now() - since < 25_000]).toEqual([name, true]);
    }
  });

  it("that is not UTF-8 is refused", async () => {
    expect(
      await statusFor(Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d]), {
        "x-vault-token": vault.root,
        "content-length": "8",
      }),
    ).toBe(400);
  });

  it("with a number beyond 2^53 is refused with its digits, never rounded to somebody else's", async () => {
    const answer = await vault.ask("POST", "github/token", {
      body: '{"installation_id":9007199254740993}',
    });
    expect([answer.status, answer.text]).toEqual([
      400,
      expect.stringMatching(/installation_id.*9007199254740993.*out of range/) as string,
    ]);
  });
});

/** What comes back for bytes that no HTTP client would send. */
function raw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(vault.daemon.url);
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let text = "";
    // A server that refuses early may reset the rest away.
    socket
      .setEncoding("latin1")
      .on("data", (part: string) => (text += part))
      .on("close", () => resolve(text))
      .on("error", (error) => (text === "" ? reject(error) : resolve(text)));
  });
}

describe("a path", () => {
  it("has no way up in any spelling", async () => {
    for (const path of [
      "github/../sys/seal",
      "github/%2e%2e/config",
      "github/.%2e/config",
      "github/%2E%2E%2fconfig",
      "github/..%2fconfig",
      "%2e%2e/v1/github/config",
      "..",
      "sys/mounts/..",
      "sys/policies/acl/a%2f..%2fb",
      "github/config/..",
    ]) {
      for (const method of ["GET", "POST", "DELETE", "LIST"]) {
        const answer = await vault.ask(method, path, method === "POST" ? { body: {} } : {});
        expect([method, path, answer.status, answer.json.errors]).toEqual([
          method,
          path,
          400,
          ["relative paths not supported"],
        ]);
      }
    }
    // Decoded once: what is encoded twice, or meant for another system, is a name that nobody has.
    for (const path of [
      "github/%252e%252e/config",
      "github/..;/config",
      "github/..%5cconfig",
      "github/./config",
      "github//config",
      "/github/config",
    ])
      expect([path, (await vault.ask("GET", path)).status]).toEqual([path, 404]);
  });

  it("holds no control character, no broken escape, and is of bounded length", async () => {
    for (const path of [
      "github/config%00",
      "github/%00",
      "github/con%0afig",
      "github/%7f",
      "github/%ff",
      "github/%",
      "github/%c0%ae%c0%ae/config",
      `github/${"a".repeat(1_394)}`,
    ])
      expect([path.slice(0, 40), (await vault.ask("GET", path)).status]).toEqual([
        path.slice(0, 40),
        400,
      ]);
    expect((await vault.ask("GET", `github/${"a".repeat(1_393)}`)).status).toBe(404);
    expect(
      await raw(
        `GET /v1/github/${"a".repeat(20_000)} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
      ),
    ).toMatch(/^HTTP\/1\.1 4\d\d /);
  });

  it("below no mount, or with a slash too many, is not found and makes nothing", async () => {
    const before = host.counts().minted;
    for (const path of [
      "nope/x",
      "nope",
      "githu/token",
      "GITHUB/token",
      "auth/nope/login",
      "sys/nope",
      "sys/",
      "",
      "github",
      "github/",
      "github/token/",
      "github/config/",
      "github/token//",
      "github/permissionset/",
    ]) {
      const answer = await vault.ask("POST", path, { body: { installation_id: 1001 } });
      expect([path, answer.status]).toEqual([path, 404]);
      expect([path, (await vault.ask("POST", path, { token: "", body: {} })).status]).toEqual([
        path,
        403,
      ]);
    }
    expect(host.counts().minted).toBe(before);
  });

  it("takes the methods it has", async () => {
    for (const [method, path, status] of [
      ["GET", "sys/leases/revoke", 405],
      ["POST", "github/info", 405],
      ["DELETE", "github/token", 405],
      ["TRACE", "github/config", 405],
      ["PROPFIND", "github/config", 405],
      ["LIST", "github/config", 405],
    ] as const) {
      expect([method, path, (await vault.ask(method, path)).status]).toEqual([
        method,
        path,
        status,
      ]);
    }
    expect(
      await raw(
        `FLY /v1/github/config HTTP/1.1\r\nhost: x\r\nx-vault-token: ${vault.root}\r\nconnection: close\r\n\r\n`,
      ),
    ).toMatch(/^HTTP\/1\.1 4\d\d /);
  });
});

describe("headers", () => {
  it("that say how to wrap are understood or refused, and never taken for no wish", async () => {
    for (const ttl of ["abc", "-1", "1e9", "99999999999999999999", "87600000h", "1h1"])
      expect([
        ttl,
        (await vault.ask("GET", "github/config", { headers: { "x-vault-wrap-ttl": ttl } })).status,
      ]).toEqual([ttl, 400]);
    for (const ttl of ["1", "60s", "1ns", "0.4ms"])
      expect([
        ttl,
        (await vault.ask("GET", "github/config", { headers: { "x-vault-wrap-ttl": ttl } })).json
          .data,
      ]).toEqual([ttl, null]);
  });

  it("that name another namespace find nothing", async () => {
    expect(
      (await vault.ask("GET", "github/config", { headers: { "x-vault-namespace": "team/" } })).json
        .errors,
    ).toEqual(["namespace not found"]);
  });
});

describe("a token that is not good", () => {
  const forbidden = async (token: string, path = "github/config"): Promise<void> => {
    const answer = await vault.ask("GET", path, { token });
    expect([token.slice(0, 12), answer.status, answer.text]).toEqual([
      token.slice(0, 12),
      403,
      expect.stringContaining("permission denied") as string,
    ]);
  };

  /** A token that was good once. On a busy machine a second may pass before it is tried. */
  const makeShortToken = async (body: Readonly<Record<string, unknown>>): Promise<string> => {
    for (let seconds = 1; ; seconds *= 2) {
      const token = await makeToken({ ...body, ttl: `${seconds}s` });
      const { status } = await vault.ask("GET", "github/config", { token });
      if (status === 200) return token;
      expect([seconds < 30, status]).toEqual([true, 403]);
    }
  };

  it("is refused: none, nonsense, another instance's, the operator's", async () => {
    const other = await startVault();
    try {
      const batch = (
        await other.ask("POST", "auth/token/create", {
          body: { type: "batch", policies: ["default"], ttl: "1h" },
        })
      ).json.auth.client_token as string;
      expect((await other.ask("GET", "auth/token/lookup-self", { token: batch })).status).toBe(200);
      for (const token of [
        other.root,
        batch,
        "",
        "hvs.",
        "hvb.",
        "hvb.AQ",
        `hvb.${"A".repeat(200)}`,
        "x".repeat(10_000),
        `s.${"a".repeat(24)}`,
        "an operator's token of another service",
      ])
        await forbidden(token);
    } finally {
      await other.daemon.stop();
    }
  });

  it("is refused: a batch token changed anywhere, cut anywhere, or longer", async () => {
    const batch = await makeToken({ type: "batch", policies: ["reader"], ttl: "1h" });
    expect((await vault.ask("GET", "github/config", { token: batch })).status).toBe(200);
    const changed = Array.from(
      batch,
      (sign, at) => `${batch.slice(0, at)}${sign === "A" ? "B" : "A"}${batch.slice(at + 1)}`,
    ).filter((_, at) => at > 3);
    const cut = [
      batch.slice(0, -1),
      batch.slice(0, -4),
      batch.slice(0, 40),
      `${batch}A`,
      `${batch}=`,
      batch.toUpperCase(),
      ` ${batch}`.replace(" ", "%20"),
    ];
    await Promise.all([...changed, ...cut].map((token) => forbidden(token)));
  });

  it("is refused: expired, revoked, below a revoked parent", async () => {
    const short = await makeShortToken({ policies: ["reader"] });
    const shortBatch = await makeShortToken({ type: "batch", policies: ["reader"] });
    const parent = await makeToken({ policies: ["root"], ttl: "1h" });
    const child = (
      await vault.ask("POST", "auth/token/create", {
        token: parent,
        body: { policies: ["reader"] },
      })
    ).json.auth.client_token as string;
    const grandchild = (
      await vault.ask("POST", "auth/token/create", {
        token: parent,
        body: { policies: ["reader"], type: "batch", ttl: "1h" },
      })
    ).json.auth.client_token as string;
    for (const token of [child, grandchild])
      expect((await vault.ask("GET", "github/config", { token })).status).toBe(200);
    expect((await vault.ask("POST", "auth/token/revoke", { body: { token: parent } })).status).toBe(
      204,
    );
    for (const token of [parent, child, grandchild]) await forbidden(token);
    await vi.waitFor(() => forbidden(short), { timeout: 60_000 });
    await vi.waitFor(() => forbidden(shortBatch), { timeout: 60_000 });
  });

  it("is refused from an address it is not bound to", async () => {
    expect(
      (
        await vault.ask("POST", "auth/token/roles/elsewhere", {
          body: { allowed_policies: "reader", token_bound_cidrs: "10.0.0.0/8" },
        })
      ).status,
    ).toBe(204);
    expect(
      (
        await vault.ask("POST", "auth/token/roles/here", {
          body: { allowed_policies: "reader", token_bound_cidrs: "127.0.0.0/8" },
        })
      ).status,
    ).toBe(204);
    await forbidden(await makeToken({ ttl: "1h" }, "create/elsewhere"));
    expect(
      (
        await vault.ask("GET", "github/config", {
          token: await makeToken({ ttl: "1h" }, "create/here"),
        })
      ).status,
    ).toBe(200);
  });

  it("is refused beyond what its policies say, and mints nothing", async () => {
    const reader = await makeToken({ policies: ["reader"] });
    const before = host.counts().minted;
    for (const [method, path] of [
      ["POST", "github/token"],
      ["GET", "github/token"],
      ["POST", "github/config"],
      ["DELETE", "github/config"],
      ["PUT", "sys/seal"],
      ["LIST", "auth/token/accessors"],
      ["GET", "sys/leases/orphans"],
      ["POST", "auth/token/create-orphan"],
      ["PUT", "sys/policies/acl/root"],
      ["POST", "sys/mounts/x"],
      ["PUT", "sys/leases/revoke-force/github"],
    ] as const) {
      expect([
        path,
        (
          await vault.ask(method, path, {
            token: reader,
            ...(method === "POST" || method === "PUT" ? { body: {} } : {}),
          })
        ).status,
      ]).toEqual([path, 403]);
    }
    expect(host.counts().minted).toBe(before);
  });
});

describe("what may be used so often and no oftener", () => {
  const parallel = async (
    times: number,
    ask: () => Promise<VaultAnswer>,
  ): Promise<Record<number, number>> => {
    const counts: Record<number, number> = {};
    for (const { status } of await Promise.all(Array.from({ length: times }, ask)))
      counts[status] = (counts[status] ?? 0) + 1;
    return counts;
  };

  it("a token with five uses, asked with a hundred times at once, passes five times", async () => {
    const token = await makeToken({ policies: ["reader"], num_uses: 5 });
    expect(await parallel(100, () => vault.ask("GET", "github/config", { token }))).toEqual({
      200: 5,
      403: 95,
    });
    expect((await vault.ask("POST", "auth/token/lookup", { body: { token } })).status).toBe(403);
  });

  it("a token with five uses that mints: never a token whose lease is gone, and none without one", async () => {
    const token = await makeToken({ policies: ["minter"], num_uses: 5 });
    const before = host.counts();
    const counts = await parallel(40, () =>
      vault.ask("POST", "github/token", { token, body: { installation_id: 1001 } }),
    );
    // The last use cannot mint: its lease would end with the token. Neither is handed out what comes
    // from the platform after that use has ended the token.
    const { 200: handed = 0, 403: denied = 0, ...others } = counts;
    expect([others, handed + denied]).toEqual([{ 400: 1 }, 39]);
    expect(handed).toBeLessThanOrEqual(4);
    expect(host.counts().minted - before.minted).toBe(4);
    // With the token go its leases, and with those the platform's tokens.
    await vi.waitFor(() => expect(host.counts().live).toBe(before.live), { timeout: 60_000 });
  });

  it("a wrapping token opens once, and is good for nothing else", async () => {
    const wrapped = (
      await vault.ask("POST", "github/token", {
        body: { installation_id: 1001 },
        headers: { "x-vault-wrap-ttl": "60" },
      })
    ).json.wrap_info.token as string;
    for (const path of ["github/config", "auth/token/lookup-self"])
      expect([path, (await vault.ask("GET", path, { token: wrapped })).status]).toEqual([
        path,
        403,
      ]);
    const twice = (
      await vault.ask("POST", "github/token", {
        body: { installation_id: 1001 },
        headers: { "x-vault-wrap-ttl": "60" },
      })
    ).json.wrap_info.token as string;
    const counts = await parallel(50, () =>
      vault.ask("POST", "sys/wrapping/unwrap", { token: twice }),
    );
    expect(counts[200]).toBe(1);
    expect((counts[400] ?? 0) + (counts[403] ?? 0)).toBe(49);
    expect(
      (await vault.ask("POST", "sys/wrapping/unwrap", { body: { token: twice } })).json.errors,
    ).toEqual(["wrapping token is not valid or does not exist"]);
  });

  it("a secret id with one use logs in once", async () => {
    const role = (await vault.ask("GET", "auth/approle/role/ci/role-id")).json.data
      .role_id as string;
    expect(
      (await vault.ask("POST", "auth/approle/role/ci", { body: { secret_id_num_uses: 1 } })).status,
    ).toBe(204);
    const secret = (await vault.ask("POST", "auth/approle/role/ci/secret-id", { body: {} })).json
      .data.secret_id as string;
    expect(
      await parallel(50, () =>
        vault.ask("POST", "auth/approle/login", {
          token: "",
          body: { role_id: role, secret_id: secret },
        }),
      ),
    ).toEqual({ 200: 1, 400: 49 });
  });
});

describe("the same over Connect", () => {
  const handle = async (
    message: Readonly<Record<string, unknown>>,
    token = vault.root,
  ): Promise<readonly [number, string]> => {
    const { status, text } = await rest(
      vault.daemon,
      "POST",
      "/steward.tokens.v1.LogicalService/Handle",
      message,
      { "x-vault-token": token, "connect-protocol-version": "1" },
    );
    return [status, text];
  };
  const base64 = (text: string): string => Buffer.from(text).toString("base64");

  it("is refused with the field and the rule, whatever is wrong with path, data, operation or wrap time", async () => {
    const read = (more: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
      operation: "OPERATION_READ",
      path: "github/config",
      ...more,
    });
    const write = (data: string): Readonly<Record<string, unknown>> => ({
      operation: "OPERATION_UPDATE",
      path: "github/token",
      data: base64(data),
    });
    const rows: readonly (readonly [Readonly<Record<string, unknown>>, number, RegExp])[] = [
      [read({ path: "github/../sys/mounts" }), 400, /relative paths not supported/],
      [read({ path: "github/\0" }), 400, /control characters/],
      [read({ path: "a".repeat(1_000_000) }), 400, /longer than 1400 bytes/],
      [read({ path: "" }), 404, /no handler for route/],
      [read({ path: "nope/x" }), 404, /no handler/],
      [read({ operation: "OPERATION_UNSPECIFIED" }), 400, /operation must be one of/],
      [read({ operation: 99 }), 400, /operation/],
      [read({ wrapTtl: "soon" }), 400, /wrap_ttl must be a duration/],
      [read({ namespace: "team" }), 404, /namespace not found/],
      [write("[]"), 400, /JSON object/],
      [write("{"), 400, /not valid JSON/],
      [write('{"installation_id":{}}'), 400, /installation_id/],
      [write(`{"a":${"[".repeat(1_000)}${"]".repeat(1_000)}}`), 429, /nesting/],
      [write(`{"a":[${"1,".repeat(200_000)}1]}`), 429, /values/],
      [
        { ...write("{}"), data: Buffer.from([0xff, 0xfe]).toString("base64") },
        400,
        /not valid JSON/,
      ],
      [{ ...write("{}"), data: "no base64!" }, 400, /data/],
    ];
    for (const [message, status, says] of rows)
      expect([JSON.stringify(message).slice(0, 80), ...(await handle(message))]).toEqual([
        JSON.stringify(message).slice(0, 80),
        status,
        expect.stringMatching(says) as string,
      ]);
    expect((await handle(read({}), ""))[0]).toBe(403);
    expect((await handle(read({}), "hvs.nobody"))[0]).toBe(403);
    expect((await handle(read({ wrapTtl: "1ns" })))[1]).toContain("wrapInfo");
  });
});

describe("the house's own token and the secrets manager's", () => {
  it("are good for their own doors only", async () => {
    const operator = "operator-0123456789abcdef";
    const locked = await startVault({ config: `auth: { token: ${operator} }` });
    try {
      const status = async (
        path: string,
        headers: Readonly<Record<string, string>>,
      ): Promise<number> => (await rest(locked.daemon, "GET", path, undefined, headers)).status;
      expect([
        await status("/v1/sys/mounts", { "x-vault-token": locked.root }),
        await status("/v1/sys/mounts", { authorization: `Bearer ${locked.root}` }),
      ]).toEqual([200, 200]);
      expect([
        await status("/v1/sys/mounts", { "x-vault-token": operator }),
        await status("/v1/sys/mounts", { authorization: `Bearer ${operator}` }),
      ]).toEqual([403, 403]);
      expect([
        await status("/openapi.json", { authorization: `Bearer ${operator}` }),
        await status("/openapi.json", { authorization: `Bearer ${locked.root}` }),
        await status("/openapi.json", { "x-vault-token": locked.root }),
      ]).toEqual([200, 401, 401]);
    } finally {
      await locked.daemon.stop();
    }
  });
});
