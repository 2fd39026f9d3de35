import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Envelope } from "../../../../src/monitor/receivers/stream/envelope.ts";
import { walkRecords } from "../../../../src/monitor/receivers/stream/walk.ts";

interface Found {
  readonly records: unknown[];
  readonly envelopes: Envelope[];
  dropped: number;
}

async function walk(body: string | Buffer): Promise<Found> {
  const found: Found = { records: [], envelopes: [], dropped: 0 };
  await walkRecords(
    Buffer.from(body),
    {
      record(value, envelope) {
        found.records.push(value);
        found.envelopes.push(envelope);
      },
      dropped: () => void (found.dropped += 1),
    },
    new AbortController().signal,
  );
  return found;
}

/** Makes a value so large that it is taken apart before it is parsed. */
const large = (value: object): object => ({ ...value, padding: "é".repeat(70_000) });

describe("the walk over a body", () => {
  it("gives a record the innermost times", async () => {
    const outer = { time: 1_790_000_010.5, fields: { recorded: "2026-09-21T14:13:30Z" } };
    for (const wrap of [(value: object) => value, large]) {
      const body = JSON.stringify([
        wrap({ ...outer, event: { a: 1 } }),
        wrap({ ...outer, event: { time: "1790000020", event: { a: 2 } } }),
        wrap({ fields: { recorded: "then" }, logs: [{ a: 3 }] }),
        wrap({ time: -1, event: { a: 4 } }),
      ]);
      expect((await walk(body)).envelopes).toEqual([
        { time: "2026-09-21T14:13:30.500Z", recorded: "2026-09-21T14:13:30Z" },
        { time: "2026-09-21T14:13:40.000Z", recorded: "2026-09-21T14:13:30Z" },
        { time: "then", recorded: "then" },
        { time: undefined, recorded: undefined },
      ]);
    }
  });

  it("takes an object whose logs are no list, or an empty one, for a record", async () => {
    for (const logs of [{}, 5, null, []]) {
      expect((await walk(JSON.stringify({ logs }))).records).toEqual([{ logs }]);
      expect((await walk(JSON.stringify(large({ logs })))).records).toEqual([large({ logs })]);
    }
  });

  it("finds the same records whether values are parsed at once or taken apart", async () => {
    const leaf = fc.oneof(fc.constant({ id: 1 }), fc.constant(7), fc.constant(null));
    const { value: shape } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        leaf,
        fc.array(tie("value"), { maxLength: 3 }),
        fc.record({ event: tie("value") }),
        fc.record({ time: fc.nat(), logs: fc.array(tie("value"), { maxLength: 3 }) }),
      ),
    }));
    await fc.assert(
      fc.asyncProperty(shape as fc.Arbitrary<unknown>, async (value) => {
        const padded = (each: unknown): unknown => {
          if (Array.isArray(each)) return [...each.map(padded), large({})];
          if (typeof each !== "object" || each === null) return each;
          return large(
            Object.fromEntries(
              Object.entries(each).map(([name, inner]) =>
                name === "logs" && (inner as unknown[]).length === 0
                  ? [name, inner]
                  : [name, padded(inner)],
              ),
            ),
          );
        };
        const small = await walk(`{"id":0}${JSON.stringify(value)} `);
        const apart = await walk(`{"id":0}${JSON.stringify(padded(value))} `);
        const ids = ({ records }: Found): unknown[] =>
          records.flatMap((record) => {
            const { id } = record as { id?: unknown };
            return id === undefined ? [] : [id];
          });
        expect(ids(apart)).toEqual(ids(small));
      }),
      { numRuns: 60 },
    );
  });

  it("answers any text with records or a refusal", async () => {
    const piece = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      ",",
      ":",
      '"event"',
      '"logs"',
      "1",
      "null",
      " ",
      "\n",
      '"',
      "\\",
      "é",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
        const outcome = await walk(pieces.join("")).catch((error: unknown) => error);
        if (!(outcome instanceof Error)) return;
        expect(outcome).toMatchObject({ name: "Refusal", status: 400 });
      }),
      { numRuns: 2_000 },
    );
  });

  it("stops when its signal fires", async () => {
    const stopped = new AbortController();
    stopped.abort(new Error("late"));
    await expect(
      walkRecords(
        Buffer.alloc(8 * 1024 * 1024, '{"a":1}\n'),
        { record: () => undefined, dropped: () => undefined },
        stopped.signal,
      ),
    ).rejects.toThrow("late");
  });
});
