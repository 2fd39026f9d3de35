import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeTemporaryFolders } from "./daemon.ts";
import { startVault, vaultRequest, type VaultAnswer, type VaultDaemon } from "./vault.ts";

const PAGE = "https://ui.example.org";
let vault: VaultDaemon;
let role: { role_id: string; secret_id: string };

beforeAll(async () => {
  vault = await startVault();
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
