/**
 * Logins with identity tokens: the commands and jobs of docs/oidc-login.md against an issuer and a
 * simulated GitHub, and what a restart must not forget.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { AUDIENCE, startIssuer } from "../support/oidc/issuer.ts";
import { cleanEnvironment, removeTemporaryFolders, temporaryFolder } from "./daemon.ts";
import { snippetsOf, startShell } from "./page-snippets.ts";
import { appKey, configure, startCodeHost, startVault, vaultRequest } from "./vault.ts";

afterAll(removeTemporaryFolders);

const page = readFileSync(join(import.meta.dirname, "../../docs/oidc-login.md"), "utf8");
const snippets = snippetsOf(page);
const missing = ["bash", "curl", "jq"].filter(
  (name) => spawnSync("sh", ["-c", `command -v ${name}`], { env: cleanEnvironment }).status !== 0,
);
const installation = {
  id: 1001,
  account: { login: "my-org", type: "Organization" as const },
  permissions: { metadata: "read", contents: "write" } as const,
  repositories: [{ id: 11, name: "web" }],
};

/** Where a runner of GitHub asks for its identity token. */
async function startRunner(token: (audience: string) => Promise<string>) {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? "", "http://runner");
    void token(searchParams.get("audience") ?? "").then((value) => {
      const isJob = request.headers.authorization === "bearer the-job";
      return response.writeHead(isJob ? 200 : 401).end(JSON.stringify({ value }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/token?api-version=2`;
}

describe.skipIf(missing.length > 0)("docs/oidc-login.md", () => {
  it("has commands and jobs that trade an identity token for a GitHub token", async () => {
    await using issuer = await startIssuer();
    const host = await startCodeHost({
      apps: [
        {
          id: 7,
          clientId: "Iv1.0123456789abcdef",
          slug: "my-app",
          publicKeys: [appKey.publicKey],
          installations: [installation],
        },
      ],
    });
    onTestFinished(() => host.stop());
    const vault = await startVault();
    onTestFinished(() => void vault.daemon.stop());
    await configure(vault, host);
    const work = temporaryFolder();
    const here = (text: string): string =>
      text
        .replaceAll("https://token.actions.githubusercontent.com", issuer.url)
        .replaceAll("https://api.github.com", host.url)
        .replaceAll("https://steward.example.org:8400", vault.daemon.url);
    const owner = startShell({
      cwd: work,
      env: { ...cleanEnvironment, VAULT_ADDR: vault.daemon.url, VAULT_TOKEN: vault.root },
    });
    onTestFinished(() => owner.close());
    for (const { text } of snippets.filter(({ language }) => language === "sh"))
      await owner.run(here(text));

    const [github = "", gitlab = ""] = snippets
      .filter(({ language }) => language === "yaml")
      .map(({ text }) => here(text));
    const runAs = async (env: Readonly<Record<string, string>>, script: string) => {
      const job = startShell({ cwd: work, env: { ...cleanEnvironment, ...env } });
      try {
        return (await job.run(`(${script}\n)`)).trim();
      } finally {
        await job.close();
      }
    };
    const { env, steps } = parse(github).jobs.deploy as {
      readonly env: Readonly<Record<string, string>>;
      readonly steps: readonly { readonly run: string }[];
    };
    const runner = {
      ...env,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: "the-job",
      ACTIONS_ID_TOKEN_REQUEST_URL: await startRunner((aud) => issuer.token({ aud })),
    };
    expect((await runAs(runner, steps[0]?.run ?? "")).split("\n").at(-1)).toBe("my-org/web");
    await expect.poll(() => host.liveTokens().length).toBe(0);
    const { variables, script } = parse(gitlab).deploy as {
      readonly variables: Readonly<Record<string, string>>;
      readonly script: readonly string[];
    };
    const jwt = await issuer.token();
    expect(await runAs({ ...variables, STEWARD_JWT: jwt }, script.join("\n"))).toBe("read");
    // What the page says of failures.
    const login = async (token: string) =>
      await vault.ask("POST", "auth/jwt/login", {
        token: "",
        body: { role: "deploy", jwt: token },
      });
    const answers = [
      await login(await issuer.token({ aud: "https://other.example.org" })),
      await login(`${(await issuer.token()).slice(0, -5)}AAAAA`),
      await login(jwt),
      await login(await issuer.token({ ref: "refs/heads/other" })),
    ];
    const rows = [...page.matchAll(/^\| `(error validating .*?)` \|/gm)].map(([, text]) => text);
    expect(answers.map(({ status, json }) => [status, json.errors])).toEqual(
      rows.map((text) => [400, [text]]),
    );
    const dead = await vault.ask("POST", "auth/jwt/config", {
      body: { jwks_url: "http://127.0.0.1:9/keys" },
    });
    expect([dead.status, dead.json.errors[0]]).toEqual([
      400,
      expect.stringContaining("error checking jwks_url"),
    ]);
  });
});

it("does not forget over a restart who has logged in, and renews by the role", async () => {
  await using issuer = await startIssuer();
  const state = temporaryFolder();
  const first = await startVault({ state });
  await first.ask("POST", "sys/auth/ci", { body: { type: "jwt" } });
  await first.ask("POST", "auth/ci/config", { body: { oidc_discovery_url: issuer.url } });
  const role = { bound_audiences: AUDIENCE, bound_subject: "me", token_ttl: "1m" };
  await first.ask("POST", "auth/ci/role/r", { body: { ...role, token_max_ttl: "1h" } });
  const jwt = await issuer.token({ sub: "me" });
  const body = { role: "r", jwt };
  const login = await vaultRequest(first.daemon.url, "POST", "auth/ci/login", { body });
  expect([login.status, login.json.auth.metadata]).toEqual([200, { role: "r" }]);
  expect(login.json.auth.lease_duration).toBe(60);
  await first.daemon.stop("SIGKILL");
  const second = await startVault({ state, root: first.root });
  const again = await vaultRequest(second.daemon.url, "POST", "auth/ci/login", { body });
  expect([again.status, again.json.errors]).toEqual([
    400,
    [expect.stringContaining("error validating token: it has logged in before; ")],
  ]);
  await second.ask("POST", "auth/ci/role/r", { body: { token_ttl: "10m" } });
  const renewed = await vaultRequest(second.daemon.url, "POST", "auth/token/renew-self", {
    token: login.json.auth.client_token as string,
  });
  expect(renewed.json.auth.lease_duration).toBe(600);
  await second.ask("DELETE", "auth/ci/role/r");
  const gone = await vaultRequest(second.daemon.url, "POST", "auth/token/renew-self", {
    token: login.json.auth.client_token as string,
  });
  expect(gone.json.errors[0]).toContain('role "r" does not exist during renewal');
  // Taking the mount away ends its tokens.
  await second.ask("DELETE", "sys/auth/ci");
  const ended = await vaultRequest(second.daemon.url, "GET", "auth/token/lookup-self", {
    token: login.json.auth.client_token as string,
  });
  expect(ended.status).toBe(403);
  const audit = readFileSync(join(state, "audit.log"), "utf8");
  expect(audit).not.toContain(jwt);
  await second.daemon.stop();
});
