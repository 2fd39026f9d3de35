import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { defineMetric } from "../../../../src/kernel/telemetry/catalogue.ts";
import { Ceiling, MAX_EXEMPLARS } from "../../../../src/kernel/telemetry/series/ceiling.ts";
import {
  exemplarReader,
  ExemplarSlots,
  type Exemplar,
} from "../../../../src/kernel/telemetry/series/exemplars.ts";
import { SeriesTable } from "../../../../src/kernel/telemetry/series/series-table.ts";

const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((id) => Buffer.from(id).toString("hex"));
const exemplar: fc.Arbitrary<Exemplar> = fc.record({
  value: fc.double({ noNaN: true }),
  timeMs: fc.nat(2 ** 45),
  traceId: hex(16),
  spanId: hex(8),
});
const sample: Exemplar = {
  value: 1.5,
  timeMs: 1_700_000_000_123,
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "00000000d6b71692",
};

describe("Exemplars", () => {
  it("are the latest of each cell, whatever was set and released before", () => {
    const cell = fc.nat(40);
    const step = fc.oneof(
      fc.record({ set: cell, exemplar }),
      fc.record({ release: cell, cells: fc.nat(14) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const ceiling = new Ceiling();
        const slots = new ExemplarSlots(ceiling);
        const model = new Map<number, Exemplar>();
        for (const each of steps) {
          if ("set" in each) {
            slots.set(each.set, each.exemplar);
            model.set(each.set, each.exemplar);
          } else {
            slots.release(each.release, each.cells);
            for (let at = each.release; at < each.release + each.cells; at++) model.delete(at);
          }
        }
        const read = exemplarReader(slots.copy());
        for (let at = 0; at <= 60; at++) expect(read(at)).toEqual(model.get(at));
        expect(ceiling.exemplars).toBe(model.size);
      }),
    );
  });

  it("are bounded for all scopes of a thread: beyond it buckets that have one keep up, others get theirs when series end", () => {
    const ceiling = new Ceiling();
    const [first, second] = [new ExemplarSlots(ceiling), new ExemplarSlots(ceiling)];
    for (let cell = 0; cell < MAX_EXEMPLARS; cell++) first.set(cell, sample);
    second.set(0, sample);
    first.set(7, { ...sample, value: 2 });
    expect([
      exemplarReader(second.copy())(0),
      exemplarReader(first.copy())(7)?.value,
      ceiling.exemplars,
    ]).toEqual([undefined, 2, MAX_EXEMPLARS]);
    first.release(0, 14);
    second.set(0, sample);
    expect([exemplarReader(second.copy())(0), exemplarReader(first.copy())(7)]).toEqual([
      sample,
      undefined,
    ]);
    expect(first.copy().byteLength).toBe(MAX_EXEMPLARS * 48);
  });

  it("of a series end with it: a series that gets its buckets later has none", () => {
    const row = defineMetric({
      name: "test.duration",
      kind: "histogram",
      unit: "s",
      attributes: ["route"],
      bounds: [1, 2],
      exemplars: true,
      group: "Test",
      help: "For a test.",
    });
    const ceiling = new Ceiling();
    const table = new SeriesTable({
      perMetric: 100,
      labelValues: 0,
      redact: undefined,
      ceiling,
      rowNumber: () => 0,
      now: () => 0,
      due: () => undefined,
    });
    expect(table.snapshot().exemplars).toBeUndefined();
    const number = table.index(row).find({ route: "/a" });
    const offset = table.columns.value[number] ?? -1;
    table.setExemplar(offset + 2, sample);
    expect(exemplarReader(table.snapshot().exemplars)(offset + 2)).toEqual(sample);
    table.end(number);
    const next = table.index(row).find({ route: "/b" });
    expect(table.columns.value[next]).toBe(offset);
    expect(
      [0, 1, 2].map((bucket) => exemplarReader(table.snapshot().exemplars)(offset + bucket)),
    ).toEqual([undefined, undefined, undefined]);
    expect(ceiling.exemplars).toBe(0);
  });
});
