/**
 * Disks that are full while tokens are minted: 507, no token without a record, reading and revoking
 * go on, and back to normal when there is room (RESOLUTIONS T23; reliability D.3 no. 6, 24).
 */
import { existsSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { CodeHost } from "../../../src/demo/code-host/code-host.ts";
import { fillDisk, mountSmallDisk, noSmallDisk } from "../../kernel/state/fixtures/small-disk.ts";
import { removeTemporaryFolders, temporaryFolder } from "../../contract/daemon.ts";
import {
  configure,
  startCodeHost,
  startVault,
  type VaultAnswer,
  type VaultDaemon,
} from "../../contract/vault.ts";

if (noSmallDisk !== undefined)
  process.stderr.write(`the tests of tokens on a small disk are skipped: ${noSmallDisk}\n`);

/** Holds the store, its reserve and some hundred mints. */
const DISK_MIB = 64;
/** Until when things are as before (reliability D.3 no. 6). */
const BACK_MS = 30_000;
const MOST_MINTS = 3_000;

afterAll(removeTemporaryFolders);

interface House {
  readonly host: CodeHost;
  readonly vault: VaultDaemon;
}

async function house(state: string, auditFile: string): Promise<House> {
  const host = await startCodeHost();
  const vault = await startVault({
    state,
    config: `tokens: { audit: [{ file_path: ${auditFile} }] }`,
  });
  onTestFinished(async () => {
    expect(await vault.daemon.stop()).toEqual({ code: 0, signal: null });
    await host.stop();
  });
  expect((await configure(vault, host)).status).toBe(204);
  return { host, vault };
}

const mint = ({ vault }: House): Promise<VaultAnswer> =>
  vault.ask("POST", "github/token", { body: { installation_id: 1001 } });

/** Mints until the disk refuses; the refusal. */
async function mintUntilFull(at: House): Promise<VaultAnswer> {
  for (let count = 0; count < MOST_MINTS; count++) {
    const answer = await mint(at);
    if (answer.status !== 200) return answer;
  }
  throw new Error(`${MOST_MINTS} mints and no end`);
}

async function leaseCount({ vault }: House): Promise<number> {
  return (await vault.ask("GET", "sys/leases/count")).json.data.lease_count as number;
}

async function orphanCount({ vault }: House): Promise<number> {
  return (await vault.ask("GET", "sys/leases/orphans")).json.data.orphans.length as number;
}

/** A token is revoked at the platform before its lease is deleted. */
async function expectAllRecorded(at: House): Promise<void> {
  await vi.waitFor(
    async () =>
      expect((await leaseCount(at)) + (await orphanCount(at))).toBe(at.host.counts().live),
    { timeout: BACK_MS },
  );
}

describe.skipIf(noSmallDisk !== undefined)("a disk that is full", () => {
  it("where the store is: refuses mints, reads and revokes on, and mints again when there is room", async () => {
    const disk = mountSmallDisk(DISK_MIB);
    const at = await house(disk, join(temporaryFolder(), "audit.log"));
    const { host, vault } = at;
    const first = (await mint(at)).json.lease_id as string;
    const free = fillDisk(disk);
    const refused = await mintUntilFull(at);
    expect([refused.status, refused.text]).toEqual([
      507,
      expect.stringMatching(/full|no space/) as string,
    ]);
    for (let round = 0; round < 20; round++) expect((await mint(at)).status).toBe(507);
    await Promise.all(
      Array.from({ length: 20 }, async () => expect((await mint(at)).status).toBe(507)),
    );
    // What the platform made is leased or shown; what was refused was not asked for, or was taken
    // back.
    await vi.waitFor(
      async () =>
        expect(host.counts().live).toBeLessThanOrEqual(
          (await leaseCount(at)) + (await orphanCount(at)),
        ),
      { timeout: BACK_MS },
    );
    expect((await vault.ask("GET", "github/config")).status).toBe(200);
    expect((await vault.ask("GET", "sys/health")).status).toBe(200);
    expect(
      (await vault.ask("PUT", "sys/leases/lookup", { body: { lease_id: first } })).status,
    ).toBe(200);
    expect(
      (
        await vault.ask("POST", "sys/policies/acl/x", {
          body: { policy: 'path "x" { capabilities = ["read"] }' },
        })
      ).status,
    ).toBe(507);
    const revoked = host.counts().revoked;
    expect(
      (await vault.ask("PUT", "sys/leases/revoke", { body: { lease_id: first } })).status,
    ).toBe(204);
    expect(host.counts().revoked).toBe(revoked + 1);
    free();
    await vi.waitFor(async () => expect((await mint(at)).status).toBe(200), { timeout: BACK_MS });
    await expectAllRecorded(at);
  });

  it("when Steward starts: reads go on, and only a change of the configuration waits for room", async () => {
    const disk = mountSmallDisk(DISK_MIB);
    const host = await startCodeHost();
    onTestFinished(() => host.stop());
    const audit = join(temporaryFolder(), "audit.log");
    const start = async (description: string, root?: string): Promise<VaultDaemon> => {
      const vault = await startVault({
        state: disk,
        config: `tokens: { audit: [{ file_path: ${audit} }], mounts: [{ path: github, description: ${description} }] }`,
        ...(root === undefined ? {} : { root }),
      });
      onTestFinished(async () => void (await vault.daemon.stop()));
      return vault;
    };
    const first = await start("first");
    expect((await configure(first, host)).status).toBe(204);
    const free = fillDisk(disk);
    expect((await mintUntilFull({ host, vault: first })).status).toBe(507);
    await first.daemon.stop();
    // What the released reserve has left; the lock of the folder needs some.
    const freeRest = fillDisk(disk, 256 * 1024);
    const same = await start("first", first.root);
    expect((await same.ask("GET", "github/config")).status).toBe(200);
    await same.daemon.stop();
    // The process ends, for the service manager to start it again.
    await expect(start("second", first.root)).rejects.toThrow(/disk of .* is full/);
    free();
    freeRest();
    const changed = await start("second", first.root);
    expect((await changed.ask("GET", "sys/mounts")).json.data["github/"].description).toBe(
      "second",
    );
    expect((await mint({ host, vault: changed })).status).toBe(200);
  });

  it("since the platform was asked: the token that cannot be recorded is taken back", async () => {
    const disk = mountSmallDisk(DISK_MIB);
    const at = await house(disk, join(temporaryFolder(), "audit.log"));
    const { host } = at;
    const isFull = Promise.withResolvers<void>();
    host.faults.next("mint", { kind: "hold", until: isFull.promise }, 8);
    const pending = Promise.all(Array.from({ length: 8 }, () => mint(at)));
    await vi.waitFor(() => expect(host.requests().mint).toBe(8), { timeout: 60_000 });
    const free = fillDisk(disk);
    // Whatever slack the store has is used up by other writes.
    for (
      let row = 0;
      (
        await at.vault.ask("POST", `github/permissionset/s${row}`, {
          body: {
            installation_id: 1001,
            repositories: Array.from({ length: 400 }, (_, each) => `repository-${each}`),
          },
        })
      ).status !== 507;
      row++
    )
      expect(row).toBeLessThan(3_000);
    isFull.resolve();
    const answers = await pending;
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([507]));
    await vi.waitFor(
      async () => expect(host.counts()).toMatchObject({ minted: 8, live: await orphanCount(at) }),
      { timeout: BACK_MS },
    );
    expect(await leaseCount(at)).toBe(0);
    free();
    await vi.waitFor(async () => expect((await mint(at)).status).toBe(200), { timeout: BACK_MS });
  });

  it("where the audit is, since the platform was asked: what was made is taken back, and nobody is told it", async () => {
    const disk = mountSmallDisk(1);
    const at = await house(temporaryFolder(), join(disk, "audit.log"));
    const { host, vault } = at;
    const isFull = Promise.withResolvers<void>();
    host.faults.next("mint", { kind: "hold", until: isFull.promise }, 8);
    const pending = Promise.all(Array.from({ length: 8 }, () => mint(at)));
    await vi.waitFor(() => expect(host.requests().mint).toBe(8), { timeout: 60_000 });
    const free = fillDisk(disk);
    while ((await vault.ask("GET", "github/config")).status !== 507);
    isFull.resolve();
    for (const answer of await pending) {
      expect(answer.status).toBe(507);
      expect(answer.text).not.toContain("ghs_");
    }
    await vi.waitFor(() => expect(host.counts()).toMatchObject({ minted: 8, live: 0 }), {
      timeout: BACK_MS,
    });
    free();
    // The platform hears of a revocation before the store does.
    await vi.waitFor(
      async () => expect([await leaseCount(at), await orphanCount(at)]).toEqual([0, 0]),
      { timeout: BACK_MS },
    );
    expect([await leaseCount(at), await orphanCount(at), (await mint(at)).status]).toEqual([
      0, 0, 200,
    ]);
  });

  it("where the audit is: nothing is done and nothing is said without its record, and it goes on by itself", async () => {
    const disk = mountSmallDisk(1);
    const at = await house(temporaryFolder(), join(disk, "audit.log"));
    const { host, vault } = at;
    const free = fillDisk(disk);
    // The page that the file has begun takes a few more records.
    const refused = await mintUntilFull(at);
    expect([refused.status, refused.text]).toEqual([
      507,
      expect.stringMatching(
        /audit device file\/ .*accepts no records: its disk is full.*free space/,
      ) as string,
    ]);
    const asked = host.requests().mint;
    for (const [method, path] of [
      ["POST", "github/token"],
      ["GET", "github/config"],
      ["GET", "sys/mounts"],
      ["GET", "auth/token/lookup-self"],
      ["POST", "auth/token/create"],
    ] as const) {
      const answer = await vault.ask(
        method,
        path,
        method === "POST" ? { body: path === "github/token" ? { installation_id: 1001 } : {} } : {},
      );
      expect([path, answer.status]).toEqual([path, 507]);
      expect(answer.text).not.toMatch(/ghs_|hvs\./);
    }
    expect(host.requests().mint).toBe(asked);
    expect((await vault.ask("GET", "sys/health")).status).toBe(200);
    free();
    expect((await mint(at)).status).toBe(200);
    await expectAllRecorded(at);
    // A record that the full disk truncated is on a line of its own; every other line is a
    // record.
    const lines = readFileSync(join(disk, "audit.log"), "utf8").trimEnd().split("\n");
    const broken = lines.filter((line) => !isJson(line));
    expect(broken.length).toBeLessThanOrEqual(1);
  });
});

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

describe("an audit file", () => {
  it("that was renamed is written until SIGHUP, then a new one of its name", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "audit.log");
    const at = await house(temporaryFolder(), file);
    renameSync(file, `${file}.1`);
    await at.vault.ask("GET", "github/config");
    const before = readFileSync(`${file}.1`, "utf8");
    expect(before).toContain("github/config");
    process.kill(at.vault.daemon.pid, "SIGHUP");
    await vi.waitFor(
      () => expect(at.vault.daemon.stderr.join("\n")).toContain("reopened the audit files"),
      { timeout: 60_000 },
    );
    expect((await mint(at)).status).toBe(200);
    expect(readFileSync(file, "utf8")).toContain("github/token");
    expect(readFileSync(`${file}.1`, "utf8")).toBe(before);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("that was removed is made anew within moments", async () => {
    const file = join(temporaryFolder(), "audit.log");
    const at = await house(temporaryFolder(), file);
    rmSync(file);
    await vi.waitFor(
      async () => {
        expect((await at.vault.ask("GET", "github/config")).status).toBe(200);
        expect(existsSync(file)).toBe(true);
      },
      { timeout: 60_000, interval: 100 },
    );
    expect((await mint(at)).status).toBe(200);
    expect(readFileSync(file, "utf8")).toContain("github/token");
  });

  it("whose folder has moved away at SIGHUP stays in use, and requests go on being recorded", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "audit.log");
    const at = await house(temporaryFolder(), file);
    renameSync(file, `${file}.1`);
    renameSync(folder, `${folder}-away`);
    onTestFinished(() => rmSync(`${folder}-away`, { recursive: true, force: true }));
    process.kill(at.vault.daemon.pid, "SIGHUP");
    await vi.waitFor(
      () => expect(at.vault.daemon.stderr.join("\n")).toContain("reopening the audit files failed"),
      { timeout: 60_000 },
    );
    expect((await mint(at)).status).toBe(200);
    expect(readFileSync(join(`${folder}-away`, "audit.log.1"), "utf8")).toContain("github/token");
  });
});
