import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { Secret } from "../../../src/kernel/base/secret.ts";
import { sendSecret } from "../../../src/kernel/threads/secrets.ts";
import { flowDocument } from "../../../src/monitor/flowstore/flow-document.ts";
import type { FlowPart, FlowStores } from "../../../src/monitor/flowstore/flow-store.ts";
import { openFlowStores } from "../../../src/monitor/flowstore/flow-stores.ts";
import { selectRecent } from "../../../src/monitor/flowstore/recent-query.ts";
import { sumWindow } from "../../../src/monitor/flowstore/sum-query.ts";
import type { FlowStoreOptions, NetworkOptions } from "../../../src/monitor/options.ts";
import { silent } from "../../demo/control-plane/support.ts";
import { networkOptions } from "../collectors/harness.ts";
import { flowLogOptions } from "../flows/fixtures.ts";
import { NOW_MS, noFilter, sampleFlow, shownPrivacy, storeOptions } from "./sample-flow.ts";

const clock = { ...systemClock, now: () => NOW_MS };
const network = (name: string, logs = true): NetworkOptions => ({
  ...networkOptions(logs ? { collectors: { flowlogs: flowLogOptions } } : {}),
  provider: {
    kind: "tailscale",
    url: "http://127.0.0.1:1",
    network: name,
    auth: { method: "apikey", key: sendSecret(Secret.of("key", "test")) },
    http: { timeoutMs: 1, maxAttempts: 1, baseDelayMs: 1, maxDelayMs: 1, rateLimit: 0 },
    maxResponseBytes: 1,
    maxLogResponseBytes: 1,
  },
  name,
});
const open = (networks: readonly NetworkOptions[], flows = storeOptions) =>
  openFlowStores(
    { clock, log: silent, version: "0.0.0" },
    { flows, networks, privacy: shownPrivacy },
  );
/** Of the minutes of all stores. */
const entriesOf = (stores: FlowStores): number =>
  stores.all
    .flatMap((store) => [...(store.parts({ startMs: 0, endMs: NOW_MS }, signal) as FlowPart[])])
    .flatMap(({ tables }) => Object.values(tables))
    .reduce((entries, { size }) => entries + size, 0);
const signal = new AbortController().signal;
const query = { filter: noFilter, startMs: 0, endMs: NOW_MS, limit: 3, before: undefined };

it("networks with flow logs have stores, in the order of the configuration", async () => {
  const stores = await open([network("b"), network("none", false), network("a")]);
  expect(stores?.all.map((store) => store.network)).toEqual(["b", "a"]);
  expect([stores?.of("none"), stores?.of("a")?.network]).toEqual([undefined, "a"]);
  const without = { networks: [network("a")], privacy: shownPrivacy, flows: undefined };
  expect(await openFlowStores({ clock, log: silent, version: "0.0.0" }, without)).toBeUndefined();
  expect(await open([network("a", false)])).toBeUndefined();
});

it("pages go on over all networks by time and arrival, also when late flows arrive between them", async () => {
  const stores = await open([network("a"), network("b")]);
  const [a, b] = stores?.all ?? [];
  for (let at = 0; at < 4; at += 1) {
    a?.record(sampleFlow({ timeMs: NOW_MS - at * 1_000, srcNode: `a${at}` }));
    b?.record(sampleFlow({ timeMs: NOW_MS - at * 1_000, srcNode: `b${at}` }));
  }
  const all = stores?.all ?? [];
  const first = await selectRecent(all, query, signal);
  a?.record(sampleFlow({ timeMs: NOW_MS - 2_500, srcNode: "late" }));
  const second = await selectRecent(all, { ...query, before: first.next }, signal);
  const third = await selectRecent(all, { ...query, before: second.next }, signal);
  expect([first, second, third].map(({ rows }) => rows.map(({ srcNode }) => srcNode))).toEqual([
    ["b0", "a0", "b1"],
    ["a1", "b2", "a2"],
    ["late", "b3", "a3"],
  ]);
  expect([first.matched, third.matched, third.next, third.retained]).toEqual([8, 9, undefined, 9]);
});

it("several networks are summed together under *, and one under its name", async () => {
  const stores = await open([network("a"), network("b")]);
  const all = stores?.all ?? [];
  for (const store of all) store.record(sampleFlow());
  const documentOf = async (shown: typeof all) =>
    flowDocument({
      shown,
      networks: ["a", "b"],
      nowMs: NOW_MS,
      startMs: NOW_MS - 60_000,
      endMs: NOW_MS,
      retentionMs: storeOptions.retentionMs,
      filter: noFilter,
      sums: await sumWindow(
        shown,
        { startMs: NOW_MS - 60_000, endMs: NOW_MS, top: 5 },
        new AbortController().signal,
      ),
      page: await selectRecent(shown, query, signal),
    });
  const [together, one] = [await documentOf(all), await documentOf(all.slice(1))];
  expect([together.network, together.result?.totals?.flows, together.recentMatched]).toEqual([
    "*",
    2n,
    2,
  ]);
  expect([one.network, one.result?.totals?.flows, one.recentMatched]).toEqual(["b", 1n, 1]);
});

describe("The memory of all networks together is bounded", () => {
  const expanded: FlowStoreOptions = { ...storeOptions, capacityProfile: "expanded" };
  const MINUTES = 30;
  const PER_MINUTE = 8_000;
  /** Fills the tables of each minute, the newest ones first in network a and last in b. */
  const fill = (stores: FlowStores | undefined): FlowStores => {
    for (let minute = 0; minute < MINUTES; minute += 1)
      for (let at = 0; at < PER_MINUTE; at += 1)
        for (const [name, age] of [
          ["a", minute],
          ["b", MINUTES - 1 - minute],
        ] as const)
          stores?.of(name)?.record(
            sampleFlow({
              timeMs: NOW_MS - age * 60_000,
              srcNode: `s${at % 4_000}`,
              dstNode: `d${at}`,
              dstPort: String(at),
            }),
          );
    if (stores === undefined) throw new Error("there are no stores");
    return stores;
  };

  it("reduces the oldest minutes to their totals, and says how much they had", async () => {
    const stores = fill(await open([network("a"), network("b")], expanded));
    expect(entriesOf(stores)).toBeLessThanOrEqual(500_000);
    const whole = { startMs: NOW_MS - 3_600_000, endMs: NOW_MS, top: 5 };
    const sums = await sumWindow(stores.all, whole, signal);
    expect(sums.totals.flows).toBe(2 * MINUTES * PER_MINUTE);
    expect(sums.series.length).toBe(MINUTES);
    const newest = { ...whole, startMs: NOW_MS - 29_000 };
    const { ranked } = await sumWindow(stores.all, newest, signal);
    expect(ranked.pairs.length).toBe(5);
    const listed = sums.ranked.transports.reduce((flows, { first }) => flows + first.flows, 0);
    expect(listed).toBeLessThan(sums.totals.flows);
    expect(sums.truncated).toBeGreaterThanOrEqual(sums.totals.flows - listed);
    const counted = stores.status().networks.map(({ truncated }) => truncated);
    expect(counted.reduce((all, each) => all + each, 0)).toBe(sums.truncated);
  });

  it("frees the entries of minutes that expire", async () => {
    let nowMs = NOW_MS;
    const moving = { ...clock, now: () => nowMs };
    const stores = fill(
      await openFlowStores(
        { clock: moving, log: silent, version: "0.0.0" },
        { flows: expanded, networks: [network("a"), network("b")], privacy: shownPrivacy },
      ),
    );
    nowMs += 2 * storeOptions.retentionMs;
    const truncated = () => stores.status().networks.map((row) => row.truncated);
    const before = truncated();
    for (let at = 0; at < 3_999; at += 1)
      for (const store of stores.all)
        store.record(sampleFlow({ timeMs: nowMs, srcNode: `s${at}`, dstPort: String(at) }));
    expect(truncated()).toEqual(before);
  });

  it("shares the single connections among many networks, and estimates what is held", async () => {
    const names = Array.from({ length: 100 }, (_, at) => network(`n${at}`));
    const many = (await open(names, { ...expanded, retentionMs: 86_400_000 }))?.status();
    expect(many?.maxRecent).toBe(600);
    expect(many?.estimatedBytes).toBeLessThan(256 * 2 ** 20);
    const one = (await open([network("a")], { ...expanded, retentionMs: 86_400_000 }))?.status();
    expect(one?.maxRecent).toBe(4_000);
  });
});
