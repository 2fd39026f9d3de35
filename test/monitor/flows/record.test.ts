import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFlowDecoder } from "../../../src/monitor/flows/record.ts";
import type { FlowRecord } from "../../../src/monitor/flows/record.ts";
import { ago, connection, NOW_MS, record } from "./fixtures.ts";

function decode(value: unknown): FlowRecord | { readonly refused: readonly string[] } {
  return createFlowDecoder().decode(value, NOW_MS);
}

describe("A flow record", () => {
  it("is read with what it says, and what it does not say is absent", () => {
    const read = decode(
      record({
        exitTraffic: [{ src: "100.64.0.7:0" }],
        physicalTraffic: null,
        srcNode: { nodeId: "nA", name: "alpha.tail.test", tags: null },
        dstNodes: [7, { addresses: ["100.64.0.9", 9] }],
      }),
    );
    expect(read).toMatchObject({
      nodeId: "nA",
      start: { ms: NOW_MS - 60_000, text: ago(60) },
      end: { ms: NOW_MS - 55_000 },
      logged: { ms: NOW_MS - 50_000 },
      connections: [
        {
          type: 0,
          protocol: 6,
          source: { host: { address: "100.64.0.7" }, port: 51_514 },
          destination: { host: { address: "100.64.0.9" }, port: 443 },
          txBytes: 1_200,
          rxBytes: 5_400,
          txPackets: 9,
          rxPackets: 8,
        },
        {
          type: 2,
          protocol: undefined,
          source: { port: 0 },
          destination: undefined,
          destinationText: "",
          txBytes: 0,
          rxBytes: 0,
          txPackets: 0,
          rxPackets: 0,
        },
      ],
      sourceNode: {
        nodeId: "nA",
        name: "alpha.tail.test",
        addresses: [],
        tags: [],
        user: "",
        os: "",
      },
      destinationNodes: [{ nodeId: "", addresses: ["100.64.0.9"] }],
    });
  });

  it.each([
    ["negative_counters", { virtualTraffic: [connection({ rxPkts: -1 })] }],
    ["inverted_window", { start: ago(10), end: ago(20) }],
    ["invalid_endpoint", { physicalTraffic: [connection({ dst: "100.64.0.9" })] }],
    ["future_timestamp", { logged: ago(-301) }],
    ["invalid_protocol", { subnetTraffic: [connection({ proto: 256 })] }],
    ["malformed", { virtualTraffic: [connection({ txBytes: 1.5 })] }],
    ["malformed", { exitTraffic: {} }],
    ["malformed", { nodeId: "" }],
    ["malformed", { start: "yesterday" }],
  ])("is refused whole as %s", (reason, change) => {
    expect(decode(record(change))).toEqual({ refused: [reason] });
  });

  it("has names of bounded length", () => {
    const long = "x".repeat(100_000);
    const bounded = expect.stringMatching(/^x{1004}…~[0-9a-f]{16}$/) as string;
    expect(
      decode(
        record({
          nodeId: long,
          srcNode: { nodeId: long, name: long, tags: [long], user: long, os: long },
        }),
      ),
    ).toMatchObject({
      nodeId: bounded,
      sourceNode: { nodeId: bounded, name: bounded, tags: [bounded], user: bounded, os: bounded },
    });
  });

  it("is refused with each reason once", () => {
    const refused = decode(
      record({
        start: ago(-600),
        end: ago(20),
        virtualTraffic: [
          connection({ txBytes: -1, proto: -1 }),
          connection({ rxBytes: -1, src: "x:y" }),
        ],
      }),
    );
    expect(refused).toEqual({
      refused: [
        "inverted_window",
        "future_timestamp",
        "negative_counters",
        "invalid_protocol",
        "invalid_endpoint",
      ],
    });
  });

  it("may lie five minutes ahead, may have one bound of its window, and no window at all", () => {
    expect(decode(record({ start: ago(-300), end: ago(-300) }))).toHaveProperty("connections");
    expect(decode(record({ end: "", logged: "0001-01-01T00:00:00Z" }))).toMatchObject({
      end: undefined,
      logged: undefined,
    });
    expect(decode({ nodeId: "nA" })).toMatchObject({ start: undefined, connections: [] });
  });

  it("of any shape is read or refused, never thrown at", () => {
    const member = fc.constantFrom(
      "nodeId",
      "start",
      "end",
      "logged",
      "virtualTraffic",
      "subnetTraffic",
      "exitTraffic",
      "physicalTraffic",
      "srcNode",
      "dstNodes",
      "src",
      "dst",
      "proto",
      "txBytes",
      "addresses",
      "tags",
    );
    const odd = fc.oneof(
      fc.constantFrom(
        "nA",
        ago(60),
        "[::1]:7",
        "100.64.0.7:0",
        "[",
        ":",
        "]:1",
        "[]:1",
        -1,
        1e300,
        Number.NaN,
        null,
      ),
      fc.jsonValue(),
    );
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        odd,
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(member, tie("value"), { maxKeys: 8 }),
      ),
    }));
    fc.assert(
      fc.property(value, (json) => {
        const read = decode(json);
        if ("refused" in read) expect(read.refused.length).toBeGreaterThan(0);
        else
          for (const each of read.connections)
            expect(
              Math.min(each.txBytes, each.rxBytes, each.txPackets, each.rxPackets),
            ).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 1_000 },
    );
  });
});
