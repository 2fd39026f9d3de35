import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import type { PrivacyOptions } from "../../../../src/monitor/options.ts";
import { addToBucket, createBucket, flowTables } from "../../../../src/monitor/flowstore/bucket.ts";
import { flowCapacity } from "../../../../src/monitor/flowstore/capacity.ts";
import { matcher } from "../../../../src/monitor/flowstore/filter.ts";
import { isBefore } from "../../../../src/monitor/flowstore/recent-flows.ts";
import { selectRecent } from "../../../../src/monitor/flowstore/recent-query.ts";
import { sumWindow } from "../../../../src/monitor/flowstore/sum-query.ts";
import type { FlowObservation, StoredFlow } from "../../../../src/monitor/flowstore/types.ts";
import { dice } from "../../../kernel/state/fixtures/damage.ts";
import { temporaryFolder } from "../../../kernel/state/fixtures/tables.ts";
import { createManualClock } from "../../../kernel/supervisor/manual-clock.ts";
import { noFilter, sampleFlow } from "../sample-flow.ts";
import { HOUR_MS, openStore } from "./open-store.ts";

const signal = new AbortController().signal;
const everything = {
  startMs: 0,
  endMs: Number.MAX_SAFE_INTEGER,
  filter: noFilter,
  limit: 1_000_000,
  before: undefined,
};
type Store = Awaited<ReturnType<typeof openStore>>["store"];

async function rowsOf(store: Store): Promise<readonly StoredFlow[]> {
  return (await store.select(everything, signal)).rows;
}

describe("A flow store on disk", () => {
  it("keeps every field of a connection over a restart", async () => {
    const directory = temporaryFolder();
    const first = await openStore(directory);
    const flow = sampleFlow({
      timeMs: first.clock.now() - 60_000.5,
      path: "derp",
      derpRegion: "7",
      reversed: true,
      rule: 3,
      policyVersion: "v\u00e4\u{1f600}",
      verdict: "permitted",
      txBytes: Number.MAX_SAFE_INTEGER,
      rxBytes: 0,
    });
    first.store.record(flow);
    expect(await rowsOf(first.store)).toEqual([{ ...flow, seq: 1 }]);
    await first.store.close();
    const second = await openStore(directory);
    expect(await rowsOf(second.store)).toEqual([{ ...flow, seq: 1 }]);
    second.store.record(sampleFlow({ timeMs: second.clock.now() }));
    expect((await rowsOf(second.store)).map(({ seq }) => seq)).toEqual([2, 1]);
    expect(second.store.status()).toMatchObject({
      buckets: 1,
      capacity: 0,
      observations: 1,
      truncated: 0,
      backend: { kind: "lmdb", error: undefined, queued: 1, queueDrops: 0, rows: 1 },
    });
    await second.store.close();
  });

  it("answers as a plain list would, whatever is written, waits or was read anew", async () => {
    const hours = 5;
    const flowOf = fc.record({
      agoMs: fc.integer({ min: 0, max: hours * HOUR_MS }),
      node: fc.integer({ min: 0, max: 6 }),
      type: fc.constantFrom("virtual", "physical", "exit") as fc.Arbitrary<"virtual">,
      bytes: fc.nat(1_000),
      tags: fc.constantFrom("", "tag:a", "tag:a,tag:b"),
    });
    const step = fc.oneof(
      { weight: 8, arbitrary: fc.array(flowOf, { maxLength: 40 }) },
      { weight: 2, arbitrary: fc.constant("flush" as const) },
      { weight: 2, arbitrary: fc.constant("begin to flush" as const) },
      { weight: 1, arbitrary: fc.constant("restart" as const) },
    );
    const window = fc.record({
      fromMs: fc.integer({ min: 0, max: hours * HOUR_MS }),
      lengthMs: fc.integer({ min: 0, max: hours * HOUR_MS }),
      device: fc.constantFrom("", "N1", "n", "none"),
      limit: fc.integer({ min: 0, max: 30 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.array(window, { minLength: 1, maxLength: 4 }),
        async (steps, windows) => {
          const directory = temporaryFolder();
          const clock = createManualClock();
          let open = await openStore(directory, { clock });
          const model: StoredFlow[] = [];
          for (const each of steps) {
            if (each === "flush") await open.store.flush();
            else if (each === "begin to flush") {
              void open.store.flush();
              await new Promise(setImmediate);
            } else if (each === "restart") {
              await open.store.close();
              open = await openStore(directory, { clock });
            } else
              for (const { agoMs, node, type, bytes, tags } of each) {
                const flow = sampleFlow({
                  timeMs: clock.now() - agoMs,
                  srcNode: `n${node}`,
                  trafficType: type,
                  txBytes: bytes,
                  srcTags: tags,
                });
                open.store.record(flow);
                model.push({ ...flow, timeMs: clock.now() - agoMs, seq: model.length + 1 });
              }
          }
          for (const asked of windows) await compare(open.store, model, clock.now(), asked);
          await open.store.close();
        },
      ),
      { numRuns: 60 },
    );
  });

  it("counts a connection that is written while a page is read once", async () => {
    const { store, clock } = await openStore(temporaryFolder());
    const count = 20_000;
    for (let at = 0; at < count; at += 1) store.record(sampleFlow({ timeMs: clock.now() - at }));
    const flushed = store.flush();
    const seen = new Set<number>();
    while (store.status().backend?.queued !== 0) {
      const { matched, retained } = await store.select({ ...everything, limit: 1 }, signal);
      seen.add(matched).add(retained);
    }
    await flushed;
    expect([...seen]).toEqual([count]);
    await store.close();
  });

  it("fills blocks, and long windows are summed without reading them row by row", async () => {
    const { store, blocks, clock } = await openStore(temporaryFolder());
    const begin = Math.floor(clock.now() / HOUR_MS) * HOUR_MS - 2 * HOUR_MS;
    for (let at = 0; at < 10_000; at += 1)
      store.record(sampleFlow({ timeMs: begin + at, srcNode: `n${at % 300}` }));
    await store.flush();
    expect(blocks.within({ startMs: 0, endMs: clock.now() }).map(({ rows }) => rows)).toEqual([
      4_096, 4_096, 1_808,
    ]);
    const read = [];
    for await (const part of store.parts({ startMs: begin, endMs: begin + HOUR_MS }, signal))
      read.push(part.constructor.name);
    // The queue, and three blocks whose sums were decoded.
    expect(read).toEqual(["BlockSums", "Object", "Object", "Object"]);
    const sums = await sumWindow(
      [store],
      { startMs: begin, endMs: begin + 9_998, top: 400 },
      signal,
    );
    expect([sums.totals.flows, sums.ranked.nodes.length]).toEqual([9_999, 301]);
    await store.close();
  });

  it("drops and counts what finds no place in the queue, and never waits", async () => {
    const { store, clock } = await openStore(temporaryFolder(), { options: { queueSize: 64 } });
    const answers = Array.from({ length: 70 }, () =>
      store.record(sampleFlow({ timeMs: clock.now() })),
    );
    expect(answers.filter((answer) => answer === "queue_full")).toHaveLength(6);
    expect(store.status()).toMatchObject({
      observations: 64,
      truncated: 6,
      backend: { queued: 64, queueDrops: 6, rows: 0 },
    });
    await store.flush();
    expect(store.status().backend).toMatchObject({ queued: 0, queueDrops: 6, rows: 64 });
    await store.close();
  });

  it("writes once the interval is over, or a batch is full", async () => {
    const { store, clock } = await openStore(temporaryFolder(), { options: { batchSize: 3 } });
    const record = () => store.record(sampleFlow({ timeMs: clock.now() }));
    record();
    await clock.advance(4_999);
    expect(store.status().backend.rows).toBe(0);
    await clock.advance(1);
    await store.flush();
    expect(store.status().backend.rows).toBe(1);
    for (let at = 0; at < 3; at += 1) record();
    await expect.poll(() => store.status().backend.rows).toBe(4);
    await store.close();
  });

  it("keeps what arrives while a batch is being written", async () => {
    const directory = temporaryFolder();
    const { store, clock } = await openStore(directory);
    store.record(sampleFlow({ timeMs: clock.now() }));
    const flushed = store.flush();
    await new Promise(setImmediate);
    store.record(sampleFlow({ timeMs: clock.now() }));
    await flushed;
    expect(await rowsOf(store)).toHaveLength(2);
    await store.close();
    const again = await openStore(directory, { clock });
    expect((await rowsOf(again.store)).map(({ seq }) => seq)).toEqual([2, 1]);
    await again.store.close();
  });

  it("keeps what could not be written for the next try, and says why meanwhile", async () => {
    const { store, blocks, clock } = await openStore(temporaryFolder());
    const append = blocks.append.bind(blocks);
    blocks.append = () => Promise.reject(new Error("no space left"));
    store.record(sampleFlow({ timeMs: clock.now() }));
    await store.flush();
    expect(store.status().backend).toMatchObject({ error: expect.any(String), queued: 1 });
    expect(await rowsOf(store)).toHaveLength(1);
    blocks.append = append;
    await clock.advance(5_000);
    await store.flush();
    expect(store.status().backend).toMatchObject({ error: undefined, queued: 0, rows: 1 });
    await store.close();
  });

  it("takes late connections of many hours whose blocks are nearly full", async () => {
    const { store, blocks, clock } = await openStore(temporaryFolder());
    const hours = Array.from({ length: 8 }, (_, hour) => hour);
    const late = (hour: number) => variedFlow(clock.now() - hour * HOUR_MS);
    for (const hour of hours) {
      for (let row = 0; row < 3_000; row += 1) store.record(late(hour));
      await store.flush();
    }
    for (const hour of hours) store.record(late(hour));
    await store.flush();
    expect(store.status().backend).toMatchObject({ error: undefined, queued: 0, rows: 24_008 });
    expect(numbersOf(await rowsOf(store))).toEqual(upTo(24_008));
    expect(blocks.within(everything)).toHaveLength(8);
    await store.close();
  });

  it("takes a full queue of connections that differ in everything", async () => {
    const { store, clock } = await openStore(temporaryFolder());
    const count = 30_000;
    for (let row = 0; row < count; row += 1) store.record(variedFlow(clock.now()));
    await store.flush();
    expect(store.status().backend).toMatchObject({ error: undefined, queued: 0, rows: count });
    expect(numbersOf(await rowsOf(store))).toEqual(upTo(count));
    await store.close();
  });

  it("takes texts that are long and cannot be compressed", async () => {
    const { store, clock } = await openStore(temporaryFolder());
    for (let row = 0; row < 1_500; row += 1)
      store.record(sampleFlow({ timeMs: clock.now(), srcNode: randomText(700) }));
    await store.flush();
    expect(store.status().backend).toMatchObject({ error: undefined, queued: 0, rows: 1_500 });
    await store.close();
  });

  it("drops and counts a connection that can never be written, and stores the others", async () => {
    const { store, blocks, clock } = await openStore(temporaryFolder());
    const append = blocks.append.bind(blocks);
    blocks.append = (flows) =>
      flows.some(({ srcNode }) => srcNode === "huge")
        ? Promise.reject(new StewardError("too_large", "a change writes more than it may"))
        : append(flows);
    for (const srcNode of ["a", "b", "huge", "c", "huge", "d"])
      store.record(sampleFlow({ timeMs: clock.now(), srcNode }));
    await store.flush();
    expect(store.status()).toMatchObject({
      truncated: 2,
      backend: { error: undefined, queued: 0, queueDrops: 2, rows: 4 },
    });
    expect((await rowsOf(store)).map(({ srcNode }) => srcNode)).toEqual(["d", "c", "b", "a"]);
    await store.close();
  });

  it("goes on in a new block where the last one of an hour is damaged", async () => {
    const directory = temporaryFolder();
    const first = await openStore(directory);
    first.store.record(sampleFlow({ timeMs: first.clock.now() }));
    await first.store.close();
    const { store, blocks, clock } = await openStore(directory);
    const read = blocks.read.bind(blocks);
    blocks.read = () => {
      throw new StewardError("corrupt", "the row does not match its checksum");
    };
    store.record(sampleFlow({ timeMs: clock.now() }));
    await store.flush();
    expect(store.status().backend).toMatchObject({ error: undefined, queued: 0, rows: 2 });
    blocks.read = read;
    expect(numbersOf(await rowsOf(store))).toEqual([1, 2]);
    await store.close();
  });

  it("removes the oldest connections before the next sweep once a tenth too many are stored", async () => {
    const { store, blocks, clock } = await openStore(temporaryFolder(), {
      options: { maxRows: 20_000 },
    });
    for (let row = 0; row < 60_000; row += 1) {
      store.record(sampleFlow({ timeMs: clock.now() - HOUR_MS + row }));
      if (row % 2_000 === 0) await store.flush();
      expect(blocks.rows).toBeLessThanOrEqual(24_000);
    }
    await store.flush();
    const kept = numbersOf(await rowsOf(store));
    expect([kept.length > 15_000, kept.at(-1)]).toEqual([true, 60_000]);
    expect(kept).toEqual(upTo(60_000).slice(-kept.length));
    await store.close();
  });

  it("removes the oldest connections when its file has reached its limit", async () => {
    const { store, blocks, clock } = await openStore(temporaryFolder(), {
      fileBytes: 2 * 2 ** 20,
    });
    for (let part = 0; part < 12; part += 1) {
      for (let row = 0; row < 4_000; row += 1)
        store.record(variedFlow(clock.now() - HOUR_MS + part * 4_000 + row));
      await store.flush();
      expect(store.status().backend).toMatchObject({ error: undefined, queued: 0 });
    }
    const kept = numbersOf(await rowsOf(store));
    expect(kept).toEqual(upTo(48_000).slice(-kept.length));
    expect(blocks.rows).toBeGreaterThan(8_000);
    await store.close();
  });

  it("removes whole blocks that are too old, and the oldest beyond the row limit", async () => {
    const { store, blocks, clock } = await openStore(temporaryFolder(), {
      options: { retentionMs: 3 * HOUR_MS, maxRows: 5_000 },
    });
    store.record(sampleFlow({ timeMs: clock.now() - 2.9 * HOUR_MS }));
    for (let at = 0; at < 5_400; at += 1)
      store.record(sampleFlow({ timeMs: clock.now() - HOUR_MS - at }));
    await store.flush();
    const oldest = await store.select({ ...everything, limit: 1 }, signal);
    expect([oldest.matched, oldest.isFull]).toEqual([5_401, true]);
    await clock.advance(HOUR_MS / 4);
    await store.sweep();
    expect(blocks.rows).toBeLessThanOrEqual(5_000);
    expect(blocks.rows).toBeGreaterThan(5_000 - 4_096);
    const kept = await rowsOf(store);
    expect(kept).toHaveLength(blocks.rows);
    await clock.advance(4 * HOUR_MS);
    await store.sweep();
    await store.sweep();
    expect([blocks.rows, blocks.minutes, blocks.times()]).toEqual([0, 0, undefined]);
    await store.close();
  });

  it("keeps everything while a clock that is far ahead is not set right by the next sweep", async () => {
    const options = { retentionMs: 3 * HOUR_MS };
    const directory = temporaryFolder();
    const first = await openStore(directory, { options });
    const nowMs = first.clock.now();
    first.store.record(sampleFlow({ timeMs: nowMs }));
    await first.store.close();
    let wallMs = nowMs + 1_000 * HOUR_MS;
    const clock = { ...createManualClock(), now: () => wallMs };
    const { store, blocks } = await openStore(directory, { options, clock });
    await store.sweep();
    expect(blocks.rows).toBe(1);
    wallMs = nowMs + HOUR_MS;
    await store.sweep();
    expect(blocks.rows).toBe(1);
    wallMs = nowMs + 1_000 * HOUR_MS;
    await store.sweep();
    expect(blocks.rows).toBe(1);
    await store.sweep();
    expect(blocks.rows).toBe(0);
    await store.close();
  });

  it("writes nothing that the privacy filter hides", async () => {
    const hidden = ["emails", "vpn_ips", "hostnames", "node_ids"];
    const privacy = new Proxy({} as PrivacyOptions, {
      get: (_, name) => !hidden.includes(name as string),
      ownKeys: () => hidden,
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
    });
    const { store, clock } = await openStore(temporaryFolder(), { privacy });
    store.record(sampleFlow({ timeMs: clock.now(), dstAddr: "192.0.2.9" }));
    expect((await rowsOf(store))[0]).toMatchObject({
      srcAddr: "",
      dstAddr: "192.0.2.9",
      srcNode: "",
      dstNode: "",
      srcUser: "",
      reporterNodeId: "",
      dstService: "https",
      dstTags: "tag:db,tag:web",
    });
    await store.close();
  });

  it("stops a question when its signal fires", async () => {
    const { store, clock } = await openStore(temporaryFolder());
    for (let at = 0; at < 20_000; at += 1) store.record(sampleFlow({ timeMs: clock.now() - at }));
    const ended = new AbortController();
    ended.abort(new Error("enough"));
    await expect(
      selectRecent([store], { ...everything, filter: { ...noFilter, device: "a" } }, ended.signal),
    ).rejects.toThrow("enough");
    await expect(
      sumWindow([store], { startMs: 0, endMs: clock.now(), top: 5 }, ended.signal),
    ).rejects.toThrow("enough");
    await store.close();
  });
});

const below = dice(7);
const randomText = (length: number): string =>
  Array.from({ length }, () => String.fromCharCode(33 + below(90))).join("");

/** A connection that has little in common with others, as far as a compressor sees. */
function variedFlow(timeMs: number): FlowObservation {
  const [src, dst] = [below(300), below(300)];
  return sampleFlow({
    timeMs,
    srcAddr: `100.64.${src % 64}.${src % 251}`,
    dstAddr: `${below(220)}.${below(256)}.${below(256)}.${below(256)}`,
    srcNode: `node-${src}.example.ts.net`,
    dstNode: `node-${dst}.example.ts.net`,
    dstPort: String(below(65_536)),
    srcUser: `user${src % 20}@example.com`,
    verdict: "no_rule",
    txBytes: below(1e9),
    rxBytes: below(1e9),
    txPackets: below(1e6),
    rxPackets: below(1e6),
  });
}

const numbersOf = (rows: readonly StoredFlow[]): number[] =>
  rows.map(({ seq }) => seq).toSorted((left, right) => left - right);
const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

/** Compares page and sums of a window with the same question to a list. */
async function compare(
  store: Store,
  model: readonly StoredFlow[],
  nowMs: number,
  asked: { fromMs: number; lengthMs: number; device: string; limit: number },
): Promise<void> {
  const startMs = nowMs - asked.fromMs;
  const window = { startMs, endMs: startMs + asked.lengthMs };
  const inside = model.filter(({ timeMs }) => timeMs >= window.startMs && timeMs <= window.endMs);
  const filter = { ...noFilter, device: asked.device };
  const wanted = inside
    .filter(matcher(filter))
    .toSorted((left, right) => (isBefore(left, right) ? 1 : -1));
  const before = wanted[Math.floor(wanted.length / 3)];
  for (const from of [undefined, before]) {
    const below = from === undefined ? wanted : wanted.filter((flow) => isBefore(flow, from));
    const page = await selectRecent(
      [store],
      { ...window, filter, limit: asked.limit, before: from },
      signal,
    );
    expect(page).toEqual({
      rows: below.slice(0, asked.limit),
      matched: wanted.length,
      retained: model.length,
      isFull: false,
      next: below.length > asked.limit ? below[asked.limit - 1] : undefined,
    });
  }
  const bucket = createBucket(flowCapacity("expanded"));
  for (const flow of inside) addToBucket(bucket, flow);
  const { totals, ranked } = await sumWindow([store], { ...window, top: 200 }, signal);
  expect(totals).toEqual(bucket.totals);
  for (const table of flowTables)
    expect(new Map(ranked[table].map((entry) => [entry.names.join("\0"), entry]))).toEqual(
      new Map(
        [...bucket.tables[table].entries()].map(([, entry]) => [entry.names.join("\0"), entry]),
      ),
    );
}
