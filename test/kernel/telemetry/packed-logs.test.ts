import fc from "fast-check";
import { expect, it } from "vitest";
import { packLogs, unpackLogs } from "../../../src/kernel/telemetry/packed-logs.ts";

const value = fc.option(
  fc.oneof(
    fc.string({ unit: "binary" }),
    fc.boolean(),
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .map((number) => (number === 0 ? 0 : number)),
  ),
  { nil: undefined },
);
const names = [["a", "b.c"], ["only"], []];
const log = fc.constantFrom(...names).chain((list) =>
  fc.record({
    scope: fc.nat(),
    name: fc.string(),
    severity: fc.constantFrom("debug" as const, "error" as const),
    body: fc.string({ unit: "grapheme" }),
    names: fc.constant(list),
    values: fc.tuple(...list.map(() => value)),
    timeMs: fc.nat(),
    observedMs: fc.option(fc.nat(), { nil: undefined }),
    trace: fc.constantFrom(undefined, { traceId: "a".repeat(32), spanId: "b".repeat(16) }),
  }),
);

it("log records are the same on the other side of a message", () => {
  fc.assert(
    fc.property(fc.array(log, { maxLength: 20 }), (records) => {
      const packed = structuredClone(packLogs(records));
      expect(packed.count).toBe(records.length);
      expect(unpackLogs(packed)).toEqual(records);
    }),
  );
});

it("a list of names that records share is in a message once", () => {
  const shared = ["vpn.a.long.name", "vpn.another.name"];
  const record = {
    scope: 0,
    name: "x",
    severity: "info" as const,
    body: "",
    names: shared,
    values: [1, undefined],
    timeMs: 1,
    observedMs: undefined,
    trace: undefined,
  };
  const { text } = packLogs([record, record, { ...record, names: [...shared] }]);
  expect(text.split("vpn.a.long.name")).toHaveLength(3);
});
