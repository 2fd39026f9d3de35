/** The token cache of a mount (`token_cache_min_ttl`), on a running daemon. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import { removeTemporaryFolders, scrape } from "./daemon.ts";
import {
  configure,
  startCodeHost,
  startVault,
  type Asking,
  type VaultAnswer,
  type VaultDaemon,
} from "./vault.ts";

const CI = { installation_id: 1001, permissions: "contents=read", repositories: "web,api" };

/** The record of a request for a token of the permission set. */
const REQUESTED = /^(?=.*"type":"request").*"path":"github\/token\/ci"/gm;

let vault: VaultDaemon;
let host: CodeHost;

beforeAll(async () => {
  host = await startCodeHost();
  vault = await startVault({
    services: { dedup: false, monitor: false },
    config: 'scrape: { enabled: true, listen: "127.0.0.1:0" }',
  });
});
afterAll(async () => {
  await vault.daemon.stop();
  await host.stop();
  removeTemporaryFolders();
});

/** Every test begins without a lease, with an empty cache. */
beforeEach(async () => {
  host.faults.clear();
  await configure(vault, host, { token_cache_min_ttl: 0, max_permissions: "" });
  await configure(vault, host, { token_cache_min_ttl: "30m" });
  await vault.ask("PUT", "sys/leases/revoke-force/github");
  await vault.ask("POST", "github/permissionset/ci", { body: CI });
});

const mint = (path = "token/ci", asking: Asking = {}): Promise<VaultAnswer> =>
  vault.ask("POST", `github/${path}`, asking);

async function mintOk(path?: string, asking?: Asking): Promise<VaultAnswer["json"]> {
  const answer = await mint(path, asking);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.json;
}

/** How many calls to the platform some work takes. */
async function calls(operation: "mint" | "revoke", work: () => Promise<unknown>): Promise<number> {
  const before = host.requests()[operation];
  await work();
  return host.requests()[operation] - before;
}

const times = <T>(count: number, make: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => make(at)));

async function revoke({ lease_id }: { lease_id: string }): Promise<void> {
  const answer = await vault.ask("PUT", "sys/leases/revoke", { body: { lease_id } });
  expect(answer.status).toBe(204);
}

const lives = ({ data }: VaultAnswer["json"]): boolean =>
  host.liveTokens().some(({ hash }) => hash === data.hashed_token);

/** A token of the secrets manager. */
async function login(body: object = {}): Promise<string> {
  await vault.ask("PUT", "sys/policies/acl/minter", {
    body: { policy: 'path "github/*" { capabilities = ["create", "read", "update"] }' },
  });
  const answer = await vault.ask("POST", "auth/token/create", {
    body: { policies: ["minter"], display_name: "ci", ...body },
  });
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.json.auth.client_token;
}

/** Holds the next mint at the platform until so many requests for a token have come to the daemon. */
function holdMint(requests: number): void {
  const asked = (): number =>
    readFileSync(join(vault.state, "audit.log"), "utf8").match(REQUESTED)?.length ?? 0;
  const before = asked();
  const until = vi
    .waitFor(() => expect(asked()).toBe(before + requests), { timeout: 60_000 })
    // What is recorded after theirs is answered after they began to wait.
    .then(() => vault.ask("GET", "sys/mounts"));
  host.faults.next("mint", { kind: "hold", until });
}

async function metric(name: string): Promise<number> {
  const text = await scrape(vault.daemon);
  return Number(new RegExp(`^${name}\\{mount="github/"\\} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
}

describe("without token_cache_min_ttl", () => {
  it("each of N equal requests has a token of its own, and no answer speaks of a cache", async () => {
    await configure(vault, host, { token_cache_min_ttl: 0 });
    const { data } = (await vault.ask("GET", "github/config")).json;
    expect(Object.keys(data)).toEqual([
      "app_id",
      "base_url",
      "exclude_repository_metadata",
      "prv_key",
    ]);
    const answers: any[] = [];
    expect(
      await calls("mint", async () => void answers.push(...(await times(8, () => mintOk())))),
    ).toBe(8);
    expect(new Set(answers.map((answer) => answer.data.token)).size).toBe(8);
    expect(answers.every((answer) => !("reused" in answer.data))).toBe(true);
    expect(await calls("revoke", () => revoke(answers[0]))).toBe(1);
  });
});

describe("equal requests", () => {
  it("at once are one call and N leases; the token ends with the last of them", async () => {
    const hits = await metric("svc_tokens_cache_hits_total");
    const misses = await metric("svc_tokens_cache_misses_total");
    const answers: any[] = [];
    expect(
      await calls("mint", async () => void answers.push(...(await times(20, () => mintOk())))),
    ).toBe(1);
    expect(new Set(answers.map((answer) => answer.data.token)).size).toBe(1);
    expect(new Set(answers.map((answer) => answer.lease_id)).size).toBe(20);
    expect(answers.filter((answer) => answer.data.reused === false)).toHaveLength(1);
    expect(answers.filter((answer) => answer.data.reused === true)).toHaveLength(19);
    for (const { lease_duration: seconds } of answers) {
      expect(seconds).toBeGreaterThan(3_590);
      expect(seconds).toBeLessThanOrEqual(3_600);
    }
    const [last, ...others] = answers.toReversed();
    expect(await calls("revoke", () => times(19, (at) => revoke(others[at])))).toBe(0);
    expect(lives(last)).toBe(true);
    expect(await calls("revoke", () => revoke(last))).toBe(1);
    expect(lives(last)).toBe(false);
    // Scrapes within 250 ms share their values.
    await expect.poll(() => metric("svc_tokens_cache_hits_total")).toBe(hits + 19);
    expect(await metric("svc_tokens_cache_misses_total")).toBe(misses + 1);
  });

  it("revoked all at once leave no token alive", async () => {
    for (let round = 0; round < 5; round += 1) {
      const answers = await times(12, () => mintOk());
      expect(await calls("revoke", () => times(12, (at) => revoke(answers[at])))).toBe(1);
      expect(lives(answers[0])).toBe(false);
      expect((await vault.ask("LIST", "sys/leases/lookup/github/token/ci")).status).toBe(404);
    }
  });

  it("one after the other share, until the last lease is revoked: then a new token is minted", async () => {
    const first = await mintOk();
    const second = await mintOk();
    expect([first.data.reused, second.data.reused]).toEqual([false, true]);
    expect(second.data).toEqual({ ...first.data, reused: true });
    await revoke(first);
    const third = await mintOk();
    expect(third.data.token).toBe(first.data.token);
    await revoke(second);
    await revoke(third);
    expect(lives(first)).toBe(false);
    const fourth = await mintOk();
    expect([fourth.data.reused, lives(fourth)]).toEqual([false, true]);
    expect(fourth.data.token).not.toBe(first.data.token);
  });

  it("are equal however they are written, and differ by what they ask for", async () => {
    const first = await mintOk("token", { body: CI });
    const same = [
      { ...CI, repositories: ["API", "web", "api"] },
      { org_name: "Example-Org", permissions: { contents: "read" }, repositories: "api,web" },
    ];
    for (const body of same) {
      const { data } = await mintOk("token", { body });
      expect([body, data.token]).toEqual([body, first.data.token]);
      expect(data.org_name).toBe((body as { org_name?: string }).org_name);
    }
    const other = [
      { ...CI, repositories: "web" },
      { ...CI, permissions: "contents=write" },
      { ...CI, permissions: "contents=read,issues=read" },
      { ...CI, repositories: [], repository_ids: "11,12" },
      { installation_id: 1001, permissions: "contents=read" },
      { installation_id: 1002, permissions: "metadata=read" },
    ];
    for (const body of other) expect((await mintOk("token", { body })).data.reused).toBe(false);
    // The same scope through a permission set: its leases have a path of their own.
    expect((await mintOk("token/ci")).data.reused).toBe(false);
  });

  it("share only among logins with one name, role, policies and networks", async () => {
    const [first, twin, named, policed, bound] = [
      await login(),
      await login(),
      await login({ display_name: "deploy" }),
      await login({ policies: ["minter", "default"], no_default_policy: true }),
      await login({ policies: ["minter"], no_default_policy: true }),
    ];
    const reused = async (token: string) => (await mintOk("token/ci", { token })).data.reused;
    expect(await reused(first)).toBe(false);
    expect(await reused(twin)).toBe(true);
    expect(await reused(named)).toBe(false);
    expect(await reused(policed)).toBe(true);
    expect(await reused(bound)).toBe(false);
    expect((await mintOk()).data.reused).toBe(false);
  });

  it("of which one fails all fail, and nothing of it is kept", async () => {
    host.estate.change(1001, { suspendedAt: "2026-01-01T00:00:00Z" });
    holdMint(6);
    const statuses: number[] = [];
    expect(
      await calls(
        "mint",
        async () =>
          void statuses.push(...(await times(6, () => mint())).map(({ status }) => status)),
      ),
    ).toBe(1);
    host.estate.change(1001, { suspendedAt: null });
    expect(statuses).toEqual(Array.from({ length: 6 }, () => 400));
    expect((await mintOk()).data.reused).toBe(false);
    const { json } = await vault.ask("GET", "sys/leases/orphans");
    expect(json.data.orphans).toEqual([]);
  });

  it("do not suffer when one who waits goes away, even the first", async () => {
    holdMint(4);
    const gone = new AbortController();
    const before = host.requests().mint;
    const first = fetch(`${vault.daemon.url}/v1/github/token/ci`, {
      method: "POST",
      headers: { "x-vault-token": vault.root },
      signal: gone.signal,
    }).catch(() => "gone");
    await vi.waitFor(() => expect(host.requests().mint).toBe(before + 1), { timeout: 60_000 });
    const others = times(3, () => mintOk());
    gone.abort();
    expect(await first).toBe("gone");
    expect((await others).map((answer) => answer.data.reused)).toEqual([true, true, true]);
    expect(host.requests().mint).toBe(before + 1);
  });

  it("do not share once the token has less than the minimum left", async () => {
    await configure(vault, host, { token_cache_min_ttl: "55m" });
    host.faults.next("mint", {
      kind: "patch",
      members: { expires_at: new Date(Date.now() + 54 * 60_000).toISOString() },
    });
    const [short, next] = [await mintOk(), await mintOk()];
    expect([short.data.reused, next.data.reused]).toEqual([false, false]);
    expect((await mintOk()).data.token).toBe(next.data.token);
  });
});

describe("a held token is not handed out again", () => {
  it.each<[string, () => Promise<unknown>]>([
    ["after the configuration changed", () => configure(vault, host, { strict_scopes: true })],
    [
      "after its permission set was written",
      () => vault.ask("POST", "github/permissionset/ci", { body: CI }),
    ],
    [
      "after its permission set was deleted and written again",
      async () => {
        await vault.ask("DELETE", "github/permissionset/ci");
        await vault.ask("POST", "github/permissionset/ci", { body: CI });
      },
    ],
    [
      "after the mount was tuned",
      () => vault.ask("POST", "sys/mounts/github/tune", { body: { max_lease_ttl: "50m" } }),
    ],
  ])("%s; the leases it has stay", async (_, change) => {
    const first = await mintOk();
    await change();
    const second = await mintOk();
    expect([second.data.reused, lives(first), lives(second)]).toEqual([false, true, true]);
    await revoke(first);
    expect([lives(first), lives(second)]).toEqual([false, true]);
    await configure(vault, host, { strict_scopes: false });
    await vault.ask("POST", "sys/mounts/github/tune", { body: { max_lease_ttl: "0" } });
  });

  it.each(["sys/leases/revoke-prefix/github/token/ci", "sys/leases/revoke-force/github/token"])(
    "after %s, waiting or not, which ends it",
    async (path) => {
      for (const sync of [true, false]) {
        const [first] = await times(3, () => mintOk());
        await vault.ask("PUT", path, { body: { sync } });
        const next = await mintOk();
        expect(next.data.reused).toBe(false);
        await vi.waitFor(() => expect([lives(first), lives(next)]).toEqual([false, true]), {
          timeout: 60_000,
        });
      }
    },
  );

  it("after the platform could not be asked to revoke it", async () => {
    const first = await mintOk();
    host.faults.next("revoke", { kind: "status", status: 500 });
    const { status } = await vault.ask("PUT", "sys/leases/revoke", {
      body: { lease_id: first.lease_id },
    });
    expect(status).toBeGreaterThanOrEqual(400);
    expect((await mintOk()).data.reused).toBe(false);
    await revoke(first);
    expect(lives(first)).toBe(false);
  });

  it("after its mount was taken away, which revokes it", async () => {
    await vault.ask("POST", "sys/mounts/gone", { body: { type: "github" } });
    const config = (await vault.ask("GET", "github/config")).json.data;
    expect(config.token_cache_min_ttl).toBe(1_800);
    await configureAt("gone");
    const [first] = await times(4, () => mintOk2("gone/token"));
    expect(await calls("revoke", () => vault.ask("DELETE", "sys/mounts/gone"))).toBe(1);
    expect(lives(first)).toBe(false);
  });

  it("when the response is to be wrapped, and a wrapped one is not kept", async () => {
    const headers = { "x-vault-wrap-ttl": "60" };
    const first = await mintOk();
    const wrapped = await mintOk("token/ci", { headers });
    const inside = await vault.ask("POST", "sys/wrapping/unwrap", {
      token: wrapped.wrap_info.token,
    });
    expect(inside.json.data.token).not.toBe(first.data.token);
    expect("reused" in inside.json.data).toBe(false);
    expect((await mintOk()).data.token).toBe(first.data.token);
  });
});

async function configureAt(mount: string): Promise<void> {
  const { appKey } = await import("./vault.ts");
  const body = { app_id: 7, prv_key: appKey.privateKey, base_url: host.url };
  const answer = await vault.ask("POST", `${mount}/config`, {
    body: { ...body, token_cache_min_ttl: 1_800 },
  });
  expect(answer.status).toBe(204);
}

const mintOk2 = async (path: string): Promise<VaultAnswer["json"]> =>
  (await vault.ask("POST", path, { body: { installation_id: 1001 } })).json;

describe("the lease of a shared token", () => {
  it("ends with its own login only", async () => {
    const [one, other] = [await login(), await login()];
    const first = await mintOk("token/ci", { token: one });
    const second = await mintOk("token/ci", { token: other });
    expect(second.data.reused).toBe(true);
    await vault.ask("POST", "auth/token/revoke", { body: { token: one } });
    await vi.waitFor(
      async () => {
        const { status } = await vault.ask("PUT", "sys/leases/lookup", {
          body: { lease_id: first.lease_id },
        });
        expect(status).toBe(400);
      },
      { timeout: 60_000 },
    );
    expect(lives(second)).toBe(true);
    await vault.ask("POST", "auth/token/revoke", { body: { token: other } });
    await vi.waitFor(() => expect(lives(second)).toBe(false), { timeout: 60_000 });
  });

  it("of a batch token ends with that token's life, and holds the token until then", async () => {
    const child = { type: "batch", ttl: "10m" };
    const [one, other] = [await login(child), await login(child)];
    const first = await mintOk("token/ci", { token: one });
    const second = await mintOk("token/ci", { token: other });
    expect([first.data.reused, second.data.reused]).toEqual([false, true]);
    expect(second.lease_duration).toBeLessThanOrEqual(600);
    await revoke(first);
    expect(lives(second)).toBe(true);
    await revoke(second);
    expect(lives(second)).toBe(false);
  });

  it("is in the audit with the hash of its token: one hash, two leases", async () => {
    const [first, second] = [await mintOk(), await mintOk()];
    const records = readFileSync(join(vault.state, "audit.log"), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === "response");
    const [one, two] = [first, second].map(({ lease_id: id }) =>
      records.find(({ response }) => response?.secret?.lease_id === id),
    );
    expect(one.response.data.hashed_token).toMatch(/^hmac-sha256:/);
    expect(two.response.data.hashed_token).toBe(one.response.data.hashed_token);
    expect([one.response.data.reused, two.response.data.reused]).toEqual([false, true]);
  });

  it("is marked on the page, beside the mount's token cache", async () => {
    await mintOk();
    const json = await (await fetch(`${vault.daemon.url}/api/tokens.json`)).json();
    expect(json.mounts[0].token_cache_min_ttl).toBe("30m0s");
    expect(json.newest_leases[0].shared).toBe(true);
    const page = await (await fetch(`${vault.daemon.url}/tokens`)).text();
    expect(page).toContain("may share its token");
    expect(page).toContain("Token cache");
  });
});

describe("token_cache_min_ttl", () => {
  it.each(["59s", "56m", "-1m", 3_301, "soon"])("%s is refused", async (value) => {
    const answer = await configure(vault, host, { token_cache_min_ttl: value });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("token_cache_min_ttl");
    const { data } = (await vault.ask("GET", "github/config")).json;
    expect(data.token_cache_min_ttl).toBe(1_800);
  });

  it.each([60, "1m", "3300", "55m"])("%s is taken", async (value) => {
    expect((await configure(vault, host, { token_cache_min_ttl: value })).status).toBe(204);
  });
});

describe("after a restart", () => {
  it.each(["SIGKILL", "SIGTERM"] as const)(
    "by %s the leases hold the token as before, and it is not handed out again",
    async (signal) => {
      const own = await startVault({ services: { dedup: false, monitor: false } });
      await configure(own, host, { token_cache_min_ttl: "30m" });
      const body = { installation_id: 1001 };
      const answers = await times(
        3,
        async () => (await own.ask("POST", "github/token", { body })).json,
      );
      await own.daemon.stop(signal);
      const again = await startVault({
        state: own.state,
        root: own.root,
        services: { dedup: false, monitor: false },
      });
      const end = (answer: any) =>
        again.ask("PUT", "sys/leases/revoke", { body: { lease_id: answer.lease_id } });
      const next = (await again.ask("POST", "github/token", { body })).json;
      expect(next.data.reused).toBe(false);
      await end(answers[0]);
      await end(answers[1]);
      expect(lives(answers[2])).toBe(true);
      await end(answers[2]);
      expect([lives(answers[2]), lives(next)]).toEqual([false, true]);
      await again.daemon.stop();
    },
  );
});
