import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { noEndpointInfo } from "../../../src/monitor/flows/enriched.ts";
import type { EnrichedFlow, EndpointInfo, FlowKind } from "../../../src/monitor/flows/enriched.ts";
import { FlowRollup, MAX_KEYS } from "../../../src/monitor/flows/rollup.ts";
import type { RollupOptions } from "../../../src/monitor/flows/rollup.ts";

const tcp: FlowKind = {
  code: 1,
  transport: "tcp",
  type: "virtual",
  service: "https",
  path: undefined,
  region: undefined,
};
const udp: FlowKind = {
  code: 2,
  transport: "udp",
  type: "exit",
  service: undefined,
  path: undefined,
  region: undefined,
};

function face(node: string | undefined, user?: string): EndpointInfo {
  return { ...noEndpointInfo, node, user };
}

function flow(
  kind: FlowKind,
  source: EndpointInfo,
  destination: EndpointInfo,
  bytes: number,
): EnrichedFlow {
  const connection = {
    type: 0,
    protocol: 6,
    source: undefined,
    destination: undefined,
    sourceText: "",
    destinationText: "",
    txBytes: bytes,
    rxBytes: bytes * 2,
    txPackets: 1,
    rxPackets: 2,
  } as const;
  return { connection, kind, source, destination };
}

/** What a flush says, sorted. */
function flushed(
  flows: readonly EnrichedFlow[],
  topN: number,
  options: Partial<RollupOptions> = {},
): { readonly key: string; readonly bytes: number; readonly packets: number }[] {
  const rollup = new FlowRollup({
    nodeDims: true,
    identityDims: false,
    geoDims: false,
    ...options,
  });
  for (const each of flows) rollup.add(each);
  const said: ReturnType<typeof flushed> = [];
  rollup.flush(topN, (kind, source, destination, sums) => {
    said.push({
      key: [kind.transport, kind.service, source.node, source.user, destination.node].join(" "),
      bytes: sums.txBytes + sums.rxBytes,
      packets: sums.txPackets + sums.rxPackets,
    });
  });
  expect(rollup.size).toBe(0);
  rollup.flush(topN, () => expect.unreachable("nothing is left after a flush"));
  return said.toSorted((left, right) => (left.key < right.key ? -1 : 1));
}

const anyFlow = fc
  .record({
    kind: fc.constantFrom(tcp, udp),
    source: fc.constantFrom("a", "b", "c", undefined),
    destination: fc.constantFrom("a", "x", undefined),
    bytes: fc.integer({ min: 0, max: 4 }),
  })
  .map(({ kind, source, destination, bytes }) =>
    flow(kind, face(source), face(destination), bytes),
  );

describe("The roll-up", () => {
  it("keeps the busiest keys and sums the rest by kind", () => {
    const said = flushed(
      [
        flow(tcp, face("a"), face("b"), 10),
        flow(tcp, face("a"), face("c"), 1),
        flow(tcp, face("a"), face("b"), 10),
        flow(tcp, face("b"), face("c"), 2),
        flow(udp, face("b"), face(undefined), 3),
      ],
      1,
    );
    expect(said).toEqual([
      { key: "tcp https __other__  __other__", bytes: 9, packets: 6 },
      { key: "tcp https a  b", bytes: 60, packets: 6 },
      { key: "udp  __other__  __other__", bytes: 9, packets: 3 },
    ]);
  });

  it("tells the same totals whatever it folds, and the same keys in whatever order traffic came", () => {
    fc.assert(
      fc.property(
        fc.array(anyFlow, { maxLength: 60 }),
        fc.nat(8),
        fc.infiniteStream(fc.nat()),
        (flows, topN, random) => {
          const said = flushed(flows, topN);
          const totals = (kind: FlowKind): number =>
            flows
              .filter((each) => each.kind === kind)
              .reduce((sum, { connection }) => sum + connection.txBytes + connection.rxBytes, 0);
          for (const kind of [tcp, udp])
            expect(
              said
                .filter(({ key }) => key.startsWith(kind.transport))
                .reduce((sum, { bytes }) => sum + bytes, 0),
            ).toBe(totals(kind));
          expect(said.reduce((sum, { packets }) => sum + packets, 0)).toBe(flows.length * 3);
          expect(said.filter(({ key }) => !key.includes("__other__")).length).toBeLessThanOrEqual(
            topN,
          );
          const shuffled = flows
            .map((each) => [random.next().value, each] as const)
            .toSorted(([left], [right]) => left - right)
            .map(([, each]) => each);
          expect(flushed(shuffled, topN)).toEqual(said);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("holds no more than its keys; what comes beyond goes to the rest, known keys still grow", () => {
    const flows = Array.from({ length: MAX_KEYS + 500 }, (_, at) =>
      flow(tcp, face(`s${at}`), face(`d${at}`), 1),
    );
    const said = flushed([...flows, flow(tcp, face("s0"), face("d0"), 1)], MAX_KEYS);
    expect(said).toHaveLength(MAX_KEYS + 1);
    expect(said.find(({ key }) => key === "tcp https s0  d0")?.bytes).toBe(6);
    expect(said.find(({ key }) => key.includes("__other__"))?.bytes).toBe(1_500);
  });

  it("keeps totals with more kinds than it tells apart", () => {
    const kinds = Array.from({ length: 9_000 }, (_, at) =>
      flow(
        { ...tcp, code: 131_072 + at + 1, service: undefined, region: `r${at}` },
        face("a"),
        face(undefined),
        1,
      ),
    );
    const said = flushed(kinds, 0);
    expect(said.length).toBeLessThanOrEqual(8_001);
    expect(said.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(27_000);
  });

  it("tells users apart only when identities are a dimension, and no nodes when those are none", () => {
    const flows = [
      flow(tcp, face("a", "ada"), face("b"), 1),
      flow(tcp, face("a", "bob"), face("b"), 1),
    ];
    expect(flushed(flows, 9)).toEqual([{ key: "tcp https a  b", bytes: 6, packets: 6 }]);
    expect(flushed(flows, 9, { identityDims: true }).map(({ key }) => key)).toEqual([
      "tcp https a ada b",
      "tcp https a bob b",
    ]);
    expect(flushed(flows, 0, { nodeDims: false })).toEqual([
      { key: "tcp https   ", bytes: 6, packets: 6 },
    ]);
  });
});
