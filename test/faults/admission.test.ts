/**
 * Strangers take all they can get of a daemon with `auth.token` and its limits as shipped; its
 * owner is served and every probe answered. The normal run shows each attack once,
 * `npm run test:long` shows it by every protocol, with and without TLS.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderConfig, smallArchive, writeFiles } from "../contract/corpus.ts";
import {
  type Daemon,
  removeTemporaryFolders,
  rest,
  scrapeValue,
  startDaemon,
  temporaryFolder,
} from "../contract/daemon.ts";
import { hasOpenssl, makePairIn, writePair } from "../kernel/listen/test-certificates.ts";
import { ATTACKS, PULL_ENDPOINT, type Attack, type AttackName } from "../support/attacks.ts";
import { OWNER_KINDS, ownerCalls, PROBE_KINDS } from "../support/owner-calls.ts";
import { isLongRun } from "../support/long-run.ts";

const TOKEN = "operator-token-of-this-test";
/** Rounds of calls while the strangers come, and again while they stand. */
const ROUNDS = isLongRun ? 100 : 30;
/** Of each kind of call of the owner. */
const SERVED = 0.98;

/** What the normal run shows: the harder way of each. */
const SHOWN = new Set([
  "2,000 slow heads, h1, TLS",
  "2,000 slow bodies, h1, plain",
  "300 half-sent bodies, h1, plain",
  "800 unread answers, h2, plain",
  "285 watches over 3 connections, h2, plain",
]);

const VARIANTS = (Object.keys(ATTACKS) as AttackName[])
  .flatMap((attack) =>
    (["h1", "h2"] as const).flatMap((version) =>
      [false, true].map((tls) => ({
        attack,
        version,
        tls,
        name: `${attack}, ${version}, ${tls ? "TLS" : "plain"}`,
      })),
    ),
  )
  .filter(({ tls, name }) => (isLongRun || SHOWN.has(name)) && (!tls || hasOpenssl));

const daemons: Partial<Record<"plain" | "tls", Daemon>> = {};

async function start(tls: boolean): Promise<Daemon> {
  const archive = temporaryFolder();
  writeFiles(archive, smallArchive);
  const certificates = tls
    ? writePair(temporaryFolder(), makePairIn(temporaryFolder(), "hold"))
    : undefined;
  return await startDaemon({
    config: folderConfig(temporaryFolder(), archive, PULL_ENDPOINT),
    env: {
      STEWARD_AUTH__TOKEN: TOKEN,
      ...(certificates === undefined
        ? {}
        : {
            STEWARD_GATEWAY__TLS__CERT_FILE: certificates.certFile,
            STEWARD_GATEWAY__TLS__KEY_FILE: certificates.keyFile,
          }),
    },
  });
}

beforeAll(async () => {
  daemons.plain = await start(false);
  if (hasOpenssl) daemons.tls = await start(true);
});

afterAll(async () => {
  await Promise.all(Object.values(daemons).map((daemon) => daemon.stop()));
  removeTemporaryFolders();
});

describe("the owner is served and every probe answered", () => {
  it.each(VARIANTS)("under $name", async ({ attack, version, tls }) => {
    const daemon = daemons[tls ? "tls" : "plain"];
    if (daemon === undefined) throw new Error("no daemon");
    const calls = ownerCalls(daemon.url, TOKEN);
    await calls.round();
    // The strangers come while the owner calls, and the owner goes on calling once they are all
    // there.
    const { begin, gauge, atLeast } = ATTACKS[attack];
    let most = 0;
    const callRounds = async (): Promise<void> => {
      for (let round = 0; round < ROUNDS; round += 1) {
        await calls.round();
        most = Math.max(most, await scrapeValue(daemon, gauge));
      }
    };
    const coming = begin({ url: daemon.url, version });
    await callRounds();
    const strangers = await coming;
    await callRounds();
    const standing = strangers.standing();
    strangers.stop();
    expect(most, gauge).toBeGreaterThanOrEqual(atLeast);
    // Without a restart, and at once.
    const after = ownerCalls(daemon.url, TOKEN);
    await after.round();
    expect(
      Object.values(after.results)
        .map(({ failures }) => failures)
        .flat(),
    ).toEqual([]);
    after.close();
    const told = Object.fromEntries(
      Object.entries(calls.results).map(([kind, { asked, served, failures }]) => [
        kind,
        `${served}/${asked} ${failures.join("; ")}`,
      ]),
    );
    if (isLongRun)
      process.stdout.write(
        `${attack}, ${version}, ${tls ? "TLS" : "plain"}: ${standing} still stand, ${gauge} ${most}; ${JSON.stringify(told)}\n`,
      );
    for (const kind of OWNER_KINDS)
      expect([
        kind,
        told[kind],
        calls.results[kind].served / calls.results[kind].asked >= SERVED,
      ]).toEqual([kind, told[kind], true]);
    for (const kind of PROBE_KINDS)
      expect([kind, told[kind], calls.results[kind].served]).toEqual([
        kind,
        told[kind],
        calls.results[kind].asked,
      ]);
    calls.close();
  });
});

describe("strangers who do no harm", () => {
  it.each([
    ["300 half-sent bodies", "h1"],
    ["800 unread answers", "h2"],
  ] as const)("are answered under %s, %s", async (attack, version) => {
    const { daemon, attackers } = await underAttack(attack, version);
    const ask = async (): Promise<number> =>
      (await rest(daemon, "GET", "/v1/sys/seal-status")).status;
    // The first of them fill the queue, too, for as long as a request waits for a place.
    await expect.poll(ask, { interval: 50, timeout: 60_000 }).toBe(200);
    const statuses: number[] = [];
    for (let round = 0; round < 20; round += 1) statuses.push(await ask());
    attackers.stop();
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});

async function underAttack(
  attack: AttackName,
  version: "h1" | "h2",
): Promise<{ daemon: Daemon; attackers: Attack }> {
  const daemon = daemons.plain;
  if (daemon === undefined) throw new Error("no daemon");
  const { begin, gauge, atLeast } = ATTACKS[attack];
  const attackers = await begin({ url: daemon.url, version });
  await expect
    .poll(() => scrapeValue(daemon, gauge), { interval: 50 })
    .toBeGreaterThanOrEqual(atLeast);
  return { daemon, attackers };
}
