/**
 * What somebody without a token may cost the daemon, on the running daemon with the limits as
 * shipped: bodies, audit, attempts.
 */
import { connect, type Socket } from "node:net";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { LogicalService, Operation } from "../../src/gen/steward/tokens/v1/logical_pb.ts";
import type { InstallationSpec } from "../../src/demo/code-host/types.ts";
import { removeTemporaryFolders } from "./daemon.ts";
import {
  appKey,
  configure,
  startCodeHost,
  startVault,
  vaultRequest,
  type Asking,
  type VaultAnswer,
  type VaultDaemon,
} from "./vault.ts";

const MIB = 2 ** 20;

let vault: VaultDaemon;
let role: { role_id: string; secret_id: string };
let addresses = 1;

/** A loopback address that nobody has failed from yet. */
const freshAddress = (): string => `127.0.1.${(addresses += 1)}`;

beforeAll(async () => {
  vault = await startVault();
  await vault.ask("POST", "sys/auth/approle", { body: { type: "approle" } });
  role = await makeRole("ci");
});

afterAll(async () => {
  await vault.daemon.stop();
  removeTemporaryFolders();
});

async function makeRole(name: string): Promise<{ role_id: string; secret_id: string }> {
  await vault.ask("POST", `auth/approle/role/${name}`, {
    body: { token_policies: "default", token_ttl: "1h" },
  });
  const id = await vault.ask("GET", `auth/approle/role/${name}/role-id`);
  const secret = await vault.ask("POST", `auth/approle/role/${name}/secret-id`);
  return {
    role_id: id.json.data.role_id as string,
    secret_id: secret.json.data.secret_id as string,
  };
}

const ask = (method: string, path: string, asking: Asking = {}): Promise<VaultAnswer> =>
  vaultRequest(vault.daemon.url, method, path, asking);
const login = (from: string, body: unknown = role): Promise<VaultAnswer> =>
  ask("POST", "auth/approle/login", { from, body });

/** Asks so many times, a few at a time. */
async function repeat(
  times: number,
  send: (index: number) => Promise<VaultAnswer>,
): Promise<readonly VaultAnswer[]> {
  const answers: VaultAnswer[] = [];
  for (let from = 0; from < times; from += 20)
    answers.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(20, times - from) }, (_, index) => send(from + index)),
      )),
    );
  return answers;
}

function statuses(answers: readonly VaultAnswer[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const auditFile = (): string => join(vault.state, "audit.log");
const auditBytes = (): number => statSync(auditFile()).size;
const auditRecords = (fromBytes = 0): any[] =>
  readFileSync(auditFile())
    .subarray(fromBytes)
    .toString()
    .trim()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
const isSummary = ({ request }: any): boolean => request.path === "sys/audit/refused";
/** Records of requests: a summary of an earlier test's failures may be written at any time. */
const auditLines = (fromBytes = 0): any[] =>
  auditRecords(fromBytes).filter((record) => !isSummary(record));

const open = new Set<Socket>();
afterEach(() => {
  for (const socket of open) socket.destroy();
  open.clear();
});

/** The status of the answer to a head and so much of its body; the rest is never sent. */
function statusOf(
  path: string,
  headers: readonly string[],
  body: string | Buffer = "",
): Promise<number> {
  const { hostname, port, host } = new URL(vault.daemon.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    open.add(socket);
    socket.on("error", reject).on("close", () => reject(new Error("closed without an answer")));
    socket.once("data", (data) => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(data.toString())?.[1])));
    socket.write(
      `POST /v1/${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n${headers.join("\r\n")}\r\n\r\n`,
    );
    if (body.length > 0) socket.write(body);
  });
}

const chunk = (bytes: number): Buffer =>
  Buffer.concat([
    Buffer.from(`${bytes.toString(16)}\r\n`),
    Buffer.alloc(bytes, " "),
    Buffer.from("\r\n"),
  ]);

describe("the body of a request below /v1", () => {
  const declared = `Content-Length: ${31 * MIB}`;

  it("without a token is refused by its declared length, before a byte of it came", async () => {
    for (const path of ["auth/approle/login", "sys/wrapping/unwrap", "sys/unseal", "sys/init"])
      expect([path, await statusOf(path, [declared])]).toEqual([path, 413]);
  });

  it("without a length is refused at the first byte beyond 64 KiB", async () => {
    expect(
      await statusOf(
        "sys/wrapping/unwrap",
        ["Transfer-Encoding: chunked"],
        Buffer.concat([chunk(65_536), chunk(1)]),
      ),
    ).toBe(413);
  });

  it("with a token that is not live counts as without; with a wrapping token it is small, too", async () => {
    const dead = await vault.ask("POST", "auth/token/create", { body: { ttl: "1h" } });
    const token = dead.json.auth.client_token as string;
    await vault.ask("POST", "auth/token/revoke", { body: { token } });
    const wrapped = await vault.ask("POST", "sys/wrapping/wrap", {
      body: { a: 1 },
      headers: { "x-vault-wrap-ttl": "60" },
    });
    const wrapping = wrapped.json.wrap_info.token as string;
    for (const sent of ["hvs.unknown", "hvb.AAAA", token, wrapping])
      expect([
        sent,
        await statusOf("sys/wrapping/unwrap", [declared, `X-Vault-Token: ${sent}`]),
      ]).toEqual([sent, 413]);
    // Refused, not used up.
    expect((await ask("POST", "sys/wrapping/unwrap", { token: wrapping })).json.data).toEqual({
      a: 1,
    });
  });

  it("for a path that needs a token is not waited for: the answer is 403 by the head alone", async () => {
    for (const path of ["github/config", "sys/policies/acl/x", "nowhere/at/all"]) {
      expect([path, await statusOf(path, [declared])]).toEqual([path, 403]);
      expect([
        path,
        await statusOf(path, ["Content-Length: 10", "Authorization: Bearer hvs.wrong"]),
      ]).toEqual([path, 403]);
    }
  });

  it("with a live token may have 32 MiB", async () => {
    const answer = await vault.ask("POST", "cubbyhole/x", {
      body: `{"a":"b"${" ".repeat(20 * MIB)}}`,
    });
    expect([answer.status, (await vault.ask("GET", "cubbyhole/x")).json.data]).toEqual([
      204,
      { a: "b" },
    ]);
    expect(
      await statusOf("cubbyhole/x", [
        `Content-Length: ${33 * MIB}`,
        `X-Vault-Token: ${vault.root}`,
      ]),
    ).toBe(413);
  });

  it("of up to 64 KiB still logs in, and a dead token beside it does no harm", async () => {
    const answer = await ask("POST", "auth/approle/login", {
      token: "hvs.dead",
      from: freshAddress(),
      body: `${JSON.stringify(role)}${" ".repeat(60_000)}`,
    });
    expect([answer.status, answer.json.auth.client_token]).toEqual([
      200,
      expect.stringMatching(/^hvs\./) as string,
    ]);
  });

  it("over gRPC has the same bounds", async () => {
    const { handle } = createClient(
      LogicalService,
      createGrpcTransport({ baseUrl: vault.daemon.url }),
    );
    const data = new TextEncoder().encode(`{"token":"hvs.wrong"${" ".repeat(100_000)}}`);
    const refusal = async (path: string, headers: Record<string, string> = {}): Promise<string> => {
      try {
        await handle({ operation: Operation.UPDATE, path, data }, { headers });
        return "served";
      } catch (error) {
        return (error as Error).message;
      }
    };
    expect(await refusal("sys/wrapping/unwrap")).toMatch(/larger than 65536 bytes/);
    expect(await refusal("github/config")).toMatch(/permission denied/);
    expect(await refusal("cubbyhole/grpc", { "x-vault-token": vault.root })).toBe("served");
  });
});

describe("attempts", () => {
  it("of others behind one address keep nobody out who has a right secret: 1,000 requests without a token, then a login", async () => {
    const from = freshAddress();
    expect(statuses(await repeat(1_000, () => ask("GET", "github/config", { from })))).toEqual({
      403: 1_000,
    });
    expect((await login(from)).status).toBe(200);
  });

  it("on one role are limited to 1,000 a minute of a loopback address, on no other role, and the right secret passes all the same", async () => {
    const from = freshAddress();
    const other = await makeRole("other");
    const wrong = { ...role, secret_id: "wrong" };
    expect(statuses(await repeat(1_100, () => login(from, wrong)))).toEqual({
      400: 1_000,
      429: 100,
    });
    const refused = await login(from, wrong);
    expect([refused.json.errors, Number(refused.headers["retry-after"]) > 0]).toEqual([
      [expect.stringMatching(/^too many failed attempts from 127\.0\.1\.\d+; try again in \d+ s$/)],
      true,
    ]);
    expect((await login(from)).status).toBe(200);
    expect((await login(from, { ...other, secret_id: "wrong" })).status).toBe(400);
    expect((await login(from, other)).status).toBe(200);
    expect((await login(freshAddress(), wrong)).status).toBe(400);
    expect((await login(from, wrong)).status).toBe(429);
  });

  it("with one dead token are limited, with none they are no attempts, and a live one passes", async () => {
    const from = freshAddress();
    expect(
      statuses(
        await repeat(1_050, () =>
          ask("GET", "auth/token/lookup-self", { from, token: "hvs.wrong" }),
        ),
      ),
    ).toEqual({ 403: 1_000, 429: 50 });
    expect(
      statuses(
        await repeat(1_050, () =>
          ask("POST", "sys/wrapping/unwrap", { from, body: { token: "hvs.guess" } }),
        ),
      ),
    ).toEqual({ 400: 1_000, 429: 50 });
    expect((await ask("GET", "auth/token/lookup-self", { from })).status).toBe(403);
    expect((await ask("GET", "auth/token/lookup-self", { from, token: vault.root })).status).toBe(
      200,
    );
    expect((await ask("GET", "github/info", { from })).status).toBe(200);
    const wrapped = await vault.ask("POST", "sys/wrapping/wrap", {
      body: { a: 2 },
      headers: { "x-vault-wrap-ttl": "60" },
    });
    expect(
      (
        await ask("POST", "sys/wrapping/unwrap", {
          from,
          body: { token: wrapped.json.wrap_info.token },
        })
      ).json.data,
    ).toEqual({ a: 2 });
  });

  it("with ever new tokens are limited, too, and that keeps no right one out", async () => {
    const from = freshAddress();
    const counts = statuses(
      await repeat(1_500, (index) =>
        ask("GET", "auth/token/lookup-self", { from, token: `hvs.${index}` }),
      ),
    );
    expect(counts).toEqual({ 403: 1_064, 429: 436 });
    expect((await ask("GET", "auth/token/lookup-self", { from, token: vault.root })).status).toBe(
      200,
    );
    expect((await login(from)).status).toBe(200);
  });

  it("take no use of a secret id, and a login that was tried out first takes one", async () => {
    const from = freshAddress();
    const once = (
      await vault.ask("POST", "auth/approle/role/ci/secret-id", { body: { num_uses: 1 } })
    ).json.data.secret_id as string;
    await repeat(30, () => login(from, { ...role, secret_id: "wrong" }));
    expect((await login(from, { ...role, secret_id: once })).status).toBe(200);
    expect((await login(from, { ...role, secret_id: once })).status).toBe(400);
  });
});

/** Failures of one address that have no record of their own. */
let summed = 0;

describe("the audit", () => {
  it("of 5,000 failures of an address without a live token grows by twenty lines, and by one sum at the end", async () => {
    const from = freshAddress();
    const before = auditBytes();
    const startMs = performance.now();
    const recordsOfAddress = (): any[] =>
      auditLines(before).filter(({ request }) => request.remote_address === from);
    const kinds: readonly ((index: number) => Promise<VaultAnswer>)[] = [
      () => ask("POST", "github/config", { from, body: { a: "x".repeat(10_000) } }),
      (index) => ask("GET", "auth/token/lookup-self", { from, token: `hvs.${index}` }),
      () => login(from, { role_id: "wrong", secret_id: "x".repeat(60_000) }),
      () => login(from, { role_id: {}, secret_id: [] }),
      () => ask("POST", "sys/wrapping/unwrap", { from, body: { token: "hvs.wrong" } }),
      () => ask("POST", "sys/wrapping/unwrap", { from }),
      () => ask("POST", "github/info", { from, body: { a: 1 } }),
      () => ask("GET", "nowhere/at/all", { from }),
    ];
    const answers = await repeat(5_000, (index) =>
      (kinds[index % kinds.length] as (typeof kinds)[number])(index),
    );
    expect(answers.every(({ status }) => status >= 400)).toBe(true);
    // Twenty a minute, and a slow machine takes more than one.
    const minutes = 1 + Math.floor((performance.now() - startMs) / 60_000);
    const { length } = recordsOfAddress();
    expect(length).toBeGreaterThanOrEqual(20);
    expect(length).toBeLessThanOrEqual(20 * minutes);
    summed = 5_000 - length / 2;
    expect(auditBytes() - before).toBeLessThan(minutes * 64 * 1024);
    // Whoever succeeds has records of its own, before and after.
    expect((await login(from)).status).toBe(200);
    const [isRead, answered] = recordsOfAddress().slice(length);
    expect([
      isRead.type,
      isRead.request.path,
      answered.type,
      answered.response.auth.display_name,
    ]).toEqual(["request", "auth/approle/login", "response", "approle"]);
  });

  it("of one value of 31 MB from somebody with a token is one hash by which it is found again", async () => {
    const before = auditBytes();
    const digits = "7".repeat(1_000_000);
    expect(
      (await vault.ask("POST", "cubbyhole/number", { body: `{"n":${digits},"s":"y"}` })).status,
    ).toBeLessThan(500);
    const [isRead] = auditLines(before);
    const { n, s } = isRead.request.data as { n: string; s: string };
    expect([n, s]).toEqual([await hashOf(digits), await hashOf("y")]);
    expect(auditBytes() - before).toBeLessThan(8 * 1024);
    const large = auditBytes();
    expect(
      (await vault.ask("POST", "cubbyhole/number", { body: `{"n":${"7".repeat(31 * MIB)}}` }))
        .status,
    ).toBeLessThan(500);
    expect(auditBytes() - large).toBeLessThan(8 * 1024);
  });

  it("of a request with 9,000 names and of one with 9,000 long names stays within 64 KiB a line", async () => {
    for (const length of [5, 300]) {
      const before = auditBytes();
      const data = Object.fromEntries(
        Array.from({ length: 9_000 }, (_, index) => [String(index).padEnd(length, "n"), index]),
      );
      await vault.ask("POST", "cubbyhole/names", { body: data });
      // A request that was cut off before may be recorded only now.
      const lines = readFileSync(auditFile())
        .subarray(before)
        .toString()
        .trim()
        .split("\n")
        .filter((line) => line.includes('"cubbyhole/names"'));
      expect([
        lines.length,
        Math.max(...lines.map((line) => Buffer.byteLength(line))) <= 65_536,
      ]).toEqual([2, true]);
    }
  });
});

async function hashOf(input: string): Promise<string> {
  return (await vault.ask("POST", "sys/audit-hash/file", { body: { input } })).json.data
    .hash as string;
}

describe("a token for 2,000 repositories", () => {
  const repositories = Array.from({ length: 2_000 }, (_, index) => ({
    id: 10_000 + index,
    name: `repository-${index}`,
  }));
  const installations: readonly InstallationSpec[] = [
    {
      id: 1001,
      account: { login: "example-org", type: "Organization" },
      permissions: { metadata: "read", contents: "write" },
      repositories,
      repositorySelection: "selected",
    },
  ];
  const apps = [
    {
      id: 7,
      clientId: "Iv1.0123456789abcdef",
      slug: "estate",
      publicKeys: [appKey.publicKey],
      installations,
    },
  ];

  it("is minted when their names are enough, its records have 64 KiB at most, and it is found in them by its own hash and GitHub's", async () => {
    const host = await startCodeHost({ apps });
    try {
      await configure(vault, host, { exclude_repository_metadata: true });
      const before = auditBytes();
      const minted = await vault.ask("POST", "github/token", { body: { org_name: "example-org" } });
      expect([minted.status, minted.json.data.repositories]).toEqual([
        200,
        repositories.map(({ name }) => name),
      ]);
      const lines = auditLines(before);
      expect(lines.map(({ type }) => type as string)).toEqual(["request", "response"]);
      expect(auditBytes() - before).toBeLessThan(65_536);
      const { data } = lines[1].response;
      expect([data.token, data.hashed_token]).toEqual([
        await hashOf(minted.json.data.token as string),
        await hashOf(minted.json.data.hashed_token as string),
      ]);
      expect([
        data.installation_id,
        data.repositories.at(-1).too_many_values.count > 1_700,
      ]).toEqual([1001, true]);
      expect(
        (await vault.ask("PUT", "sys/leases/revoke", { body: { lease_id: minted.json.lease_id } }))
          .status,
      ).toBe(204);
      expect(host.counts()).toMatchObject({ minted: 1, live: 0 });
    } finally {
      await host.stop();
    }
  });

  it("is revoked at once when all their metadata is wanted, which is more than is read; the answer says what to do", async () => {
    const host = await startCodeHost({ apps });
    try {
      await configure(vault, host, { exclude_repository_metadata: false });
      const refused = await vault.ask("POST", "github/token", {
        body: { org_name: "example-org" },
      });
      expect([refused.status, refused.json.errors]).toEqual([
        502,
        [
          expect.stringMatching(
            /too large; name the repositories, or set exclude_repository_metadata; the token in it was revoked at once$/,
          ),
        ],
      ]);
      expect(host.counts()).toMatchObject({ minted: 1, revoked: 1, live: 0 });
      expect((await vault.ask("GET", "sys/leases/orphans")).json.data.orphans).toEqual([]);
      const few = await vault.ask("POST", "github/token", {
        body: {
          org_name: "example-org",
          repositories: repositories.slice(0, 140).map(({ name }) => name),
        },
      });
      expect([
        few.status,
        few.json.data.repositories.length,
        few.json.data.repositories[0].full_name,
      ]).toEqual([200, 140, "example-org/repository-0"]);
      const [, answered] = auditLines().slice(-2);
      expect(answered.response.data.hashed_token).toBe(
        await hashOf(few.json.data.hashed_token as string),
      );
    } finally {
      await host.stop();
    }
  });
});

describe("base_url", () => {
  it("leads to another origin only with the key, and to no metadata service by any spelling", async () => {
    const host = await startCodeHost();
    const other = await startCodeHost();
    try {
      await configure(vault, host);
      const refused = await vault.ask("POST", "github/config", { body: { base_url: other.url } });
      expect([refused.status, refused.json.errors]).toEqual([
        400,
        ["base_url names another origin than before; give prv_key with it"],
      ]);
      expect((await configure(vault, other)).status).toBe(204);
      expect(
        (await vault.ask("POST", "github/config", { body: { base_url: `${other.url}/api/v3` } }))
          .status,
      ).toBe(204);
      for (const base_url of [
        "http://169.254.169.254",
        "http://0xa9fea9fe/",
        "http://[fe80::1]",
        "http://[::ffff:169.254.169.254]",
        "http://metadata.google.internal.",
      ]) {
        const answer = await vault.ask("POST", "github/config", {
          body: { app_id: 7, prv_key: appKey.privateKey, base_url },
        });
        expect([base_url, answer.status, answer.text]).toEqual([
          base_url,
          400,
          expect.stringContaining("tokens.allow_link_local_base_url") as string,
        ]);
      }
      expect((await vault.ask("GET", "github/config")).json.data.base_url).toBe(
        `${other.url}/api/v3`,
      );
    } finally {
      await Promise.all([host.stop(), other.stop()]);
    }
  });

  it("may lead there when the configuration says so", async () => {
    const open = await startVault({ config: "tokens: { allow_link_local_base_url: true }" });
    try {
      const answer = await open.ask("POST", "github/config", {
        body: { app_id: 7, prv_key: appKey.privateKey, base_url: "http://169.254.169.254" },
      });
      expect(answer.status).toBe(200);
    } finally {
      await open.daemon.stop();
    }
  });
});

describe("at the end", () => {
  it("the failures of the last minute are in the audit, one record for each address", async () => {
    await vault.daemon.stop();
    const sums = auditRecords().filter(isSummary);
    const counts = new Map<string, number>();
    for (const { request } of sums) {
      expect(request).toMatchObject({
        operation: "update",
        remote_address: expect.stringMatching(/^127\.0\./) as string,
        data: {
          first_time: expect.stringMatching(/Z$/) as string,
          last_time: expect.stringMatching(/Z$/) as string,
        },
      });
      counts.set(
        request.remote_address as string,
        (counts.get(request.remote_address as string) ?? 0) + (request.data.count as number),
      );
    }
    expect(Math.max(...counts.values())).toBe(summed);
  });
});
