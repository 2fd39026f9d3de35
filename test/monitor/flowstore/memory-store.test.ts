import { describe, expect, it } from "vitest";
import type { FlowStore } from "../../../src/monitor/flowstore/flow-store.ts";
import { sumWindow } from "../../../src/monitor/flowstore/sum-query.ts";
import { NOW_MS, noFilter, openMemory, sampleFlow } from "./sample-flow.ts";

const signal = new AbortController().signal;

function open(): { store: FlowStore; clock: { nowMs: number } } {
  const clock = { nowMs: NOW_MS };
  let seq = 0;
  const store = openMemory({ clock: { now: () => clock.nowMs }, nextSeq: () => (seq += 1) });
  return { store, clock };
}

const all = { startMs: 0, endMs: NOW_MS * 2, top: 10 };
/** Single connections that are held, the oldest first. */
async function held(store: FlowStore) {
  const { rows } = await store.select(
    { ...all, filter: noFilter, limit: 5_000, before: undefined },
    signal,
  );
  return rows.toReversed();
}

describe("A flow store", () => {
  it("refuses what is older than the retention or too far ahead", async () => {
    const { store } = open();
    expect([
      store.record(sampleFlow({ timeMs: NOW_MS - 3_600_001 })),
      store.record(sampleFlow({ timeMs: NOW_MS - 3_600_000 })),
      store.record(sampleFlow({ timeMs: NOW_MS + 60_001 })),
      store.record(sampleFlow({ timeMs: NOW_MS + 60_000 })),
      store.record(sampleFlow({ timeMs: undefined })),
    ]).toEqual(["expired", undefined, "future", undefined, undefined]);
    expect(store.status()).toEqual({
      buckets: 3,
      capacity: 60,
      observations: 3,
      truncated: 0,
      times: { earliestMs: NOW_MS - 3_630_000, latestMs: NOW_MS + 30_000 },
      backend: {
        kind: "memory",
        path: undefined,
        error: undefined,
        queued: 0,
        queueDrops: 0,
        rows: 0,
        sizeBytes: 0,
      },
    });
  });

  it("drops minutes and connections once they are older than the retention", async () => {
    const { store, clock } = open();
    store.record(sampleFlow({ timeMs: NOW_MS - 3_000_000 }));
    store.record(sampleFlow());
    clock.nowMs += 700_000;
    expect([store.status().buckets, (await held(store)).length]).toEqual([1, 1]);
    clock.nowMs += 3_600_000;
    expect([store.status().buckets, store.status().times, (await held(store)).length]).toEqual([
      0,
      undefined,
      0,
    ]);
  });

  it("merges what exceeds a table into __other__, counts it and keeps totals exact", async () => {
    const { store } = open();
    for (let node = 0; node < 2_100; node += 1)
      store.record(sampleFlow({ srcNode: `n${node}`, dstNode: "" }));
    const sums = await sumWindow([store], { ...all, top: 200 }, signal);
    expect(sums.totals).toMatchObject({ flows: 2_100, txBytes: 210_000, rxBytes: 21_000 });
    expect(sums.ranked.nodes[0]).toMatchObject({
      names: ["__other__"],
      first: { flows: 1_100, txBytes: 110_000 },
    });
    expect([sums.truncated, store.status().truncated]).toEqual([1_100, 1_100]);
    expect((await held(store)).length).toBe(1_000);
  });

  it("sums each end of a connection, seen from there, and a label at both ends once", async () => {
    const { store } = open();
    store.record(sampleFlow({ dstUser: "ada@corp.test", srcTags: "tag:web" }));
    store.record(
      sampleFlow({ trafficType: "physical", path: "derp", derpRegion: "7", dstNode: "" }),
    );
    store.record(sampleFlow({ trafficType: "physical", path: "direct_ipv4", dstNode: "" }));
    const { ranked } = await sumWindow([store], all, signal);
    const shown = (entries: readonly { names: readonly string[]; first: { flows: number } }[]) =>
      entries.map(({ names, first }) => [...names, first.flows]);
    expect(shown(ranked.pairs)).toEqual([["alpha", "beta", "virtual", 1]]);
    expect(
      ranked.nodes.map(({ names, second }) => [...names, second.txBytes, second.flows]),
    ).toEqual([
      ["alpha", 0, 0],
      ["beta", 10, 1],
    ]);
    expect(shown(ranked.ports)).toEqual([["443", "tcp", "https", 1]]);
    expect(shown(ranked.users)).toEqual([["ada@corp.test", 3]]);
    expect(shown(ranked.tags)).toEqual([
      ["tag:db", 3],
      ["tag:web", 3],
    ]);
    expect(shown(ranked.oses)).toEqual([["linux", 3]]);
    expect(shown(ranked.tagMatrix)).toEqual([
      ["tag:web", "tag:db", 1],
      ["tag:web", "tag:web", 1],
    ]);
    expect(shown(ranked.userMatrix)).toEqual([["ada@corp.test", "ada@corp.test", 1]]);
    expect(shown(ranked.derpRegions)).toEqual([["7", 3]].map(([region]) => [region, 1]));
    expect(
      ranked.peerPaths.map(({ names, first, second }) => [...names, first.flows, second.flows]),
    ).toEqual([["alpha", 1, 1]]);
  });

  it("raises the step of a long window until there are at most 720 points", async () => {
    const { store } = open();
    store.record(sampleFlow());
    const stepOf = async (hours: number) =>
      (
        await sumWindow(
          [store],
          { startMs: NOW_MS - hours * 3_600_000, endMs: NOW_MS, top: 1 },
          signal,
        )
      ).stepMs;
    expect([await stepOf(1), await stepOf(12), await stepOf(13), await stepOf(24)]).toEqual([
      60_000, 60_000, 120_000, 120_000,
    ]);
  });

  it("keeps the newest connections by time, whatever the order of their arrival", async () => {
    const { store } = open();
    for (let at = 0; at < 3_500; at += 1)
      store.record(sampleFlow({ timeMs: NOW_MS - ((at * 13) % 3_500) * 1_000 }));
    const times = (await held(store)).map(({ timeMs }) => (NOW_MS - timeMs) / 1_000);
    expect(times).toEqual(Array.from({ length: 1_000 }, (_, at) => 999 - at));
  });
});
