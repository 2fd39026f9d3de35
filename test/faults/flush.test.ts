/**
 * What a running daemon acknowledges is on the disk before the first byte of the answer leaves. A
 * library sees each write, flush and answer (shim/flush.c) and makes flushes slow, so that an
 * answer that does not wait for one overtakes it.
 *
 * Checked by breaking it: each of these turns tests here red.
 * - `noSync: true` or `noMetaSync: true` in `src/kernel/state/file/lmdb-file.ts`;
 * - `O_DSYNC` left out in `src/tokens/vault/audit/file-sink.ts`;
 * - the write queue resolving before `storeAll` (`src/kernel/state/writes/write-queue.ts`);
 * - a write that is not awaited: in dedup's API, jobs, tokens, AppRole's and mounts' storage,
 *   policies, cubbyhole, wrapping, leases, the audit's records, and CORS.
 */
import { request } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CodeHost } from "../../src/demo/code-host/code-host.ts";
import { smallArchive, writeFiles } from "../contract/corpus.ts";
import { jobEnd, removeTemporaryFolders, rest, temporaryFolder } from "../contract/daemon.ts";
import {
  configure,
  startCodeHost,
  startVault,
  type Asking,
  type VaultDaemon,
} from "../contract/vault.ts";
import { buildShim } from "./shim/build.ts";
import {
  aroundAnswer,
  commitsOf,
  createFlushLog,
  type FlushLog,
  type Written,
} from "./shim/flush.ts";

const library = buildShim("flush");
/** Longer than anything between a write and its answer takes, see flush.c. */
const SLOW_FLUSH_MS = 40;

let vault: VaultDaemon;
let host: CodeHost;
let log: FlushLog;
const path = (file: string): string => join(vault.state, file);
const port = (): number => Number(new URL(vault.daemon.url).port);

beforeAll(async () => {
  if (library === undefined) return;
  const [state, papers] = [temporaryFolder(), temporaryFolder()];
  writeFiles(papers, smallArchive);
  log = createFlushLog(library, state);
  host = await startCodeHost();
  vault = await startVault({
    state,
    env: { ...log.env, STEWARD_SERVICES__DEDUP: "true" },
    config: `dedup: { archives: [{ name: papers, kind: folder, path: ${papers} }], analysis: { auto_analyze: false } }\n`,
  });
  await configure(vault, host);
});

afterAll(async () => {
  if (library !== undefined) {
    await vault.daemon.stop();
    await host.stop();
  }
  removeTemporaryFolders();
});

interface Acknowledged {
  /** Until the first byte of the answer. */
  readonly before: readonly Written[];
  readonly after: readonly Written[];
  readonly answer: { readonly status: number; readonly json: any };
}

/** Does one request with slow flushes and divides what was written at its answer. */
async function acknowledged(act: () => Promise<Acknowledged["answer"]>): Promise<Acknowledged> {
  let answer: Acknowledged["answer"] | undefined;
  const written = await log.during(async () => {
    log.slowFlushes(SLOW_FLUSH_MS);
    answer = await act();
    log.slowFlushes(0);
  });
  const around = aroundAnswer(written, port());
  if (around === undefined || answer === undefined) throw new Error("no answer was seen");
  return { ...around, answer };
}

/** A REST call on a connection of its own, so that its answer is told from others. */
function once(method: string, url: string, body?: unknown): Promise<Acknowledged["answer"]> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${vault.daemon.url}${url}`,
      { method, agent: false, headers: { "content-type": "application/json" } },
      (answer) => {
        json(answer).then(
          (value) => resolve({ status: answer.statusCode ?? 0, json: value }),
          () => resolve({ status: answer.statusCode ?? 0, json: undefined }),
        );
      },
    );
    sent.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** One acknowledged write of the secrets manager. */
interface TokensWrite {
  readonly name: string;
  /** Commits that come one after the other and before the answer; 1 unless said otherwise. */
  readonly commits?: number;
  /** Something that goes on after the answer. */
  readonly goesOn?: boolean;
  /** Makes what the request needs, and gives it. */
  request(): Promise<readonly [method: string, path: string, asking?: Asking]>;
}

async function newToken(body: object = {}): Promise<string> {
  return (await vault.ask("POST", "auth/token/create", { body: { ttl: "1h", ...body } })).json.auth
    .client_token as string;
}

async function newRole(
  body: object = {},
): Promise<{ readonly role_id: string; readonly secret_id: string }> {
  await vault.ask("POST", "sys/auth/approle", { body: { type: "approle" } });
  await vault.ask("POST", "auth/approle/role/app", {
    body: { token_policies: "default", ...body },
  });
  const roleId = (await vault.ask("GET", "auth/approle/role/app/role-id")).json.data
    .role_id as string;
  return {
    role_id: roleId,
    secret_id: (
      await vault.ask("POST", "auth/approle/role/app/secret-id", { body: { num_uses: 5 } })
    ).json.data.secret_id as string,
  };
}

async function newLease(): Promise<string> {
  return (await vault.ask("POST", "github/token", { body: { installation_id: 1001 } })).json
    .lease_id as string;
}

async function wrapped(): Promise<string> {
  return (
    await vault.ask("GET", "sys/policies/acl/default", { headers: { "x-vault-wrap-ttl": "1h" } })
  ).json.wrap_info.token as string;
}

const tokensWrites: readonly TokensWrite[] = [
  {
    name: "a token",
    request: () => Promise.resolve(["POST", "auth/token/create", { body: { ttl: "1h" } }]),
  },
  {
    name: "a renewal",
    request: async () => [
      "POST",
      "auth/token/renew",
      { body: { token: await newToken(), increment: "2h" } },
    ],
  },
  {
    name: "a revocation",
    request: async () => ["POST", "auth/token/revoke", { body: { token: await newToken() } }],
  },
  {
    name: "a revocation of a token with a child",
    commits: 2,
    request: async () => {
      const token = await newToken({ policies: ["root"] });
      await vault.ask("POST", "auth/token/create", { token, body: { ttl: "1h" } });
      return ["POST", "auth/token/revoke", { body: { token } }];
    },
  },
  {
    name: "a use of a token that has few",
    request: async () => [
      "GET",
      "auth/token/lookup-self",
      { token: await newToken({ num_uses: 3 }) },
    ],
  },
  {
    name: "a token role",
    request: () =>
      Promise.resolve(["POST", "auth/token/roles/ci", { body: { allowed_policies: "default" } }]),
  },
  {
    name: "the end of a token role",
    request: async () => (
      await vault.ask("POST", "auth/token/roles/old", { body: {} }),
      ["DELETE", "auth/token/roles/old"]
    ),
  },
  {
    name: "a policy",
    request: () =>
      Promise.resolve([
        "PUT",
        "sys/policies/acl/p",
        { body: { policy: 'path "a" { capabilities = ["read"] }' } },
      ]),
  },
  {
    name: "the end of a policy",
    request: async () => (
      await vault.ask("PUT", "sys/policies/acl/q", {
        body: { policy: 'path "a" { capabilities = ["read"] }' },
      }),
      ["DELETE", "sys/policies/acl/q"]
    ),
  },
  {
    name: "a value in the cubbyhole",
    request: () => Promise.resolve(["POST", "cubbyhole/a", { body: { key: "value" } }]),
  },
  {
    name: "the end of a value in the cubbyhole",
    request: async () => (
      await vault.ask("POST", "cubbyhole/b", { body: { key: "value" } }),
      ["DELETE", "cubbyhole/b"]
    ),
  },
  {
    name: "a wrapped answer",
    request: () =>
      Promise.resolve([
        "GET",
        "sys/policies/acl/default",
        { headers: { "x-vault-wrap-ttl": "1h" } },
      ]),
  },
  {
    name: "the fetching of a wrapped answer",
    commits: 2,
    request: async () => ["POST", "sys/wrapping/unwrap", { token: await wrapped() }],
  },
  {
    name: "a rewrapped answer",
    commits: 2,
    request: async () => ["POST", "sys/wrapping/rewrap", { body: { token: await wrapped() } }],
  },
  {
    name: "an auth mount",
    commits: 2,
    request: () => Promise.resolve(["POST", "sys/auth/approle-2", { body: { type: "approle" } }]),
  },
  {
    name: "the tuning of a mount",
    request: () =>
      Promise.resolve(["POST", "sys/mounts/github/tune", { body: { default_lease_ttl: "30m" } }]),
  },
  {
    name: "the end of a mount",
    commits: 2,
    request: async () => (
      await vault.ask("POST", "sys/auth/approle-3", { body: { type: "approle" } }),
      ["DELETE", "sys/auth/approle-3"]
    ),
  },
  {
    name: "an AppRole",
    request: async () => (
      await newRole(),
      ["POST", "auth/approle/role/another", { body: { token_policies: "default" } }]
    ),
  },
  {
    name: "a secret id",
    request: async () => (
      await newRole(),
      ["POST", "auth/approle/role/app/secret-id", { body: {} }]
    ),
  },
  {
    name: "the end of a secret id",
    request: async () => [
      "POST",
      "auth/approle/role/app/secret-id/destroy",
      { body: { secret_id: (await newRole()).secret_id } },
    ],
  },
  {
    name: "a login that takes a use of its secret id",
    commits: 2,
    request: async () => ["POST", "auth/approle/login", { body: await newRole() }],
  },
  {
    name: "the end of an AppRole",
    request: async () => (await newRole(), ["DELETE", "auth/approle/role/app"]),
  },
  {
    name: "the origins of CORS",
    request: () =>
      Promise.resolve([
        "POST",
        "sys/config/cors",
        { body: { enabled: true, allowed_origins: "https://a.example" } },
      ]),
  },
  {
    name: "the engine's configuration",
    request: () => Promise.resolve(["POST", "github/config", { body: { strict_scopes: true } }]),
  },
  {
    name: "a permission set",
    request: () =>
      Promise.resolve([
        "POST",
        "github/permissionset/read",
        { body: { installation_id: 1001, permissions: { contents: "read" } } },
      ]),
  },
  {
    name: "the end of a permission set",
    request: async () => (
      await vault.ask("POST", "github/permissionset/gone", { body: { installation_id: 1001 } }),
      ["DELETE", "github/permissionset/gone"]
    ),
  },
  {
    name: "a minted token",
    commits: 2,
    request: () => Promise.resolve(["POST", "github/token", { body: { installation_id: 1001 } }]),
  },
  {
    name: "the revocation of a lease",
    request: async () => [
      "POST",
      "sys/leases/revoke",
      { body: { lease_id: await newLease(), sync: true } },
    ],
  },
  {
    name: "the revocation of a lease in the background",
    goesOn: true,
    request: async () => [
      "POST",
      "sys/leases/revoke",
      { body: { lease_id: await newLease(), sync: false } },
    ],
  },
  {
    name: "the revocation of a prefix in the background",
    goesOn: true,
    request: async () => (
      await newLease(),
      ["POST", "sys/leases/revoke-prefix/github", { body: { sync: false } }]
    ),
  },
];

/** Records of the audit that are on the disk. */
function recordsOf(written: readonly Written[]): number {
  return written.filter(({ kind, what }) => kind === "dsync" && what === path("audit.log")).length;
}

describe.skipIf(library === undefined)("on the disk before the answer is", () => {
  it.each(tokensWrites)("$name, and its audit records", async (write) => {
    const { commits = 1, goesOn = false } = write;
    const [method, url, asking] = await write.request();
    const { before, after, answer } = await acknowledged(() => vault.ask(method, url, asking));
    expect([answer.status, commitsOf(before, path("tokens.mdb"))]).toEqual([
      expect.toBeOneOf([200, 202, 204]),
      expect.toSatisfy((count: number) => count >= commits, `at least ${commits} commits`),
    ]);
    expect(recordsOf(before)).toBeGreaterThanOrEqual(2);
    expect(
      before.filter(({ kind, what }) => kind === "write" && what === path("audit.log")),
    ).toEqual([]);
    if (!goesOn) expect([commitsOf(after, path("tokens.mdb")), recordsOf(after)]).toEqual([0, 0]);
  });

  it("the record of a request before anything is done, and what it may make before the platform is asked", async () => {
    const { before } = await acknowledged(() =>
      vault.ask("POST", "github/token", { body: { installation_id: 1001 } }),
    );
    const asked = before.findIndex(({ kind }) => kind === "socket");
    expect(asked).toBeGreaterThan(0);
    const [first, second] = [before.slice(0, asked), before.slice(asked)];
    expect([commitsOf(first, path("tokens.mdb")), recordsOf(first)]).toEqual([1, 1]);
    expect([commitsOf(second, path("tokens.mdb")), recordsOf(second)]).toEqual([1, 1]);
    const written = await acknowledged(() =>
      vault.ask("POST", "cubbyhole/a", { body: { key: "value" } }),
    );
    expect(
      written.before.find(
        ({ kind, what }) =>
          kind === "dsync" && (what === path("audit.log") || what === path("tokens.mdb")),
      )?.what,
    ).toBe(path("audit.log"));
  });

  it("the record of a secret that is read", async () => {
    await vault.ask("POST", "cubbyhole/read", { body: { key: "value" } });
    const { before, after } = await acknowledged(() => vault.ask("GET", "cubbyhole/read"));
    expect([recordsOf(before), recordsOf(after)]).toEqual([2, 0]);
  });

  it("a job that was started or cancelled, and every decision about a group", async () => {
    const { daemon } = vault;
    const store = path("dedup.mdb");
    const started = await acknowledged(() => once("POST", "/api/v1/sync", {}));
    // That it runs may be stored as well by then.
    expect([started.answer.status, commitsOf(started.before, store) >= 1]).toEqual([202, true]);
    await jobEnd(daemon, started.answer.json.data.jobId as string);
    const analysis = await acknowledged(() => once("POST", "/api/v1/analysis", { force: true }));
    expect([analysis.answer.status, commitsOf(analysis.before, store) >= 1]).toEqual([202, true]);
    await jobEnd(daemon, analysis.answer.json.data.jobId as string);

    const [group] = (await rest(daemon, "GET", "/api/v1/duplicates")).json.data as { id: string }[];
    const detail = (await rest(daemon, "GET", `/api/v1/duplicates/${group?.id ?? ""}`)).json
      .data as { members: { documentId: number; isPrimary: boolean }[] };
    const other = detail.members.find(({ isPrimary }) => !isPrimary)?.documentId;
    for (const [method, below, body] of [
      ["PUT", "/status", { status: "false_positive" }],
      ["PUT", "/primary", { documentId: other }],
      ["DELETE", "", undefined],
    ] as const) {
      const { before, after, answer } = await acknowledged(() =>
        once(method, `/api/v1/duplicates/${group?.id ?? ""}${below}`, body),
      );
      expect([
        below,
        Math.floor(answer.status / 100),
        commitsOf(before, store),
        commitsOf(after, store),
      ]).toEqual([below, 2, 1, 0]);
    }

    const cancelled = await acknowledged(async () => {
      const started = await once("POST", "/api/v1/sync", { force: true });
      return await once("POST", `/api/v1/jobs/${started.json.data.jobId as string}/cancel`);
    });
    expect([
      cancelled.answer.status,
      cancelled.answer.json.data.status,
      commitsOf(cancelled.after, store),
    ]).toEqual([200, "cancelled", 0]);
  });
});
