/**
 * kill -9 while leases of shared tokens are made and ended: afterwards every token that lives is
 * held by a lease or listed as an orphan, and no lease that is left holds a revoked token.
 */
import { randomInt } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { removeTemporaryFolders } from "../../contract/daemon.ts";
import { configure, startCodeHost, startVault, type VaultDaemon } from "../../contract/vault.ts";
import { isLongRun } from "../../support/long-run.ts";

const ROUNDS = isLongRun ? 60 : 4;
/** Leases of one token. */
const HOLDERS = 12;

afterAll(removeTemporaryFolders);

interface Lease {
  readonly id: string;
  readonly hash: string;
}

async function mint(vault: VaultDaemon): Promise<Lease | undefined> {
  const answer = await vault
    .ask("POST", "github/token", { body: { installation_id: 1001 } })
    .catch(() => undefined);
  if (answer === undefined) return undefined;
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return { id: answer.json.lease_id, hash: answer.json.data.hashed_token };
}

const mintAll = (vault: VaultDaemon): Promise<(Lease | undefined)[]> =>
  Promise.all(Array.from({ length: HOLDERS }, () => mint(vault)));

/** Resolves with whether the daemon answered that the lease has ended. */
async function revoke(vault: VaultDaemon, { id }: Lease): Promise<boolean> {
  const answer = await vault
    .ask("PUT", "sys/leases/revoke", { body: { lease_id: id } })
    .catch(() => undefined);
  return answer?.status === 204;
}

async function isKept(vault: VaultDaemon, { id }: Lease): Promise<boolean> {
  const { status } = await vault.ask("PUT", "sys/leases/lookup", { body: { lease_id: id } });
  return status === 200;
}

async function orphans(vault: VaultDaemon): Promise<number> {
  return (await vault.ask("GET", "sys/leases/orphans")).json.data.orphans.length;
}

it(
  `${ROUNDS} kills while shared tokens are minted and revoked lose no lease and end no token early`,
  async () => {
    const host = await startCodeHost({ latencyMs: 5 });
    const services = { dedup: false, monitor: false };
    let vault = await startVault({ services });
    const { state, root } = vault;
    await configure(vault, host, { token_cache_min_ttl: "30m" });
    const alive = (hash: string): boolean => host.liveTokens().some((token) => token.hash === hash);
    let rest = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const strays = host.liveTokens().length;
      const before = (await mintAll(vault)).filter((lease) => lease !== undefined);
      expect(new Set(before.map(({ hash }) => hash)).size).toBe(1);
      // Half of the rounds mint while leases end; the others end leases only.
      const minting = round % 2 === 0 ? [] : Array.from({ length: HOLDERS }, () => mint(vault));
      const keep = round % 4 < 2 ? 1 : 0;
      const ending = before.slice(keep).map((lease) => revoke(vault, lease));
      await pause(randomInt(40));
      await vault.daemon.stop("SIGKILL");
      const minted = (await Promise.all(minting)).filter((lease) => lease !== undefined);
      const ended = await Promise.all(ending);
      vault = await startVault({ services, state, root });
      for (const [at, lease] of before.slice(keep).entries())
        if (ended[at] === true)
          expect([lease.id, await isKept(vault, lease)]).toEqual([lease.id, false]);
      // Revocations that were under way may have reached the platform: those leases hold nothing.
      const sure = [...before.slice(0, keep), ...minted];
      for (const lease of sure)
        expect([await isKept(vault, lease), alive(lease.hash)]).toEqual([true, true]);
      const unknown = await orphans(vault);
      if (minting.length === 0) expect(unknown).toBe(rest);
      const prefix = await vault.ask("PUT", "sys/leases/revoke-prefix/github", {});
      expect([prefix.status, prefix.text]).toEqual([204, ""]);
      const left = host.liveTokens().length;
      if (minting.length === 0) expect(left).toBe(strays);
      expect(left).toBeLessThanOrEqual(unknown);
      rest = unknown;
    }
    await vault.daemon.stop();
    await host.stop();
  },
  60_000 + ROUNDS * 15_000,
);
