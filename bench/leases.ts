/**
 * What leases cost: `bin/node --expose-gc bench/leases.ts [LEASES]`. Registers them through the
 * same calls as a mint (intent, then lease), with answers like the platform's (a token of 520
 * characters, permissions, one repository), 64 at once, every change flushed; then collects and
 * compares the process's resident memory with that before the first lease, opens the store anew and
 * compares once more, lists, and lets all expire at one moment, with a backend that answers at once
 * and with one that takes 1 ms.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { systemClock, type Clock } from "../src/kernel/base/clock.ts";
import { systemIds } from "../src/kernel/base/ids.ts";
import { createLog } from "../src/kernel/base/log.ts";
import { createStateFactory } from "../src/kernel/state/state-factory.ts";
import type { Env } from "../src/kernel/state/types.ts";
import { openExpiryClock } from "../src/tokens/vault/expiry/stored-clock.ts";
import { expiryTables } from "../src/tokens/vault/expiry/tables.ts";
import { createLeases, type LeasesService } from "../src/tokens/vault/leases/leases.ts";
import { leaseTables } from "../src/tokens/vault/leases/tables.ts";
import type { RevokeBackend } from "../src/tokens/vault/types.ts";

const COUNT = Number(process.argv[2] ?? 100_000);
const AT_ONCE = 64;
const TTL_MS = 3_600_000;
const TOKENS = 1_000;

const log = createLog({
  level: "warn",
  format: "text",
  write: (line) => process.stderr.write(line),
  now: () => Date.now(),
});
const { gc } = globalThis as {
  gc?: (options: { type: "major"; flavor: "last-resort"; execution: "sync" }) => void;
};
if (gc === undefined)
  throw new Error("run it with --expose-gc: the figure is what is left after a collection");

/** Time that the bench can set ahead, so that all leases are due at once. */
let aheadMs = 0;
const clock: Clock = {
  now: () => systemClock.now() + aheadMs,
  monotonic: () => systemClock.monotonic() + aheadMs,
  timer: (atMs, run) => systemClock.timer(atMs - aheadMs, run),
};

interface Open {
  readonly env: Env;
  readonly leases: LeasesService;
}

async function open(directory: string, revoke: RevokeBackend): Promise<Open> {
  const env = await createStateFactory({ directory, clock, log }).open({
    name: "tokens",
    tables: [...expiryTables, ...leaseTables],
    schema: 1,
    derived: false,
    maxBytes: 2 ** 32,
  });
  await env.keyring?.unseal(Buffer.alloc(32, 7));
  const leases = createLeases({
    env,
    clock: await openExpiryClock({ env, clock, log }),
    ids: systemIds,
    log,
    revoke,
  });
  await leases.start();
  return { env, leases };
}

/** Resident memory after a collection, and how it is made up, in MB. */
async function residentMb(): Promise<{ all: number; anonymous: number; files: number }> {
  for (let round = 0; round < 3; round += 1) {
    gc?.({ type: "major", flavor: "last-resort", execution: "sync" });
    await setTimeout(50);
  }
  const status = readFileSync("/proc/self/status", "utf8");
  const of = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? Number.NaN) / 1_000;
  return { all: of("VmRSS"), anonymous: of("RssAnon"), files: of("RssFile") };
}

async function mint(leases: LeasesService, at: number): Promise<void> {
  const intent = await leases.intend({
    requestId: systemIds.uuid(),
    path: "github/token",
    mountPoint: "github/",
    about: { installation_id: 1001 },
  });
  const { stored } = leases.register({
    path: "github/token",
    mountPoint: "github/",
    ttlMs: TTL_MS,
    token: { key: `token-${at % TOKENS}`.padEnd(64, "0"), expiresAtMs: undefined },
    intent,
    response: {
      data: {
        token: `ghs_${randomBytes(387).toString("base64url")}`,
        hashed_token: randomBytes(32).toString("base64"),
        installation_id: 1001,
        org_name: "example-org",
        expires_at: new Date(clock.now() + TTL_MS).toISOString(),
        permissions: { contents: "read", metadata: "read" },
        repository_selection: "selected",
        repositories: ["web"],
      },
      secret: {
        ttlMs: TTL_MS,
        renewable: false,
        internalData: {
          secret_type: "github_token",
          base_url: "https://api.github.com/",
          installation_id: 1001,
        },
      },
    },
  });
  await stored;
}

async function fill(leases: LeasesService): Promise<number> {
  const began = performance.now();
  let made = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (made < COUNT) await mint(leases, made++);
    }),
  );
  return (COUNT / (performance.now() - began)) * 1_000;
}

async function expire(leases: LeasesService): Promise<number> {
  aheadMs += TTL_MS + 1_000;
  const began = performance.now();
  await leases.stop(60_000);
  await leases.start();
  while (leases.counts().leases > 0) await setTimeout(20);
  return (COUNT / (performance.now() - began)) * 1_000;
}

const backends: readonly (readonly [string, RevokeBackend])[] = [
  ["answers at once", () => Promise.resolve()],
  ["takes 1 ms", () => setTimeout(1)],
];
for (const [name, revoke] of backends) {
  const directory = mkdtempSync(join(tmpdir(), "steward-leases-"));
  try {
    const warm = mkdtempSync(join(tmpdir(), "steward-leases-warm-"));
    const warming = await open(warm, revoke);
    for (let at = 0; at < 2_000; at += 1) await mint(warming.leases, at);
    await warming.leases.stop(1_000);
    await warming.env.close();
    rmSync(warm, { recursive: true, force: true });

    const first = await open(directory, revoke);
    const before = await residentMb();
    const perSecond = await fill(first.leases);
    const held = await residentMb();
    const { bytes } = first.env.status();
    process.stdout.write(
      `a backend that ${name}: ${COUNT} leases registered at ${perSecond.toFixed(0)}/s with ${AT_ONCE} at once\n`,
    );
    process.stdout.write(
      `  resident growth after a collection ${(held.all - before.all).toFixed(1)} MB (private ${(held.anonymous - before.anonymous).toFixed(1)}, mapped file ${(held.files - before.files).toFixed(1)}); file ${(bytes / 1e6).toFixed(0)} MB\n`,
    );
    for (const prefix of ["github/", "github/token/"]) {
      const began = performance.now();
      const names = (await first.leases.list(prefix)).length;
      process.stdout.write(
        `  list("${prefix}"): ${names} names in ${(performance.now() - began).toFixed(1)} ms\n`,
      );
    }
    const began = performance.now();
    for (let round = 0; round < 1_000; round += 1) first.leases.counts();
    process.stdout.write(`  counts(): ${(performance.now() - began).toFixed(1)} µs\n`);
    const rate = await expire(first.leases);
    const after = await residentMb();
    process.stdout.write(
      `  all expired at ${rate.toFixed(0)}/s; resident growth then ${(after.all - before.all).toFixed(1)} MB\n`,
    );
    await first.leases.stop(1_000);
    await first.env.close();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
