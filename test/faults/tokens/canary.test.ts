/**
 * Secrets of the tokens service in nothing that comes out but the answer they are for: no log,
 * metric, trace, audit line, error, page or state file; and the audit finds them by their hash
 * (reliability D.3 no. 23).
 */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, onTestFinished, vi } from "vitest";
import { startReceiver } from "../../support/otlp/receiver.ts";
import { removeTemporaryFolders, rest } from "../../contract/daemon.ts";
import {
  appKey,
  configure,
  startCodeHost,
  startVault,
  type Asking,
  type VaultAnswer,
  type VaultDaemon,
} from "../../contract/vault.ts";
import { type Canary, canary, filesOf, found } from "../canaries.ts";

afterAll(removeTemporaryFolders);

/** What was said to somebody whom it is not for, by name. */
type Outputs = Record<string, string | Buffer>;

/** A daemon that is listened to, and the secrets it was given and gave. */
class Watched {
  readonly vault: VaultDaemon;
  readonly secrets: Canary[] = [];
  readonly outputs: Outputs = {};

  constructor(vault: VaultDaemon) {
    this.vault = vault;
  }

  secret(where: string, value: string): string {
    expect([where, value.length > 15]).toEqual([where, true]);
    this.secrets.push({ where, value });
    return value;
  }

  /** A text of the client's that is nobody else's business. */
  sent(where: string): string {
    const made = canary(where);
    return this.secret(where, made.value);
  }

  /** Refusals are kept as outputs: a client's mistake is quoted without its secrets. */
  async ask(method: string, path: string, asking: Asking = {}): Promise<VaultAnswer> {
    const answer = await this.vault.ask(method, path, asking);
    if (answer.status >= 400)
      this.outputs[`${method} ${path}: ${answer.status} (${Object.keys(this.outputs).length})`] =
        `${JSON.stringify(answer.headers)}\n${answer.text}`;
    return answer;
  }
}

/** Tokens of all kinds, made, used, wrong and used up. */
async function live(at: Watched): Promise<void> {
  const { vault } = at;
  at.secret("root token", vault.root);
  const create = async (where: string, body: unknown): Promise<string> =>
    at.secret(
      where,
      (await at.ask("POST", "auth/token/create", { body })).json.auth.client_token as string,
    );
  const service = await create("service token", { policies: ["default"], ttl: "1h", num_uses: 3 });
  const batch = await create("batch token", { policies: ["default"], ttl: "1h", type: "batch" });
  for (const token of [service, batch]) {
    await at.ask("GET", "auth/token/lookup-self", { token });
    await at.ask("GET", "github/config", { token });
    await at.ask("GET", "github/config", { token: `${token.slice(0, -1)}!` });
    await at.ask("GET", "github/config", {
      token: "",
      headers: { authorization: `Bearer ${token}` },
    });
    await at.ask("POST", "auth/token/lookup", { body: { token } });
  }
  await at.ask("GET", "github/config", { token: at.sent("a token that is none") });
  await at.ask("POST", "auth/token/lookup", {
    body: { token: at.sent("a token in a body that is none") },
  });
  await at.ask("POST", "auth/token/revoke", { body: { token: service } });
  await at.ask("POST", "auth/token/create", {
    body: { id: at.secret("a token's own id", canary("id").value), policies: ["default"] },
  });
  await at.ask("POST", "auth/token/create", {
    body: { policies: ["default"], ttl: at.sent("a ttl that is none") },
  });
}

async function mints(at: Watched): Promise<string> {
  const minted = (where: string, answer: VaultAnswer): string =>
    at.secret(where, answer.json.data.token as string);
  minted(
    "minted by POST",
    await at.ask("POST", "github/token", {
      body: { installation_id: 1001, repositories: ["web"] },
    }),
  );
  minted("minted by GET", await at.ask("GET", "github/token?installation_id=1001"));
  await at.ask("POST", "github/permissionset/ci", {
    body: { installation_id: 1001, permissions: "contents=read" },
  });
  minted("minted by a set", await at.ask("POST", "github/token/ci", { body: {} }));
  const wrap = { body: { installation_id: 1001 }, headers: { "x-vault-wrap-ttl": "300" } };
  const wrapped = at.secret(
    "wrapping token",
    (await at.ask("POST", "github/token", wrap)).json.wrap_info.token as string,
  );
  minted("minted and wrapped", await at.ask("POST", "sys/wrapping/unwrap", { token: wrapped }));
  await at.ask("POST", "sys/wrapping/unwrap", { token: wrapped });
  await at.ask("POST", "sys/wrapping/unwrap", { body: { token: wrapped } });
  at.secret(
    "wrapping token that waits",
    (await at.ask("POST", "github/token", wrap)).json.wrap_info.token as string,
  );
  return wrapped;
}

/** A platform that repeats what it was sent, and answers that nobody can read. */
async function echoes(at: Watched, host: Awaited<ReturnType<typeof startCodeHost>>): Promise<void> {
  const { json } = await at.ask("POST", "github/token", { body: { installation_id: 1001 } });
  const [token, id] = [
    at.secret("minted and echoed", json.data.token as string),
    json.lease_id as string,
  ];
  host.faults.next(
    "revoke",
    { kind: "status", status: 500, message: `cannot revoke ${token}, Bearer ${token}` },
    Number.POSITIVE_INFINITY,
  );
  await at.ask("PUT", "sys/leases/revoke", { body: { lease_id: id } });
  await at.ask("PUT", "sys/leases/revoke-prefix/github/token");
  const last = host.requests().revoke + 6;
  await vi.waitFor(
    async () => {
      // One that comes while a try is under way asks for nothing: its failure sets the next time.
      await at.ask("PUT", "sys/leases/revoke", { body: { lease_id: id, sync: false } });
      expect(host.requests().revoke).toBeGreaterThanOrEqual(last);
    },
    { timeout: 60_000, interval: 100 },
  );
  host.faults.clear("revoke");
  const authorization = at.secret("a platform's token in an error", `ghs_${"Zq9".repeat(12)}`);
  host.faults.next("mint", {
    kind: "status",
    status: 422,
    message: `Bad request with ${authorization} and eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiI3In0.c2ln`,
  });
  await at.ask("POST", "github/token", { body: { installation_id: 1001 } });
  host.faults.next("mint", { kind: "garbage", effect: true });
  await at.ask("POST", "github/token", { body: { installation_id: 1001 } });
  host.faults.next("mint", {
    kind: "patch",
    members: { expires_at: "never", token: at.sent("a token without an end") },
  });
  await at.ask("POST", "github/token", { body: { installation_id: 1001 } });
  host.faults.next("mint", {
    kind: "patch",
    members: {
      token: at.sent("a token that is leased"),
      extra: at.sent("a member of the platform's"),
    },
  });
  await at.ask("POST", "github/token", { body: { installation_id: 1001 } });
}

async function logins(at: Watched): Promise<void> {
  await at.ask("POST", "sys/auth/approle", { body: { type: "approle" } });
  await at.ask("POST", "auth/approle/role/ci", { body: { token_policies: "default" } });
  const role = (await at.ask("GET", "auth/approle/role/ci/role-id")).json.data.role_id as string;
  const made = at.secret(
    "secret id",
    (await at.ask("POST", "auth/approle/role/ci/secret-id", { body: {} })).json.data
      .secret_id as string,
  );
  const own = at.sent("secret id of one's own");
  await at.ask("POST", "auth/approle/role/ci/custom-secret-id", { body: { secret_id: own } });
  for (const secret of [made, own])
    at.secret(
      "token of a login",
      (
        await at.ask("POST", "auth/approle/login", {
          token: "",
          body: { role_id: role, secret_id: secret },
        })
      ).json.auth.client_token as string,
    );
  await at.ask("POST", "auth/approle/login", {
    token: "",
    body: { role_id: role, secret_id: at.sent("secret id that is none") },
  });
  await at.ask("POST", "auth/approle/role/ci/secret-id/lookup", { body: { secret_id: made } });
}

async function mistakes(at: Watched): Promise<void> {
  await at.ask("POST", "cubbyhole/mine", { body: { value: at.sent("cubbyhole") } });
  await at.ask("POST", "github/config", {
    body: {
      prv_key: `-----BEGIN RSA PRIVATE KEY-----\n${at.sent("a key that is none")}\n-----END RSA PRIVATE KEY-----`,
    },
  });
  await at.ask("POST", "github/config", { body: { app_id: at.sent("a key in the wrong field") } });
  await at.ask("POST", "github/config", {
    body: { base_url: `https://user:${at.sent("a password in the address")}@127.0.0.1:1/` },
  });
  await at.ask("POST", "github/config", { body: `{"prv_key":"${at.sent("a key in broken JSON")}` });
  await at.ask("POST", "github/config", { body: { prv_key: [at.sent("a key in a list")] } });
  await at.ask("POST", "github/token", {
    body: { installation_id: 1001, private: at.sent("a value of an unknown field") },
  });
  await at.ask("POST", "github/token", {
    headers: { "x-vault-wrap-ttl": "1h", cookie: `session=${at.sent("cookie")}` },
    body: { installation_id: {} },
  });
  await at.ask("PUT", "sys/unseal", {
    token: "",
    body: { key: at.sent("a key of the seal that is none") },
  });
  const handle = (data: unknown, token: string): Promise<{ text: string; status: number }> =>
    rest(
      at.vault.daemon,
      "POST",
      "/steward.tokens.v1.LogicalService/Handle",
      {
        operation: "OPERATION_UPDATE",
        path: "cubbyhole/other",
        data: Buffer.from(JSON.stringify(data)).toString("base64"),
      },
      { "x-vault-token": token, authorization: `Bearer ${token}`, "connect-protocol-version": "1" },
    );
  at.outputs["Connect"] = (
    await handle({ value: at.sent("cubbyhole by Connect") }, at.vault.root)
  ).text;
  at.outputs["Connect refused"] = (
    await handle(
      { value: at.sent("refused by Connect") },
      at.sent("a token of Connect that is none"),
    )
  ).text;
}

/** Everything that whoever may look can see. */
async function look(at: Watched): Promise<void> {
  for (const path of [
    "sys/health",
    "sys/seal-status",
    "sys/leases?type=irrevocable",
    "sys/leases/orphans",
    "sys/leases/count",
    "sys/mounts",
    "sys/auth",
    "sys/audit",
    "sys/internal/ui/mounts",
    "sys/internal/specs/openapi",
    "github/config",
    "github/info",
    "github/metrics",
    "github/doctor",
    "github/installations",
    "github/permissionset/ci",
    "github/config?help=1",
  ]) {
    const answer = await at.vault.ask("GET", path);
    at.outputs[`GET ${path}: ${answer.status}`] =
      `${JSON.stringify(answer.headers)}\n${answer.text}`;
  }
  for (const path of [
    "sys/leases/lookup/",
    "sys/leases/lookup/github/token",
    "auth/token/accessors",
    "auth/approle/role/ci/secret-id",
  ])
    at.outputs[`LIST ${path}`] = (await at.vault.ask("LIST", path)).text;
  for (const path of [
    "/",
    "/docs",
    "/openapi.json",
    "/api/v1/metrics",
    "/metrics",
    "/healthz",
    "/readyz",
    "/readyz?verbose=1",
    "/nowhere",
  ])
    at.outputs[path] = (await rest(at.vault.daemon, "GET", path)).text;
}

it("show in no log line, metric, span, audit line, refusal, page, listing or file, while the audit finds them by their hash", async () => {
  const receiver = await startReceiver({ protocol: "http" });
  onTestFinished(() => receiver.close());
  const host = await startCodeHost();
  onTestFinished(() => host.stop());
  const vault = await startVault({
    config: `logging: { level: debug }\ntracing: { enabled: true, sampler: always_on }\notlp: { protocol: http, endpoint: "${receiver.endpoint}", tls: { insecure: true }, metric_interval: 300ms }\n`,
    env: { OTEL_METRICS_SCRAPE_ENABLED: "true" },
  });
  const at = new Watched(vault);
  appKey.privateKey
    .split("\n")
    .slice(1, -2)
    .forEach((line, number) => at.secret(`line ${number} of the private key`, line));
  at.secret("the key of the store", readFileSync(join(vault.state, "tokens.key"), "utf8").trim());
  expect((await configure(vault, host)).status).toBe(204);
  await live(at);
  const used = await mints(at);
  await logins(at);
  await mistakes(at);
  await configure(vault, host);
  await echoes(at, host);
  await look(at);

  const audit = readFileSync(join(vault.state, "audit.log"), "utf8");
  for (const where of [
    "root token",
    "service token",
    "batch token",
    "minted by POST",
    "minted by GET",
    "secret id",
    "secret id of one's own",
    "token of a login",
    "cubbyhole",
  ]) {
    const value = at.secrets.find((secret) => secret.where === where)?.value;
    const { hash } = (await vault.ask("POST", "sys/audit-hash/file", { body: { input: value } }))
      .json.data as { hash: string };
    expect([where, hash, audit.includes(hash)]).toEqual([
      where,
      expect.stringMatching(/^hmac-sha256:[0-9a-f]{64}$/) as string,
      true,
    ]);
  }
  expect(
    (await vault.ask("POST", "sys/audit-hash/file", { body: { input: used } })).json.data.hash,
  ).toMatch(/^hmac-sha256:/);

  const running = filesOf(vault.state);
  expect(await vault.daemon.stop()).toEqual({ code: 0, signal: null });
  rmSync(join(vault.state, "tokens.key"));
  delete running["state file tokens.key"];
  expect(Object.keys(running)).toEqual(
    expect.arrayContaining(["state file tokens.mdb", "state file audit.log"]),
  );
  // The root token is shown once, on standard error and nowhere else.
  const shown = vault.daemon.stderr.filter((line) => line.includes(vault.root));
  expect(shown).toHaveLength(1);
  expect([
    receiver.logs().length > 5,
    receiver.spans().length > 20,
    receiver.points().length > 20,
  ]).toEqual([true, true, true]);
  const outputs: Outputs = {
    ...at.outputs,
    ...filesOf(vault.state),
    "standard output": vault.daemon.stdout.join("\n"),
    "standard error": vault.daemon.stderr.filter((line) => !shown.includes(line)).join("\n"),
    "exported logs": JSON.stringify(receiver.logs()),
    "exported spans": JSON.stringify(receiver.spans()),
    "exported metrics": JSON.stringify(receiver.points()),
    ...Object.fromEntries(
      Object.entries(running).map(([name, bytes]) => [`${name} while running`, bytes]),
    ),
  };
  expect(Object.keys(at.outputs).length).toBeGreaterThan(50);
  expect(at.secrets.length).toBeGreaterThan(50);
  expect(found(at.secrets, outputs)).toEqual([]);
  const der = Buffer.from(appKey.privateKey.split("\n").slice(1, -2).join(""), "base64");
  for (let from = 32; from + 16 < der.length; from += 97)
    expect(
      Object.entries(outputs).filter(([, bytes]) =>
        Buffer.from(bytes).includes(der.subarray(from, from + 16)),
      ),
    ).toEqual([]);
});
