/**
 * The wall clock of a running daemon is set back and ahead, within one boot of the machine and over
 * another: no token lives longer, and a jump to 2099 that is undone ends nothing. With expiry by
 * the wall clock alone, as before `src/tokens/vault/expiry`, all but the last of these tests fail.
 */
import { afterAll, describe, expect, it } from "vitest";
import { removeTemporaryFolders } from "../../contract/daemon.ts";
import { startVault, type VaultAnswer, type VaultDaemon } from "../../contract/vault.ts";
import { buildShim } from "../shim/build.ts";
import { createShimClock, type ShimClock } from "../shim/clock.ts";

const library = buildShim("clock");
const DAY_SECONDS = 86_400;
const TO_2099 = 73 * 365 * DAY_SECONDS;
/**
 * Of what has to end during a test; long enough for a start on a busy machine to see some of it
 * alive.
 */
const TTL_SECONDS = 6;
/** How late the end may be seen. */
const SLACK_MS = 10_000;

afterAll(removeTemporaryFolders);

/** One of everything that has an end of its own. */
interface Made {
  readonly service: string;
  readonly batch: string;
  readonly wrapping: string;
  readonly roleId: string;
  readonly secretId: string;
  readonly madeAtMs: number;
}

async function make(vault: VaultDaemon, ttlSeconds: number): Promise<Made> {
  const created = async (body: object): Promise<string> =>
    (await vault.ask("POST", "auth/token/create", { body: { ttl: `${ttlSeconds}s`, ...body } }))
      .json.auth.client_token as string;
  const madeAtMs = performance.now();
  await vault.ask("POST", "sys/auth/approle", { body: { type: "approle" } });
  await vault.ask("POST", "auth/approle/role/app", {
    body: { token_ttl: "1h", token_policies: "default" },
  });
  return {
    madeAtMs,
    service: await created({}),
    batch: await created({ type: "batch" }),
    wrapping: (
      await vault.ask("GET", "sys/policies/acl/default", {
        headers: { "x-vault-wrap-ttl": `${ttlSeconds}s` },
      })
    ).json.wrap_info.token as string,
    roleId: (await vault.ask("GET", "auth/approle/role/app/role-id")).json.data.role_id as string,
    secretId: (
      await vault.ask("POST", "auth/approle/role/app/secret-id", {
        body: { ttl: `${ttlSeconds}s` },
      })
    ).json.data.secret_id as string,
  };
}

/** Which of them still work. */
async function working(vault: VaultDaemon, made: Made): Promise<string[]> {
  const answers: Record<string, VaultAnswer> = {
    service: await vault.ask("GET", "auth/token/lookup-self", { token: made.service }),
    batch: await vault.ask("GET", "auth/token/lookup-self", { token: made.batch }),
    wrapping: await vault.ask("POST", "sys/wrapping/lookup", { body: { token: made.wrapping } }),
    "secret id": await vault.ask("POST", "auth/approle/login", {
      body: { role_id: made.roleId, secret_id: made.secretId },
    }),
  };
  return Object.entries(answers).flatMap(([name, { status }]) => (status === 200 ? [name] : []));
}

const ALL = ["service", "batch", "wrapping", "secret id"];

/** Made to end during the test. On a busy machine some of it may end before it is seen. */
async function makeShort(
  vault: VaultDaemon,
): Promise<{ readonly made: Made; readonly ttlSeconds: number }> {
  for (let ttlSeconds = TTL_SECONDS; ; ttlSeconds *= 2) {
    const made = await make(vault, ttlSeconds);
    const seen = await working(vault, made);
    if (seen.length === ALL.length) return { made, ttlSeconds };
    expect([ttlSeconds < 60, performance.now() - made.madeAtMs > ttlSeconds * 1_000]).toEqual([
      true,
      true,
    ]);
  }
}

async function restart(
  vault: VaultDaemon,
  clock: ShimClock,
  change: { readonly wall: number; readonly boot: string },
): Promise<VaultDaemon> {
  await vault.daemon.stop();
  clock.setWall(change.wall);
  clock.setBoot(change.boot);
  return await startVault({ state: vault.state, root: vault.root, env: clock.env });
}

async function expectEnd(vault: VaultDaemon, made: Made, ttlSeconds: number): Promise<void> {
  const leftMs = made.madeAtMs + ttlSeconds * 1_000 - performance.now();
  await expect
    .poll(() => working(vault, made), { interval: 500, timeout: Math.max(0, leftMs) + SLACK_MS })
    .toEqual([]);
}

describe.skipIf(library === undefined)("a daemon whose wall clock is set", () => {
  it.each(["boot-1", "boot-2"])(
    "3,000 days back across a restart (in %s) ends tokens, wrapped answers and secret ids when their time has passed",
    async (boot) => {
      const clock = createShimClock(library ?? "");
      const first = await startVault({ env: clock.env });
      const { made, ttlSeconds } = await makeShort(first);
      const second = await restart(first, clock, { wall: -3_000 * DAY_SECONDS, boot });
      const shown = await second.ask("POST", "auth/token/lookup", {
        body: { token: made.service },
      });
      if (shown.status === 200) expect(shown.json.data.ttl).toBeLessThanOrEqual(ttlSeconds);
      expect(
        second.daemon.stderr.filter((line) =>
          line.includes("the wall clock was set back while Steward was down"),
        ),
      ).toHaveLength(1);
      await expectEnd(second, made, ttlSeconds);
      await second.daemon.stop();
    },
  );

  it("to 2099 over another boot refuses them, and has them again when that is undone; what was made meanwhile ends in time", async () => {
    const clock = createShimClock(library ?? "");
    const first = await startVault({ env: clock.env });
    const old = await make(first, 30 * DAY_SECONDS);
    const future = await restart(first, clock, { wall: TO_2099, boot: "boot-2" });
    expect(await working(future, old)).toEqual([]);
    expect(
      future.daemon.stderr.filter((line) => line.includes("the wall clock is further ahead")),
    ).toHaveLength(1);
    const { made: meanwhile, ttlSeconds } = await makeShort(future);
    const undone = await restart(future, clock, { wall: 0, boot: "boot-3" });
    expect(await working(undone, old)).toEqual(ALL);
    await expectEnd(undone, meanwhile, ttlSeconds);
    expect(await working(undone, old)).toEqual(ALL);
    await undone.daemon.stop();
  });

  it("while it runs, back and to 2099 and back again, keeps what has time left and ends what has none", async () => {
    const clock = createShimClock(library ?? "");
    const vault = await startVault({ env: clock.env });
    const [long, short] = [await make(vault, 30 * DAY_SECONDS), await make(vault, TTL_SECONDS)];
    clock.setWall(-3_000 * DAY_SECONDS);
    expect(await working(vault, long)).toEqual(ALL);
    clock.setWall(TO_2099);
    expect(await working(vault, long)).toEqual([]);
    clock.setWall(-3_000 * DAY_SECONDS);
    await expectEnd(vault, short, TTL_SECONDS);
    expect(await working(vault, long)).toEqual(ALL);
    await vault.daemon.stop();
  });

  it("is off for 40 days with a clock that is right: what had 30 days has ended", async () => {
    const clock = createShimClock(library ?? "");
    const first = await startVault({ env: clock.env });
    const made = await make(first, 30 * DAY_SECONDS);
    const second = await restart(first, clock, { wall: 40 * DAY_SECONDS, boot: "boot-2" });
    expect(await working(second, made)).toEqual([]);
    await second.daemon.stop();
  });
});
