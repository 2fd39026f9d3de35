/**
 * Three replicas over a real etcd whose holder is killed, paused and cut off: never two that act,
 * beyond the batch that a paused process was about to send, and another takes over within two lease
 * lengths.
 */
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { removeTemporaryFolders, temporaryFolder } from "../contract/daemon.ts";
import { startEstate } from "../contract/monitor-estate.ts";
import {
  holderOf,
  late,
  senders,
  SOON,
  startReplica,
  TTL_MS,
  type Replica,
} from "../contract/replicas.ts";
import { hasEtcd, startEtcd, startProxy, type Proxy } from "../monitor/coordination/etcd.ts";
import { startReceiver, type Receiver } from "../support/otlp/receiver.ts";
import { isLongRun } from "../support/long-run.ts";

const ROUNDS = isLongRun ? 50 : 3;
const FAULTS = ["killed", "paused", "cut off"] as const;
const NAMES = ["a", "b", "c"] as const;

afterAll(removeTemporaryFolders);

/** Waits until one holds the lease and exports; on a busy machine a lease may pass on by itself. */
async function actingOf(
  replicas: readonly Replica[],
  { batches }: Pick<Receiver, "batches">,
): Promise<Replica> {
  return await vi.waitFor(async () => {
    const holder = await holderOf(replicas);
    expect(senders(batches)).toContain(holder.name);
    return holder;
  }, SOON);
}

describe.skipIf(!hasEtcd)("three replicas (skipped without the etcd command)", () => {
  it(
    `act one at a time while the holder is killed, paused and cut off, ${ROUNDS} times`,
    async () => {
      await using etcd = await startEtcd();
      await using estate = await startEstate();
      const exported = await startReceiver({ protocol: "http" });
      const proxies = new Map<string, Proxy>();
      const states = new Map(NAMES.map((name) => [name as string, temporaryFolder()]));
      const start = (name: string): Promise<Replica> =>
        startReplica(name, {
          estate,
          exported,
          etcd: proxies.get(name)!,
          state: states.get(name)!,
          sections: {
            collectors: { devices: { interval: "1s" }, flowlogs: { interval: "1s", lag: "0s" } },
          },
        });
      for (const name of NAMES) proxies.set(name, await startProxy(etcd.endpoint));
      let replicas = await Promise.all(NAMES.map(start));
      onTestFinished(async () => {
        await Promise.all(replicas.map(({ daemon }) => daemon.stop("SIGKILL")));
        for (const proxy of proxies.values()) proxy[Symbol.dispose]();
        await exported.close();
      });
      const tookMs: number[] = [];
      let afterwards = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        const fault = FAULTS[round % FAULTS.length]!;
        exported.clear();
        const holder = await actingOf(replicas, exported);
        // Faults come at any moment of an export.
        await pause(Math.random() * 500);
        const others = replicas.filter((each) => each !== holder);
        const proxy = proxies.get(holder.name)!;
        const atMs = performance.now();
        if (fault === "killed") await holder.daemon.stop("SIGKILL");
        else if (fault === "paused") process.kill(holder.daemon.pid, "SIGSTOP");
        else proxy.cut();
        await actingOf(others, exported);
        tookMs.push(performance.now() - atMs);
        if (fault === "killed") replicas = [...others, await start(holder.name)];
        else if (fault === "paused") process.kill(holder.daemon.pid, "SIGCONT");
        else proxy.mend();
        // Time for whatever a replica that came back might still want to send.
        await pause(1_500);
        const lateBatches = late(senders(exported.batches));
        const lateLogs = late(senders(exported.logBatches));
        afterwards += lateBatches + lateLogs;
        const allowed = fault === "paused" ? 1 : 0;
        expect([fault, lateBatches <= allowed, lateLogs <= allowed]).toEqual([fault, true, true]);
      }
      process.stderr.write(
        `${ROUNDS} faults: take-over after at most ${Math.max(...tookMs).toFixed(0)} ms of a lease of ${TTL_MS} ms; batches of paused holders after it: ${afterwards}\n`,
      );
      expect(Math.max(...tookMs)).toBeLessThan(2 * TTL_MS);
      for (const { daemon } of replicas)
        expect(await daemon.stop()).toEqual({ code: 0, signal: null });
    },
    60_000 + ROUNDS * 40_000,
  );
});
