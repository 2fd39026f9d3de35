import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LogicalService, Operation } from "../../src/gen/steward/tokens/v1/logical_pb.ts";
import { removeTemporaryFolders } from "./daemon.ts";
import { grpcUnary } from "./rpc.ts";
import { startVault, vaultRequest, type VaultAnswer, type VaultDaemon } from "./vault.ts";

const PAGE = "https://ui.example.org";
let vault: VaultDaemon;
let role: { role_id: string; secret_id: string };

beforeAll(async () => {
  // So that requests may come from addresses with the limits of other machines.
  vault = await startVault({ env: { STEWARD_GATEWAY__TRUSTED_PROXIES: "127.0.0.1" } });
  await vault.ask("POST", "sys/auth/approle", { body: { type: "approle" } });
  await vault.ask("POST", "auth/approle/role/ci", {
    body: { token_policies: "default", token_ttl: "1h" },
  });
  const id = await vault.ask("GET", "auth/approle/role/ci/role-id");
  const secret = await vault.ask("POST", "auth/approle/role/ci/secret-id");
  role = {
    role_id: id.json.data.role_id as string,
    secret_id: secret.json.data.secret_id as string,
  };
});

afterAll(async () => {
  await vault.daemon.stop();
  removeTemporaryFolders();
});

function fromPage(
  method: string,
  path: string,
  origin: string,
  body?: unknown,
): Promise<VaultAnswer> {
  return vaultRequest(vault.daemon.url, method, path, {
    headers: { origin, "sec-fetch-site": "cross-site", "access-control-request-method": "POST" },
    body,
  });
}

describe("pages of other origins (RESOLUTIONS §2, CORS, Cross-site)", () => {
  it("are not let in while there is no rule for them", async () => {
    const isRead = await fromPage("OPTIONS", "auth/approle/login", PAGE);
    expect([isRead.status, isRead.headers["access-control-allow-origin"]]).toEqual([
      400,
      undefined,
    ]);
    expect((await fromPage("POST", "auth/approle/login", PAGE, role)).status).toBe(403);
  });

  it("may ask and log in once sys/config/cors names them, and read why they could not; others may not", async () => {
    expect(
      (
        await vault.ask("POST", "sys/config/cors", {
          body: { allowed_origins: [PAGE.toUpperCase()] },
        })
      ).status,
    ).toBe(204);
    const isRead = await fromPage("OPTIONS", "auth/approle/login", PAGE);
    expect(isRead.status).toBe(200);
    expect(isRead.headers).toMatchObject({
      "access-control-allow-origin": PAGE,
      vary: "Origin",
      "access-control-allow-methods": expect.stringContaining("LIST") as string,
      "access-control-allow-headers": expect.stringContaining("X-Vault-Token") as string,
      "access-control-max-age": "300",
    });
    const login = await fromPage("POST", "auth/approle/login", PAGE, role);
    expect([login.status, login.headers["access-control-allow-origin"]]).toEqual([200, PAGE]);
    const wrong = await fromPage("POST", "auth/approle/login", PAGE, {
      ...role,
      secret_id: "wrong",
    });
    expect([wrong.status, wrong.headers["access-control-allow-origin"]]).toEqual([400, PAGE]);
    const own = await vaultRequest(vault.daemon.url, "GET", "auth/token/lookup-self", {
      token: login.json.auth.client_token as string,
      headers: { origin: PAGE, "sec-fetch-site": "cross-site" },
    });
    expect([own.status, own.headers["access-control-allow-origin"]]).toEqual([200, PAGE]);

    const foreign = await fromPage("OPTIONS", "auth/approle/login", "https://elsewhere.example");
    expect([foreign.status, foreign.headers["access-control-allow-origin"]]).toEqual([
      403,
      undefined,
    ]);
    const refused = await fromPage("POST", "auth/approle/login", "https://elsewhere.example", role);
    expect([refused.status, refused.headers["access-control-allow-origin"]]).toEqual([
      403,
      undefined,
    ]);
  });

  it("are out again when the rule goes", async () => {
    expect((await vault.ask("DELETE", "sys/config/cors")).status).toBe(204);
    expect((await fromPage("OPTIONS", "auth/approle/login", PAGE)).status).toBe(400);
    expect((await fromPage("POST", "auth/approle/login", PAGE, role)).status).toBe(403);
  });
});

describe("names of other machines, while no auth.token is set", () => {
  const REBOUND = { host: "rebound.example:8400" };
  const open: readonly {
    readonly method: string;
    readonly path: string;
    readonly body?: unknown;
  }[] = [
    { method: "GET", path: "sys/health" },
    { method: "GET", path: "sys/seal-status" },
    { method: "GET", path: "sys/leader" },
    { method: "GET", path: "sys/init" },
    { method: "PUT", path: "sys/init", body: {} },
    { method: "PUT", path: "sys/unseal", body: { reset: true } },
    { method: "GET", path: "github/info" },
    { method: "GET", path: "github/metrics" },
    { method: "POST", path: "auth/approle/login", body: {} },
    { method: "PUT", path: "sys/wrapping/unwrap", body: { token: "hvs.none" } },
    { method: "PUT", path: "sys/wrapping/lookup", body: { token: "hvs.none" } },
    { method: "GET", path: "sys/internal/ui/mounts" },
    { method: "GET", path: "sys/internal/specs/openapi" },
    { method: "GET", path: "github/config" },
  ];

  it.each(open)(
    "$method $path is refused without a live Vault token, an invented one included",
    async ({ method, path, body }) => {
      for (const token of [undefined, "hvs.invented"]) {
        const refused = await vaultRequest(vault.daemon.url, method, path, {
          headers: REBOUND,
          body,
          ...(token === undefined ? {} : { token }),
        });
        expect([path, refused.status, refused.json.errors]).toEqual([
          path,
          403,
          [expect.stringContaining("gateway.allowed_hosts")],
        ]);
      }
    },
  );

  it("are answered to a live Vault token, and to a wrapping token", async () => {
    const isRead = await Promise.all(
      ["sys/health", "github/info", "auth/token/lookup-self"].map((path) =>
        vault.ask("GET", path, { headers: REBOUND }),
      ),
    );
    expect(isRead.map(({ status }) => status)).toEqual([200, 200, 200]);
    const wrapped = await vault.ask("POST", "sys/wrapping/wrap", {
      body: { a: 1 },
      headers: { ...REBOUND, "x-vault-wrap-ttl": "60" },
    });
    const unwrapped = await vaultRequest(vault.daemon.url, "PUT", "sys/wrapping/unwrap", {
      headers: REBOUND,
      token: wrapped.json.wrap_info.token as string,
    });
    expect([unwrapped.status, unwrapped.json.data]).toEqual([200, { a: 1 }]);
  });
});

describe("response wrapping without a token", () => {
  const WRAP = { "x-vault-wrap-ttl": "60" };
  const ask = (method: string, path: string, body?: unknown, token?: string) =>
    vaultRequest(vault.daemon.url, method, path, {
      headers: WRAP,
      body,
      ...(token === undefined ? {} : { token }),
    });
  const REFUSED = expect.stringMatching(
    /X-Vault-Wrap-TTL .*needs a token here.*only logins.*send X-Vault-Token/,
  ) as string;

  it.each([
    ["GET", "github/info"],
    ["GET", "github/metrics"],
    ["GET", "sys/internal/ui/mounts"],
    ["GET", "sys/internal/specs/openapi"],
  ])("is refused on %s %s, also to an invented and a wrapping token", async (method, path) => {
    const login = await ask("POST", "auth/approle/login", role);
    for (const token of [undefined, "hvs.invented", login.json.wrap_info.token as string]) {
      const { status, json } = await ask(method, path, undefined, token);
      expect([token, status, json.errors]).toEqual([token, 400, [REFUSED]]);
    }
    expect((await ask(method, path, undefined, vault.root)).status).toBe(200);
  });

  it("is refused over gRPC's LogicalService, too", async () => {
    const host = new URL(vault.daemon.url).host;
    await expect(
      grpcUnary(host, LogicalService.method.handle, {
        operation: Operation.READ,
        path: "github/info",
        wrapTtl: "60s",
      }),
    ).rejects.toMatchObject({ details: REFUSED });
  });

  it("is for logins; what was wrapped can be wrapped anew and unwrapped, but not looked up wrapped", async () => {
    const login = await ask("POST", "auth/approle/login", role);
    const token = login.json.wrap_info.token as string;
    expect((await ask("PUT", "sys/wrapping/lookup", { token })).json.errors).toEqual([REFUSED]);
    const rewrapped = await ask("PUT", "sys/wrapping/rewrap", { token });
    const unwrapped = await ask("PUT", "sys/wrapping/unwrap", {
      token: rewrapped.json.wrap_info.token as string,
    });
    expect(unwrapped.json.auth.client_token).toMatch(/^hvs\./);
  });
});

describe("requests of one address that need no token", () => {
  const from = (address: string, path: string, token?: string) =>
    vaultRequest(vault.daemon.url, "GET", path, {
      headers: { "x-forwarded-for": address },
      ...(token === undefined ? {} : { token }),
    });

  it("are limited to 600 a minute and have no records beyond those of refusals; a token and other addresses are not limited", async () => {
    const records = (address: string): number =>
      readFileSync(join(vault.state, "audit.log"), "utf8")
        .split("\n")
        .filter((line) => line.includes(`"remote_address":"${address}"`)).length;
    const answers: VaultAnswer[] = [];
    const startMs = performance.now();
    // The listener admits few requests at once.
    while (answers.length < 660)
      answers.push(
        ...(await Promise.all(Array.from({ length: 10 }, () => from("192.0.2.1", "github/info")))),
      );
    // A slow machine takes more than one minute.
    const minutes = 1 + Math.floor((performance.now() - startMs) / 60_000);
    const limited = answers.filter(({ status }) => status === 429);
    expect(limited.length).toBeGreaterThanOrEqual(660 - 600 * minutes);
    if (minutes > 1) return;
    expect(limited).toHaveLength(60);
    expect(Number(limited[0]?.headers["retry-after"])).toBeGreaterThan(0);
    expect(limited[0]?.json.errors).toEqual([
      expect.stringMatching(/more than 600 requests without a token.*try again in \d+ s/),
    ]);
    expect(records("192.0.2.1")).toBe(2 * (600 + 10));
    expect((await from("192.0.2.1", "github/info", vault.root)).status).toBe(200);
    expect((await from("192.0.2.2", "github/metrics")).status).toBe(200);
    const login = await vaultRequest(vault.daemon.url, "POST", "auth/approle/login", {
      headers: { "x-forwarded-for": "192.0.2.1" },
      body: role,
    });
    expect(login.status).toBe(200);
  });
});

describe("logins", () => {
  it("end with sys/leases/revoke-prefix on their auth mount, and with the mount", async () => {
    const logIn = async (): Promise<string> =>
      (await vaultRequest(vault.daemon.url, "POST", "auth/approle/login", { body: role })).json.auth
        .client_token as string;
    const lives = async (token: string): Promise<boolean> =>
      (await vault.ask("GET", "auth/token/lookup-self", { token })).status === 200;
    const [first, child] = [
      await logIn(),
      (await vault.ask("POST", "auth/token/create", { body: { policies: ["default"], ttl: "1h" } }))
        .json.auth.client_token as string,
    ];
    expect((await vault.ask("PUT", "sys/leases/revoke-prefix/auth/approle/login")).status).toBe(
      204,
    );
    expect([await lives(first), await lives(child)]).toEqual([false, true]);
    expect((await vault.ask("PUT", "sys/leases/revoke-prefix/auth/token")).status).toBe(204);
    expect([await lives(child), await lives(vault.root)]).toEqual([false, true]);
    const second = await logIn();
    expect(await lives(second)).toBe(true);
    expect((await vault.ask("DELETE", "sys/auth/approle")).status).toBe(204);
    expect(await lives(second)).toBe(false);
  });
});
