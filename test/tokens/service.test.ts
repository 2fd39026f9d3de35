import { mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { OverviewService } from "../../src/gen/steward/tokens/v1/overview_service_pb.ts";
import { StewardError } from "../../src/kernel/base/errors.ts";
import { createLog, type Log } from "../../src/kernel/base/log.ts";
import { Secret } from "../../src/kernel/base/secret.ts";
import type { RequestHeaders } from "../../src/kernel/service.ts";
import { proxyOf } from "../../src/tokens/engine/platform/proxy.ts";
import type { Data } from "../../src/tokens/logical/types.ts";
import type { Tokens, TokensOptions } from "../../src/tokens/service.ts";
import type { TokenSpec } from "../../src/tokens/vault/types.ts";
import { quietLog, temporaryFolder } from "../kernel/state/fixtures/tables.ts";
import { openService } from "./support/service.ts";

async function open(options: Partial<TokensOptions> = {}, log: Log = quietLog): Promise<Tokens> {
  const tokens = await openService(temporaryFolder(), options, { log });
  onTestFinished(() => tokens.close(1_000));
  return tokens;
}

describe("the health of the tokens service", () => {
  it("is well with an empty store, and its levels say so", async () => {
    const tokens = await open();
    await tokens.showRoot(() => true);
    expect(tokens.health()).toEqual({ ok: true });
    expect(tokens.levels()).toEqual({
      sealed: false,
      inside: { leases: 0, due: 0, irrevocable: 0, orphans: 0, stored: 1, quotas: [], cached: [] },
    });
  });

  it("has no levels while its store cannot be read", async () => {
    const tokens = await open();
    const read = vi.spyOn(tokens.env, "read");
    read.mockImplementation(() => {
      throw new StewardError("not_ready", "tokens.mdb is closed after a failed write");
    });
    expect(tokens.levels()).toEqual({ sealed: false, inside: undefined });
    read.mockRestore();
    expect(tokens.levels().inside).toMatchObject({ leases: 0 });
  });

  it("names what may exist without a lease, and where to look", async () => {
    const tokens = await open();
    const leases = tokens.manager()?.leases;
    const intent = await leases?.intend({
      requestId: "r1",
      path: "github/token",
      mountPoint: "github/",
      about: {},
    });
    expect(tokens.health().ok).toBe(true);
    if (intent !== undefined) await leases?.orphan(intent, "the connection broke", {});
    expect(tokens.health()).toEqual({
      ok: false,
      reason:
        "tokens that may exist without a lease until they expire: 1 (sys/leases/orphans shows them)",
      unable: false,
    });
    expect(tokens.levels().inside?.orphans).toBe(1);
  });

  it("names an audit device that takes no records", async () => {
    const tokens = await open();
    await tokens.manager()?.audit.close();
    await expect(
      tokens.gate.handle({
        verb: "read",
        path: "sys/mounts",
        data: {},
        token: undefined,
        remote: undefined,
        wrapTtlMs: undefined,
        signal: new AbortController().signal,
      }),
    ).rejects.toMatchObject({ rule: "audit" });
    expect(tokens.health()).toMatchObject({
      ok: false,
      reason: expect.stringContaining(
        "the audit device file/ (audit.log) accepts no records",
      ) as string,
    });
  });

  it("says why it is sealed", async () => {
    const tokens = await open({
      seal: { type: "file", keyFile: "/nonexistent/key", credentials: undefined },
    });
    expect(tokens.health()).toMatchObject({
      ok: false,
      reason: expect.stringContaining("/nonexistent/key is missing") as string,
    });
    expect([tokens.levels(), tokens.gate.isOpen()]).toEqual([
      { sealed: true, inside: undefined },
      false,
    ]);
  });
});

describe("the start of the tokens service", () => {
  it("names a proxy variable that is no address, never its value", async () => {
    const logged: string[] = [];
    const log = createLog({
      level: "warn",
      format: "text",
      write: (line) => logged.push(line),
      now: () => 0,
    });
    const proxy = proxyOf({
      HTTP_PROXY: "10.0.0.1:3128",
      HTTPS_PROXY: "ftp://ada:hunter2@10.0.0.1",
    });
    await open({ proxy }, log);
    expect(logged.filter((line) => line.includes("_PROXY"))).toEqual([
      expect.stringContaining("HTTPS_PROXY") as string,
    ]);
    expect(logged.join("")).not.toContain("hunter2");
  });
});

describe("the version that Vault clients see", () => {
  it("is one whose features they use, with Steward's own behind it", async () => {
    const tokens = await open();
    for (const path of ["sys/health", "sys/seal-status"]) {
      const { response } = await tokens.gate.handle({
        verb: "read",
        path,
        data: {},
        token: undefined,
        remote: undefined,
        wrapTtlMs: undefined,
        signal: new AbortController().signal,
      });
      expect(JSON.parse(String(response?.raw?.body))).toMatchObject({
        version: "1.15.0+steward.0.1.0",
      });
    }
  });
});

describe("a credential in the headers", () => {
  it("is a live token on every surface of the service, without a use of it taken and without a record", async () => {
    let root = "";
    const tokens = await open();
    await tokens.showRoot((token) => (root = token) !== "");
    // The overview is for administrators: the gateway checks their credential.
    const surfaces = [
      ...tokens.service.rpc.filter(({ desc }) => desc !== OverviewService),
      ...tokens.service.plain,
    ];
    const seen = (headers: RequestHeaders): unknown => {
      const answers = new Set(surfaces.map((surface) => surface.hasCredential?.(headers)));
      return answers.size === 1 ? [...answers][0] : "they differ";
    };
    const made = async (spec: Partial<TokenSpec>): Promise<{ id: string; key: string }> => {
      const token = await tokens.manager()?.tokens.create({
        type: "service",
        policies: ["default"],
        path: "auth/token/create",
        displayName: "x",
        numUses: 0,
        parent: undefined,
        ttlMs: 3_600_000,
        explicitMaxTtlMs: 0,
        periodMs: 0,
        renewable: true,
        ...spec,
      });
      return { id: token?.id.use((id) => id) ?? "", key: token?.entry.key ?? "" };
    };
    const [once, batch, wrapping, ended] = [
      await made({ numUses: 1 }),
      await made({ type: "batch" }),
      await made({ policies: ["response-wrapping"] }),
      await made({}),
    ];
    await tokens.manager()?.tokens.revoke(ended.key);
    const audit = join(tokens.env.status().path, "../audit.log");
    const before = readFileSync(audit, "utf8");
    for (let times = 0; times < 3; times++)
      for (const id of [root, once.id, batch.id, wrapping.id])
        expect(seen({ "x-vault-token": id })).toBe(true);
    expect([
      seen({ authorization: `Bearer ${root}` }),
      seen({ "x-vault-token": [root, "hvs.other"] }),
    ]).toEqual([true, true]);
    const without: RequestHeaders[] = [
      {},
      { "x-vault-token": "" },
      { "x-vault-token": "hvs.unknown" },
      { "x-vault-token": "hvb.AAAA" },
      { "x-vault-token": ended.id },
      { authorization: `Basic ${root}` },
      { "x-vault-token": "hvs.unknown", authorization: `Bearer ${root}` },
    ];
    expect(without.map(seen)).toEqual(without.map(() => false));
    expect(tokens.manager()?.tokens.lookup(Secret.of(once.id, "test"))?.numUses).toBe(1);
    expect(readFileSync(audit, "utf8")).toBe(before);
    await tokens.gate.close();
    expect(seen({ "x-vault-token": root })).toBe(false);
  });
});

describe("sealing and unsealing at once", () => {
  it("ends with a door that is open exactly while the store is", async () => {
    let shown = "";
    const tokens = await open();
    await tokens.showRoot((token) => (shown = token) !== "");
    const key = readFileSync(join(tokens.env.status().path, "../tokens.key"), "utf8");
    const ask = (path: string, data: Record<string, unknown>): Promise<unknown> =>
      tokens.gate
        .handle({
          verb: "write",
          path,
          data,
          token: Secret.of(shown, "test"),
          remote: undefined,
          wrapTtlMs: undefined,
          signal: new AbortController().signal,
        })
        .catch((error: unknown) => error);
    for (let round = 0; round < 8; round++) {
      await Promise.all([
        ask("sys/seal", {}),
        ask("sys/seal", {}),
        ask("sys/unseal", { key }),
        ask("sys/seal", {}),
        ask("sys/unseal", { key }),
      ]);
      // An unseal waits for its turn, so all that came before it is over.
      await ask("sys/unseal", { key });
      if (tokens.gate.isOpen())
        expect(await ask("auth/token/lookup-self", {})).toMatchObject({
          response: { data: { policies: ["root"] } },
        });
      else expect(tokens.env.keyring?.status().sealed).toBe(true);
    }
  });
});

describe("a store whose opening fails after the right key", () => {
  const ask = async (tokens: Tokens, path: string, data: Data): Promise<Data> => {
    const { response } = await tokens.gate.handle({
      verb: "write",
      path,
      data,
      token: undefined,
      remote: undefined,
      wrapTtlMs: undefined,
      signal: new AbortController().signal,
    });
    return JSON.parse(String(response?.raw?.body)) as Data;
  };
  const auditIn = (folder: string): TokensOptions["audit"] => [
    { filePath: join(folder, "audit.log"), hmacAccessor: true, elideListResponses: false },
  ];

  it("is sealed again: nothing but enough right shares opens it once the cause is mended", async () => {
    const folder = join(temporaryFolder(), "missing");
    const tokens = await open({
      seal: { type: "shamir", keyFile: undefined, credentials: undefined },
      audit: auditIn(folder),
    });
    const made = await ask(tokens, "sys/init", { secret_shares: 3, secret_threshold: 2 });
    const [one, two] = made["keys"] as readonly string[];
    await ask(tokens, "sys/unseal", { key: one });
    await expect(ask(tokens, "sys/unseal", { key: two })).rejects.toThrow(folder);
    expect(tokens.env.keyring?.status().sealed).toBe(true);
    expect(tokens.health()).toMatchObject({
      ok: false,
      reason: expect.stringMatching(
        /^opening the store failed \(.*audit.*\): give 2 of 3 key shares to sys\/unseal/,
      ) as string,
    });
    // The shares are with their holders, whether or not their delivery was recorded.
    await expect(
      ask(tokens, "sys/init", { secret_shares: 1, secret_threshold: 1 }),
    ).rejects.toThrow("already initialized");
    mkdirSync(folder);
    const garbage = "0".repeat(one?.length ?? 0);
    expect(await ask(tokens, "sys/unseal", { key: garbage })).toMatchObject({ sealed: true });
    expect([tokens.gate.isOpen(), tokens.env.keyring?.status().sealed]).toEqual([false, true]);
    await ask(tokens, "sys/unseal", { reset: true });
    await ask(tokens, "sys/unseal", { key: one });
    expect(await ask(tokens, "sys/unseal", { key: two })).toMatchObject({ sealed: false });
    expect(tokens.health()).toEqual({ ok: true });
  });

  it("is sealed again, and says why, with a key file", async () => {
    const folder = temporaryFolder();
    const tokens = await open({ audit: auditIn(folder) });
    const directory = join(tokens.env.status().path, "..");
    const key = readFileSync(join(directory, "tokens.key"), "utf8");
    let shown = "";
    await tokens.showRoot((token) => (shown = token) !== "");
    await tokens.gate.handle({
      verb: "write",
      path: "sys/seal",
      data: {},
      token: Secret.of(shown, "test"),
      remote: undefined,
      wrapTtlMs: undefined,
      signal: new AbortController().signal,
    });
    renameSync(folder, `${folder}.away`);
    await expect(ask(tokens, "sys/unseal", { key })).rejects.toThrow(folder);
    expect(tokens.env.keyring?.status().sealed).toBe(true);
    expect(tokens.health()).toMatchObject({
      reason: expect.stringMatching(
        /^opening the store failed \(.*audit.*\): give the key to sys\/unseal, or restart$/,
      ) as string,
    });
    renameSync(`${folder}.away`, folder);
    expect(await ask(tokens, "sys/unseal", { key })).toMatchObject({ sealed: false });
  });
});
