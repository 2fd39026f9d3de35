/** The lease of replicas against a real etcd. */
import { createInterface } from "node:readline";
import { describe, expect, it } from "vitest";
import { systemClock as clock } from "../../../src/kernel/base/clock.ts";
import { spawn } from "../../support/spawn.ts";
import { deleteKey, hasEtcd, startEtcd, startProxy, storeAt } from "./etcd.ts";
import { startReplica, type TestReplica } from "./replica.ts";

const TTL_MS = 2_000;
const never = new AbortController().signal;

const begin = ({ endpoint }: { readonly endpoint: string }, name: string): TestReplica =>
  startReplica(storeAt(endpoint, name, TTL_MS), TTL_MS);

/** Epoch and monotonic nanoseconds of each effect, and a way to wait for the next tenure. */
interface Effect {
  readonly replica: string;
  readonly epoch: bigint;
  readonly atNs: bigint;
}

describe.skipIf(!hasEtcd)("the lease in etcd (skipped without the etcd command)", () => {
  it("has one holder, and at its stop the next takes over with a greater epoch", async () => {
    await using etcd = await startEtcd();
    await using first = begin(etcd, "first");
    await expect.poll(() => first.election.state().role).toBe("holder");
    await using second = begin(etcd, "second");
    await expect
      .poll(() => second.election.state())
      .toEqual({ role: "standby", holder: "first", problem: undefined });
    const stoppedMs = clock.monotonic();
    await first.election.stop();
    await expect.poll(() => second.tenures.length, { interval: 5 }).toBe(1);
    // The lease was given back: nobody waited for its end.
    expect(clock.monotonic() - stoppedMs).toBeLessThan(TTL_MS);
    expect(first.tenures[0]?.fence.isOpen()).toBe(false);
    expect(second.tenures[0]?.epoch).toBeGreaterThan(first.tenures[0]?.epoch ?? 0n);
  });

  it("a holder that is cut off stops before another can take over", async () => {
    await using etcd = await startEtcd();
    using proxy = await startProxy(etcd.endpoint);
    await using first = begin(proxy, "first");
    await expect.poll(() => first.tenures.length).toBe(1);
    await using second = begin(etcd, "second");
    await expect.poll(() => second.election.state()).toMatchObject({ holder: "first" });
    proxy.cut();
    const cutMs = clock.monotonic();
    let endedMs = Number.POSITIVE_INFINITY;
    first.tenures[0]?.signal.addEventListener("abort", () => (endedMs = clock.monotonic()));
    await expect.poll(() => second.tenures.length, { interval: 5 }).toBe(1);
    expect(endedMs).toBeLessThan(clock.monotonic());
    expect(first.tenures[0]?.fence.isOpen()).toBe(false);
    expect(clock.monotonic() - cutMs).toBeLessThan(2 * TTL_MS);
  });

  it("a holder whose key was deleted stops at its next renewal", async () => {
    await using etcd = await startEtcd();
    await using first = begin(etcd, "first");
    await expect.poll(() => first.tenures.length).toBe(1);
    await deleteKey(etcd, "/steward/lease");
    await expect.poll(() => first.tenures[0]?.fence.isOpen()).toBe(false);
    await expect.poll(() => first.tenures.length, { timeout: 60_000 }).toBe(2);
  });

  it("says what is wrong when etcd cannot be reached, and takes the lease once it can", async () => {
    await using etcd = await startEtcd();
    using proxy = await startProxy(etcd.endpoint);
    proxy.cut();
    using store = storeAt(proxy.endpoint, "test", TTL_MS);
    await expect(store.acquire(AbortSignal.timeout(50))).rejects.toThrow();
    using refused = storeAt("127.0.0.1:1", "test", TTL_MS);
    await expect(refused.acquire(never)).rejects.toThrow(
      "etcd at 127.0.0.1:1 refused /etcdserverpb.Lease/LeaseGrant",
    );
  });

  it("keeps the positions of a holder for the next one, and of nobody else", async () => {
    await using etcd = await startEtcd();
    await using first = begin(etcd, "first");
    await expect.poll(() => first.tenures.length).toBe(1);
    expect(first.tenures[0]?.positions).toBeUndefined();
    first.tenures[0]?.keep("1");
    first.tenures[0]?.keep("2");
    await first.election.stop();
    await using second = begin(etcd, "second");
    await expect.poll(() => second.tenures.length).toBe(1);
    expect(second.tenures[0]?.positions).toBe("2");
    using stale = storeAt(etcd.endpoint, "first", TTL_MS);
    const grant = { epoch: first.tenures[0]?.epoch ?? 0n, ttlMs: TTL_MS, lease: 0n };
    expect(await stale.keepPositions(grant, "3", never)).toBe(false);
    expect(await stale.positions(never)).toBe("2");
  });

  it("of three processes one acts at a time while holders are killed and paused", async () => {
    await using etcd = await startEtcd();
    const effects: Effect[] = [];
    const starts: { replica: string; epoch: string; atMs: number }[] = [];
    const hasActed = (at: number): boolean =>
      effects.some(({ epoch }) => String(epoch) === starts[at]?.epoch);
    const start = (name: string) => {
      const script = `${import.meta.dirname}/fixtures/replica.ts`;
      const args = ["--disable-warning=ExperimentalWarning", script];
      const child = spawn(process.execPath, [...args, etcd.endpoint, name, String(TTL_MS)]);
      createInterface({ input: child.stdout }).on("line", (line) => {
        const [word, epoch = "", atNs = ""] = line.split(" ");
        if (word === "start") starts.push({ replica: name, epoch, atMs: clock.monotonic() });
        else effects.push({ replica: name, epoch: BigInt(epoch), atNs: BigInt(atNs) });
      });
      child.stderr.resume();
      return child;
    };
    const replicas = new Map(["a", "b", "c"].map((name) => [name, start(name)]));
    try {
      for (const [round, signal] of (["SIGSTOP", "SIGKILL", "SIGSTOP"] as const).entries()) {
        await expect.poll(() => hasActed(round)).toBe(true);
        const holder = starts.at(-1)?.replica ?? "";
        const child = replicas.get(holder);
        const hitMs = clock.monotonic();
        child?.kill(signal);
        await expect.poll(() => starts.length, { interval: 10 }).toBe(round + 2);
        expect((starts.at(-1)?.atMs ?? Infinity) - hitMs).toBeLessThan(2 * TTL_MS);
        if (signal === "SIGSTOP") child?.kill("SIGCONT");
        else replicas.set(holder, start(holder));
      }
      await expect.poll(() => hasActed(3)).toBe(true);
    } finally {
      for (const child of replicas.values()) child.kill("SIGKILL");
    }
    // In the order of their times, at most one effect of a paused holder has an older epoch.
    const ordered = effects.toSorted((a, b) => Number(a.atNs - b.atNs));
    let newest = 0n;
    const late = ordered.filter(({ epoch }) => {
      if (epoch > newest) newest = epoch;
      return epoch < newest;
    });
    expect(late.length).toBeLessThanOrEqual(2);
  });
});
