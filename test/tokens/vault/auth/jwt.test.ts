import { createSecretKey } from "node:crypto";
import fc from "fast-check";
import { generateKeyPair, SignJWT, type CryptoKey } from "jose";
import { describe, expect, it } from "vitest";
import type { Data } from "../../../../src/tokens/logical/types.ts";
import { matchesGlob, unfitClaim } from "../../../../src/tokens/vault/auth/jwt/claims.ts";
import { AUDIENCE, startIssuer, type Issuer } from "../../../support/oidc/issuer.ts";
import { createAuthBench, type AuthBench } from "../fixtures/auth.ts";
import { HOUR_MS } from "../fixtures/tokens.ts";

const MINUTE_MS = 60_000;

interface Ci extends AsyncDisposable {
  readonly bench: AuthBench;
  readonly issuer: Issuer;
  readonly login: (jwt: string, data?: Data, from?: string) => ReturnType<AuthBench["grant"]>;
}

const ROLE = {
  bound_audiences: AUDIENCE,
  bound_claims: { repository_id: "11", ref: ["refs/heads/main", "refs/heads/next"] },
  claim_mappings: { repository: "repository", actor: "actor" },
  token_policies: "deploy",
  token_ttl: "15m",
};

async function createCi(role: Data = {}, config: Data = {}): Promise<Ci> {
  const bench = await createAuthBench();
  const issuer = await startIssuer(() => bench.clock.now());
  await bench.deps.policies.write("deploy", 'path "x" { policy = "read" }');
  await bench.ask("create", "auth/jwt/config", {
    data: { oidc_discovery_url: issuer.url, default_role: "ci", ...config },
  });
  await bench.ask("create", "auth/jwt/role/ci", { data: { ...ROLE, ...role } });
  return {
    bench,
    issuer,
    login: (jwt, data = { role: "ci" }, from) =>
      bench.grant("auth/jwt/login", {
        token: undefined,
        data: { jwt, ...data },
        ...(from === undefined ? {} : { from }),
      }),
    [Symbol.asyncDispose]: () => issuer[Symbol.asyncDispose](),
  };
}

describe("a login with an identity token", () => {
  it("gives a token with the role's policies, named after the job", async () => {
    await using ci = await createCi();
    const { entry, ttlMs } = await ci.login(await ci.issuer.token({ actor: "ada" }));
    expect(entry).toMatchObject({
      policies: ["default", "deploy"],
      displayName: "jwt-repo:my-org/web:ref:refs/heads/main",
      path: "auth/jwt/login",
      meta: { role: "ci", repository: "my-org/web", actor: "ada" },
    });
    expect(ttlMs).toBe(15 * MINUTE_MS);
    // The role of the configuration, and one of several values.
    const next = await ci.login(await ci.issuer.token({ ref: "refs/heads/next" }), {});
    expect(next.entry.meta).toMatchObject({ role: "ci" });
  });

  it.each<[string, Data, string]>([
    ["of another issuer", { iss: "https://other.example.org" }, "iss claim does not match"],
    ["with the issuer's address and a slash", { iss: "/" }, "iss claim does not match"],
    ["without an issuer", { iss: undefined }, "iss claim is missing"],
    ["for another audience", { aud: "https://other.example.org" }, "aud claim does not match"],
    ["for several others", { aud: ["a", "b"] }, "aud claim does not match"],
    ["without an audience", { aud: undefined }, "aud claim does not match"],
    ["that expired", { exp: 1_000 }, "token is expired"],
    ["without an end", { exp: undefined }, "exp claim is missing"],
    ["of another repository", { repository_id: "12" }, 'claim "repository_id" does not match'],
    ["without the claim", { repository_id: undefined }, 'claim "repository_id" does not match'],
    ["with an object for it", { repository_id: { "11": true } }, 'claim "repository_id"'],
    ["of another branch", { ref: "refs/heads/main2" }, 'claim "ref" does not match'],
    ["in another case", { ref: "refs/heads/MAIN" }, 'claim "ref" does not match'],
    ["without a holder", { sub: undefined }, 'claim "sub" not found in token'],
  ])("%s is refused", async (_what, claims, why) => {
    await using ci = await createCi();
    await expect(ci.login(await ci.issuer.token(claims))).rejects.toThrow(why);
  });

  it("that is not valid yet is refused beyond the clocks' difference", async () => {
    await using ci = await createCi();
    const seconds = Math.floor(ci.bench.clock.now() / 1_000);
    await ci.login(await ci.issuer.token({ nbf: seconds + 50 }));
    await expect(ci.login(await ci.issuer.token({ nbf: seconds + 70 }))).rejects.toThrow(
      "token is not valid yet",
    );
    await ci.bench.ask("update", "auth/jwt/role/ci", { data: { clock_skew_leeway: 0 } });
    await expect(ci.login(await ci.issuer.token({ nbf: seconds + 2 }))).rejects.toThrow(
      "token is not valid yet",
    );
  });

  it("signed by somebody else, with a shared secret or not at all is refused", async () => {
    await using ci = await createCi();
    const { privateKey } = await generateKeyPair("RS256");
    const no = "no known key successfully validated the token signature";
    await expect(ci.login(await ci.issuer.token({}, { key: privateKey }))).rejects.toThrow(no);
    const shared = createSecretKey(Buffer.from("secret"));
    const symmetric = await new SignJWT({ iss: ci.issuer.url, exp: 9e9 })
      .setProtectedHeader({ alg: "HS256", kid: "shared" })
      .sign(shared);
    await expect(ci.login(symmetric)).rejects.toThrow("jwt_supported_algs");
    const [, payload = ""] = (await ci.issuer.token()).split(".");
    const none = Buffer.from('{"alg":"none"}').toString("base64url");
    await expect(ci.login(`${none}.${payload}.`)).rejects.toThrow("jwt_supported_algs");
    for (const text of ["", "abc", "a.b.c", "x".repeat(40_000)])
      await expect(ci.login(text)).rejects.toMatchObject({ code: "invalid" });
    const whole = await ci.issuer.token();
    await expect(ci.login(`${whole.slice(0, -4)}AAAA`)).rejects.toThrow(no);
  });

  it("that names no key is tried with each that the issuer has", async () => {
    await using ci = await createCi();
    const first = ci.issuer.key();
    await ci.issuer.add();
    const second = ci.issuer.key();
    const { privateKey: third } = await generateKeyPair("RS256");
    const signedBy = (key: CryptoKey): Promise<string> =>
      ci.issuer.token({}, { key, kid: undefined });
    for (const key of [first, second]) await ci.login(await signedBy(key));
    await expect(ci.login(await signedBy(third))).rejects.toThrow(
      "no known key successfully validated the token signature",
    );
    const expired = await ci.issuer.token({ exp: 1_000 }, { key: second, kid: undefined });
    await expect(ci.login(expired)).rejects.toThrow("token is expired");
  });

  it("that names no key is accepted by a key that the issuer took meanwhile", async () => {
    await using ci = await createCi();
    await ci.login(await ci.issuer.token({}, { kid: undefined }));
    await ci.issuer.rotate();
    await ci.bench.clock.advance(MINUTE_MS);
    await ci.login(await ci.issuer.token({}, { kid: undefined }));
  });

  it("happens once for each, also at the same time and for a token without an id", async () => {
    await using ci = await createCi();
    const jwt = await ci.issuer.token();
    const both = await Promise.allSettled([ci.login(jwt), ci.login(jwt)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    await expect(ci.login(jwt)).rejects.toThrow("it has logged in before");
    const without = await ci.issuer.token({ jti: undefined });
    await ci.login(without);
    await expect(ci.login(without)).rejects.toThrow("it has logged in before");
    // The same id of another issuer is another token; the same id in a new token is not.
    await expect(ci.login(await ci.issuer.token({ jti: "job-99" }))).resolves.toBeDefined();
    await expect(ci.login(await ci.issuer.token({ jti: "job-99" }))).rejects.toThrow("before");
    await ci.bench.ask("update", "auth/jwt/role/ci", { data: { single_use: false } });
    await ci.login(jwt);
  });

  it("is not used up by a refusal, and forgotten once it has expired", async () => {
    await using ci = await createCi();
    const jwt = await ci.issuer.token({ ref: "refs/heads/other" });
    await expect(ci.login(jwt)).rejects.toThrow("ref");
    await ci.bench.ask("update", "auth/jwt/role/ci", {
      data: { bound_claims: '{"repository_id": "11"}' },
    });
    await ci.login(jwt);
    const { storage } = ci.bench.mounted;
    expect(await storage.list("used/")).toHaveLength(1);
    await ci.bench.clock.advance(HOUR_MS);
    await expect(ci.login(jwt)).rejects.toThrow("token is expired");
    await ci.login(await ci.issuer.token());
    expect(await storage.list("used/")).toHaveLength(1);
  });

  it("is remembered until no role could accept it, whatever its clock_skew_leeway becomes", async () => {
    await using ci = await createCi({ clock_skew_leeway: 0 });
    const jwt = await ci.issuer.token();
    await ci.login(jwt);
    await ci.bench.clock.advance(8 * MINUTE_MS);
    await ci.login(await ci.issuer.token());
    await ci.bench.ask("update", "auth/jwt/role/ci", { data: { clock_skew_leeway: 300 } });
    await expect(ci.login(jwt)).rejects.toThrow("it has logged in before");
  });

  it("comes from the role's addresses only", async () => {
    await using ci = await createCi({ token_bound_cidrs: "10.0.0.0/8" });
    await expect(ci.login(await ci.issuer.token(), { role: "ci" }, "192.0.2.1")).rejects.toThrow(
      "invalid CIDR",
    );
    await ci.login(await ci.issuer.token(), { role: "ci" }, "10.1.2.3");
  });
});

describe("the renewal of a login's token", () => {
  it("stays within the mount's TTLs as they are now", async () => {
    await using ci = await createCi({ token_ttl: 0 });
    const { bench } = ci;
    Object.assign(bench.mountLimits, { defaultLeaseTtlMs: HOUR_MS, maxLeaseTtlMs: 2 * HOUR_MS });
    const token = await ci.login(await ci.issuer.token());
    const renew = (increment: string) =>
      bench.ask("update", "auth/token/renew-self", { token, data: { increment } });
    expect(token.ttlMs).toBe(HOUR_MS);
    expect(await renew("0")).toMatchObject({ auth: { ttlMs: HOUR_MS } });
    expect(await renew("700h")).toMatchObject({ auth: { ttlMs: 2 * HOUR_MS } });
    bench.mountLimits.maxLeaseTtlMs = HOUR_MS / 2;
    expect(await renew("700h")).toMatchObject({ auth: { ttlMs: HOUR_MS / 2 } });
  });
});

describe("the issuer's keys", () => {
  it("are fetched again for a key that is not known, at most twice a minute", async () => {
    await using ci = await createCi();
    await ci.login(await ci.issuer.token());
    await ci.bench.clock.advance(MINUTE_MS);
    await ci.issuer.rotate("ES256");
    await ci.login(await ci.issuer.token());
    const asked = ci.issuer.requests.length;
    await ci.issuer.rotate("EdDSA");
    for (let times = 0; times < 3; times += 1)
      await expect(ci.login(await ci.issuer.token())).rejects.toThrow("no known key");
    expect(ci.issuer.requests.length).toBe(asked);
    await ci.bench.clock.advance(MINUTE_MS);
    await ci.login(await ci.issuer.token());
  });

  it("hold for a day while the issuer does not answer", async () => {
    await using ci = await createCi();
    await ci.login(await ci.issuer.token());
    ci.issuer.fault = { status: 500, body: "" };
    await ci.bench.clock.advance(23 * HOUR_MS);
    await ci.login(await ci.issuer.token());
    await ci.bench.clock.advance(2 * HOUR_MS);
    await expect(ci.login(await ci.issuer.token())).rejects.toMatchObject({ code: "upstream" });
    ci.issuer.fault = undefined;
    await ci.bench.clock.advance(MINUTE_MS);
    await ci.login(await ci.issuer.token());
  });

  it("may be given, or come from an address without discovery", async () => {
    await using ci = await createCi();
    const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
    const other = await generateKeyPair("RS256", { extractable: true });
    const pem = async (key: CryptoKey): Promise<string> =>
      `-----BEGIN PUBLIC KEY-----\n${Buffer.from(await crypto.subtle.exportKey("spki", key)).toString("base64")}\n-----END PUBLIC KEY-----`;
    await ci.bench.ask("update", "auth/jwt/config", {
      data: {
        jwt_validation_pubkeys: [await pem(other.publicKey), await pem(publicKey)],
        bound_issuer: ci.issuer.url,
      },
    });
    await ci.login(await ci.issuer.token({}, { key: privateKey, alg: "ES256" }));
    await expect(ci.login(await ci.issuer.token())).rejects.toThrow("no known key");
    const warned = await ci.bench.ask("update", "auth/jwt/config", {
      data: { jwks_url: `${ci.issuer.url}/keys` },
    });
    expect(warned?.warnings).toEqual([expect.stringContaining("bound_issuer is not set")]);
    await ci.login(await ci.issuer.token({ iss: "anybody" }));
  });
});

describe("what cannot be configured", () => {
  it.each<[string, Data, string]>([
    ["nothing", {}, "exactly one of"],
    ["two", { jwks_url: "https://a", oidc_discovery_url: "https://a" }, "exactly one of"],
    ["plain http", { jwks_url: "http://keys.example.org/" }, "must be an https address"],
    ["credentials", { jwks_url: "https://a:b@keys.example.org/" }, "must be an https address"],
    ["another scheme", { oidc_discovery_url: "file:///etc/passwd" }, "must be an https address"],
    ["the metadata service", { jwks_url: "https://169.254.169.254/" }, "error checking jwks_url"],
    ["a browser's login", { oidc_client_id: "x" }, "logins with a browser are not supported"],
    ["no key", { jwt_validation_pubkeys: "abc" }, "error parsing public key"],
  ])("%s", async (_what, data, why) => {
    const bench = await createAuthBench();
    await expect(bench.ask("create", "auth/jwt/config", { data })).rejects.toThrow(why);
    expect(await bench.ask("read", "auth/jwt/config")).toBeUndefined();
  });

  it.each<[string, { status: number; body: string }, string]>([
    ["fails", { status: 500, body: "" }, "status 500"],
    ["redirects", { status: 302, body: "" }, "status 302"],
    ["answers a page", { status: 200, body: "<html>" }, "is no JSON document"],
    ["answers without end", { status: 200, body: " ".repeat(300_000) }, "TOO_LARGE"],
    ["has no keys", { status: 200, body: '{"keys": []}' }, "no key for signatures"],
  ])("an address that %s", async (_what, fault, why) => {
    await using issuer = await startIssuer();
    issuer.fault = fault;
    const bench = await createAuthBench();
    await expect(
      bench.ask("create", "auth/jwt/config", { data: { jwks_url: `${issuer.url}/keys` } }),
    ).rejects.toThrow(why);
  });

  it("an issuer that calls itself otherwise", async () => {
    await using issuer = await startIssuer();
    issuer.called = `${issuer.url}/`;
    const bench = await createAuthBench();
    await expect(
      bench.ask("create", "auth/jwt/config", { data: { oidc_discovery_url: issuer.url } }),
    ).rejects.toThrow("calls itself");
  });

  it.each<[Data, string]>([
    [{ bound_audiences: "", bound_claims: "" }, "at least one bound constraint"],
    [{ role_type: "oidc" }, "invalid 'role_type'"],
    [{ bound_claims: "repository_id=11" }, "bound_claims must be a JSON object"],
    [{ bound_claims: { a: {} } }, '"a" must be a text or a list'],
    [{ bound_claims: { a: [] } }, '"a" must be a text or a list'],
    [{ bound_claims_type: "regex" }, "invalid 'bound_claims_type'"],
    [{ claim_mappings: { sub: "role" } }, "must have a name other than role"],
    [{ clock_skew_leeway: "1h" }, "from 0 to 300 seconds"],
    [{ token_policies: "root" }, "auth methods cannot create root tokens"],
    [{ token_type: "odd" }, "invalid 'token_type'"],
  ])("a role with %j", async (data, why) => {
    await using ci = await createCi();
    await expect(ci.bench.ask("update", "auth/jwt/role/ci", { data })).rejects.toThrow(why);
  });
});

describe("roles", () => {
  it("are read as they are written, listed and deleted", async () => {
    await using ci = await createCi({ bound_subject: "x", token_num_uses: 3 });
    expect(await ci.bench.data("read", "auth/jwt/role/CI")).toEqual({
      allowed_redirect_uris: null,
      bound_audiences: [AUDIENCE],
      bound_claims: { repository_id: "11", ref: ["refs/heads/main", "refs/heads/next"] },
      bound_claims_type: "string",
      bound_subject: "x",
      claim_mappings: { repository: "repository", actor: "actor" },
      clock_skew_leeway: 60,
      role_type: "jwt",
      single_use: true,
      token_bound_cidrs: [],
      token_explicit_max_ttl: 0,
      token_max_ttl: 0,
      token_no_default_policy: false,
      token_num_uses: 3,
      token_period: 0,
      token_policies: ["deploy"],
      token_strictly_bind_ip: false,
      token_ttl: 900,
      token_type: "default-service",
      user_claim: "sub",
    });
    expect(await ci.bench.data("list", "auth/jwt/role/")).toEqual({ keys: ["ci"] });
    expect(await ci.bench.data("read", "auth/jwt/config")).toMatchObject({
      oidc_discovery_url: ci.issuer.url,
      default_role: "ci",
    });
    await ci.bench.ask("delete", "auth/jwt/role/ci");
    await expect(ci.login(await ci.issuer.token())).rejects.toThrow('role "ci" could not be found');
  });

  it("warn of names that change hands, and of audiences that bind nobody", async () => {
    await using ci = await createCi();
    const write = async (data: Data) =>
      (await ci.bench.ask("update", "auth/jwt/role/other", { data }))?.warnings ?? [];
    expect(await write({ bound_audiences: "a" })).toEqual([
      expect.stringContaining("everybody to whom the issuer gives a token"),
    ]);
    expect(await write({ bound_claims: { repository: "my-org/web" } })).toEqual([
      expect.stringContaining("bind repository_id, too"),
    ]);
    expect(
      await write({ bound_claims: { repository: "my-org/web", repository_id: "11" } }),
    ).toEqual([]);
  });
});

describe("claims", () => {
  it("fit by name or JSON pointer, and with one entry of a list", () => {
    const claims = { groups: ["a", "b"], n: 7, "x.y/z": { "a/b": true } };
    const fits = (bound: Record<string, string[]>): boolean =>
      unfitClaim(claims, bound, { globs: false }) === undefined;
    expect(fits({ groups: ["b"], n: ["7"], "/x.y~1z/a~1b": ["true"] })).toBe(true);
    expect([
      fits({ groups: ["c"] }),
      fits({ toString: ["x"] }),
      fits({ "/groups/9": [""] }),
    ]).toEqual([false, false, false]);
  });

  it("match globs as a regular expression of the same meaning does", () => {
    const some = fc.stringMatching(/^[ab*]{0,8}$/);
    fc.assert(
      fc.property(fc.stringMatching(/^[ab]{0,10}$/), some, (text, pattern) => {
        const expression = new RegExp(`^${pattern.replaceAll("*", ".*")}$`);
        expect(matchesGlob(text, pattern)).toBe(expression.test(text));
      }),
    );
  });
});
