/**
 * kill -9 at each step of a mint: what the platform made has a lease or is shown as an orphan, and
 * what was answered has a lease (KERNEL §4, reliability D.2 no. 4).
 */
import { randomInt } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { RepositorySpec } from "../../../src/demo/code-host/types.ts";
import type { CodeHost } from "../../../src/demo/code-host/code-host.ts";
import { removeTemporaryFolders } from "../../contract/daemon.ts";
import {
  appKey,
  configure,
  startCodeHost,
  startVault,
  type VaultAnswer,
  type VaultDaemon,
} from "../../contract/vault.ts";
import { median } from "../../soak/statistics.ts";
import { isLongRun } from "../../support/long-run.ts";

const ROUNDS = isLongRun ? 100 : 3;
/**
 * Mints under way when the daemon dies; each has a repository of its own, by which its token is
 * known again.
 */
const CLIENTS = 6;
/** What the median start after a kill may take longer than an ordinary one. */
const START_SLACK_MS = 5_000;

const repositories: readonly RepositorySpec[] = Array.from({ length: CLIENTS }, (_, at) => ({
  id: 100 + at,
  name: `r${at}`,
}));

afterAll(removeTemporaryFolders);

/** What the platform does with the mints of a round, and when the daemon dies. */
interface Step {
  readonly name: string;
  prepare(host: CodeHost): void;
  /** Resolves when it is time to kill. */
  moment(
    host: CodeHost,
    before: Before,
    answers: readonly Promise<VaultAnswer | undefined>[],
  ): Promise<void>;
}

interface Before {
  readonly requests: number;
  readonly minted: number;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(held: () => boolean): Promise<void> {
  while (!held()) await new Promise((resolve) => setImmediate(resolve));
}

const steps: readonly Step[] = [
  { name: "at a random moment", prepare: () => undefined, moment: () => pause(randomInt(40)) },
  {
    name: "while the platform has the request and has made nothing",
    prepare: (host) => host.faults.next("mint", { kind: "hang" }, CLIENTS),
    moment: (host, { requests }) => until(() => host.requests().mint > requests),
  },
  {
    name: "while the platform has made the token and not answered",
    prepare: (host) => host.faults.next("mint", { kind: "hang", effect: true }, CLIENTS),
    moment: (host, { minted }) => until(() => host.counts().minted > minted),
  },
  {
    name: "while the answer is on its way",
    prepare: (host) =>
      host.faults.next("mint", { kind: "drip", intervalMs: 1, bytes: 20 }, CLIENTS),
    moment: (host, { minted }) =>
      until(() => host.counts().minted > minted).then(() => pause(randomInt(60))),
  },
  {
    name: "while the lease is written",
    prepare: () => undefined,
    moment: (host, { minted }) =>
      until(() => host.counts().minted > minted).then(() => pause(randomInt(4))),
  },
  {
    name: "as soon as the first was answered",
    prepare: () => undefined,
    moment: async (_host, _before, answers) => void (await Promise.race(answers)),
  },
];

async function ordinaryStartMs(): Promise<number> {
  const startedAt = performance.now();
  const { daemon } = await startVault();
  const tookMs = performance.now() - startedAt;
  await daemon.stop();
  return tookMs;
}

/** Mints with every set at once; undefined for what was not answered. */
function mintAll(vault: VaultDaemon): Promise<VaultAnswer | undefined>[] {
  return repositories.map(({ name }) =>
    vault.ask("POST", `github/token/${name}`).catch(() => undefined),
  );
}

async function leaseIds(vault: VaultDaemon): Promise<string[]> {
  const sets =
    ((await vault.ask("LIST", "sys/leases/lookup/github/token")).json?.data?.keys as
      | string[]
      | undefined) ?? [];
  const ids = await Promise.all(
    sets.map(async (set) => {
      const { keys } = (await vault.ask("LIST", `sys/leases/lookup/github/token/${set}`)).json
        .data as { keys: string[] };
      return keys.map((key) => `github/token/${set}${key}`);
    }),
  );
  return ids.flat();
}

async function orphanPaths(vault: VaultDaemon): Promise<string[]> {
  const { orphans } = (await vault.ask("GET", "sys/leases/orphans")).json.data as {
    orphans: { path: string }[];
  };
  return orphans.map(({ path }) => path);
}

/** How often each path was minted for and still lives at the platform. */
function livePaths(host: CodeHost): string[] {
  return host
    .liveTokens()
    .map(({ repositoryIds }) => `github/token/r${(repositoryIds?.[0] ?? 0) - 100}`);
}

function tally(paths: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const path of paths) counts.set(path, (counts.get(path) ?? 0) + 1);
  return counts;
}

/** Paths with more tokens than records. */
function unrecorded(tokens: readonly string[], records: readonly string[]): string[] {
  const kept = tally(records);
  return [...tally(tokens)]
    .filter(([path, count]) => count > (kept.get(path) ?? 0))
    .map(([path, count]) => `${path}: ${count} tokens, ${kept.get(path) ?? 0} records`);
}

/** Lines that are no record and do not end where a kill cut the file. */
function brokenLines(file: string, cuts: ReadonlySet<number>): string[] {
  const bytes = readFileSync(file);
  const broken: string[] = [];
  for (let from = 0; from < bytes.length;) {
    const newline = bytes.indexOf(0x0a, from);
    const end = newline < 0 ? bytes.length : newline;
    try {
      JSON.parse(bytes.toString("utf8", from, end));
    } catch {
      if (!cuts.has(end)) broken.push(bytes.toString("utf8", from, end).slice(0, 200));
    }
    from = end + 1;
  }
  return broken;
}

it.each(steps)(
  `${ROUNDS} kills $name leave no token without a record`,
  { timeout: 900_000 },
  async (step) => {
    const host = await startCodeHost({
      apps: [
        {
          id: 7,
          clientId: "Iv1.0123456789abcdef",
          slug: "estate",
          publicKeys: [appKey.publicKey],
          installations: [
            {
              id: 1001,
              account: { login: "example-org", type: "Organization" },
              permissions: { metadata: "read", contents: "write" },
              repositories,
            },
          ],
        },
      ],
    });
    const startedAt = performance.now();
    let vault = await startVault();
    const usualMs = performance.now() - startedAt;
    expect((await configure(vault, host)).status).toBe(204);
    for (const { id, name } of repositories)
      expect(
        (
          await vault.ask("POST", `github/permissionset/${name}`, {
            body: { installation_id: 1001, repository_ids: [id] },
          })
        ).status,
      ).toBe(204);
    const { root, state } = vault;
    const audit = join(state, "audit.log");
    const cuts = new Set<number>();
    const answered = new Set<string>();
    const slowerMs: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      step.prepare(host);
      const answers = mintAll(vault);
      await step.moment(
        host,
        { requests: host.requests().mint, minted: host.counts().minted },
        answers,
      );
      await vault.daemon.stop("SIGKILL");
      for (const answer of await Promise.all(answers))
        if (answer?.status === 200) answered.add(answer.json.lease_id as string);
      host.faults.clear();
      cuts.add(statSync(audit).size);
      const restartedAt = performance.now();
      vault = await startVault({ state, root });
      const tookMs = performance.now() - restartedAt;
      // A machine that became busy meanwhile slows an ordinary start, too.
      const ordinaryMs = tookMs < usualMs + START_SLACK_MS ? 0 : await ordinaryStartMs();
      slowerMs.push(tookMs - Math.max(usualMs, ordinaryMs));
      const [ids, orphans] = [await leaseIds(vault), await orphanPaths(vault)];
      expect([...answered].filter((id) => !ids.includes(id))).toEqual([]);
      expect(
        unrecorded(livePaths(host), [
          ...ids.map((id) => id.slice(0, id.lastIndexOf("/"))),
          ...orphans,
        ]),
      ).toEqual([]);
      expect(brokenLines(audit, cuts)).toEqual([]);
    }
    expect(median(slowerMs)).toBeLessThan(START_SLACK_MS);
    expect((await vault.ask("PUT", "sys/leases/revoke-prefix/github/token")).status).toBe(204);
    expect(await leaseIds(vault)).toEqual([]);
    expect(unrecorded(livePaths(host), await orphanPaths(vault))).toEqual([]);
    expect(await vault.daemon.stop()).toEqual({ code: 0, signal: null });
    await host.stop();
  },
);

it(
  `${ROUNDS} kills while leases are revoked lose none: what lives at the platform has its lease, and the next revocation ends all`,
  { timeout: 900_000 },
  async () => {
    const host = await startCodeHost({ latencyMs: 5 });
    let vault = await startVault();
    expect((await configure(vault, host)).status).toBe(204);
    const { root, state } = vault;
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all(
        Array.from({ length: 40 }, async () =>
          expect(
            (await vault.ask("POST", "github/token", { body: { installation_id: 1001 } })).status,
          ).toBe(200),
        ),
      );
      const before = host.counts().live;
      expect(before).toBe(40);
      const asked = vault
        .ask("PUT", "sys/leases/revoke-prefix/github", { body: { sync: round % 2 === 0 } })
        .catch(() => undefined);
      await until(() => host.counts().live < before);
      await pause(randomInt(20));
      await vault.daemon.stop("SIGKILL");
      await asked;
      vault = await startVault({ state, root });
      const left = (await vault.ask("GET", "sys/leases/count")).json.data.lease_count as number;
      expect(host.counts().live).toBeLessThanOrEqual(left);
      // A token whose revocation was not written down is answered 401 now, and that is success.
      expect((await vault.ask("PUT", "sys/leases/revoke-prefix/github")).status).toBe(204);
      expect([
        host.counts().live,
        (await vault.ask("GET", "sys/leases/count")).json.data.lease_count,
      ]).toEqual([0, 0]);
    }
    expect(await vault.daemon.stop()).toEqual({ code: 0, signal: null });
    await host.stop();
  },
);
