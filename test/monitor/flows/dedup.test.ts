import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  connectionKey,
  FLOW_SET_CAPACITY,
  FlowDedup,
  recordKey,
} from "../../../src/monitor/flows/dedup.ts";
import { createFlowDecoder } from "../../../src/monitor/flows/record.ts";
import type { FlowRecord } from "../../../src/monitor/flows/record.ts";
import { NOW_MS, connection } from "./fixtures.ts";

const counters = { txBytes: 1, rxBytes: 2, txPackets: 3, rxPackets: 4 };
const members = ["virtualTraffic", "subnetTraffic", "exitTraffic", "physicalTraffic"];

/** The key of the one connection of a record like this. */
function keyOf({ nodeId, start, end, member, proto, src, dst }: Record<string, unknown>): string {
  const decoded = createFlowDecoder().decode(
    { nodeId, start, end, [String(member)]: [connection({ proto, src, dst })] },
    NOW_MS,
  ) as FlowRecord;
  return connectionKey(
    recordKey(decoded),
    decoded.connections[0] as FlowRecord["connections"][number],
  );
}

describe("The key of a connection", () => {
  it("is equal if and only if every dimension is", () => {
    const time = fc.constantFrom(
      "2023-11-14T22:00:00Z",
      "2023-11-14T22:00:00.000000001Z",
      "2023-11-14T22:00:01Z",
      undefined,
    );
    const flow = fc.record({
      nodeId: fc.constantFrom("nA", "nB", "n|", "n||"),
      start: time,
      end: fc.constantFrom("2023-11-14T22:00:05Z", undefined),
      member: fc.constantFrom(...members),
      proto: fc.constantFrom(0, 6, 17, undefined),
      src: fc.constantFrom("100.64.0.7:1", "100.64.0.7:11", ""),
      dst: fc.constantFrom("1.2.3.4:1", "1.2.3.4:0", ""),
    });
    fc.assert(
      fc.property(flow, flow, (left, right) => {
        expect(keyOf(left) === keyOf(right)).toBe(JSON.stringify(left) === JSON.stringify(right));
      }),
      { numRuns: 2_000 },
    );
  });

  it("does not depend on how a time is written", () => {
    const base = {
      nodeId: "nA",
      member: "virtualTraffic",
      proto: 6,
      src: "",
      dst: "",
      end: undefined,
    };
    expect(keyOf({ ...base, start: "2023-11-14T22:00:00Z" })).toBe(
      keyOf({ ...base, start: "2023-11-14T23:00:00.000+01:00" }),
    );
  });
});

describe("What was seen of connections", () => {
  it("says repetition and conflict, the first counters staying, and by which ways a conflict came", () => {
    const dedup = new FlowDedup();
    expect(dedup.classify("a", counters, { source: "poll" })).toBe("new");
    expect(dedup.classify("a", counters, { source: "stream" })).toBe("repeated");
    expect(dedup.classify("a", { ...counters, rxBytes: 9 }, { source: "poll" })).toBe(
      "poll_boundary",
    );
    expect(dedup.classify("a", { ...counters, rxBytes: 9 }, { source: "stream" })).toBe(
      "cross_source",
    );
    expect(dedup.classify("a", counters, { source: "poll" })).toBe("repeated");
    expect(dedup.status()).toEqual({
      name: "flow",
      size: 1,
      capacity: 16_384,
      hits: 4,
      evictions: 0,
    });
  });

  it("forgets the oldest first", () => {
    const dedup = new FlowDedup();
    for (let at = 0; at <= FLOW_SET_CAPACITY; at++)
      dedup.classify(`k${at}`, counters, { source: "poll" });
    expect(dedup.status()).toMatchObject({ size: FLOW_SET_CAPACITY, evictions: 1 });
    expect(dedup.classify("k1", counters, { source: "poll" })).toBe("repeated");
    expect(dedup.classify("k0", counters, { source: "poll" })).toBe("new");
  });

  it("asks the stored digests for what memory does not know, and gives those to be stored", () => {
    const stored = new Set<string>();
    const seen = {
      has: (digest: string) => stored.has(digest),
      add: async () => undefined,
      size: 0,
    };
    const replay = { seen, digests: [] as string[] };
    expect(new FlowDedup().classify("a", counters, { source: "poll", replay })).toBe("new");
    expect(replay.digests).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
    stored.add(replay.digests[0] ?? "");
    const afterRestart = new FlowDedup();
    expect(
      afterRestart.classify("a", counters, { source: "poll", replay: { seen, digests: [] } }),
    ).toBe("repeated");
    expect(afterRestart.status()).toMatchObject({ hits: 1, size: 0 });
    expect(afterRestart.classify("a", counters, { source: "stream" })).toBe("new");
  });
});
