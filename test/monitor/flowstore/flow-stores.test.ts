import { expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { Secret } from "../../../src/kernel/base/secret.ts";
import { sendSecret } from "../../../src/kernel/threads/secrets.ts";
import { flowDocument } from "../../../src/monitor/flowstore/flow-document.ts";
import { openFlowStores } from "../../../src/monitor/flowstore/flow-stores.ts";
import { selectRecent } from "../../../src/monitor/flowstore/recent-query.ts";
import { sumWindow } from "../../../src/monitor/flowstore/sum-query.ts";
import type { NetworkOptions } from "../../../src/monitor/options.ts";
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
