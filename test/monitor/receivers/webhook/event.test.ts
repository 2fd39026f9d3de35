import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createInstantReader } from "../../../../src/monitor/ingest/instants.ts";
import { createDeliveries } from "../../../../src/monitor/receivers/webhook/deliveries.ts";
import { readEvents } from "../../../../src/monitor/receivers/webhook/event.ts";
import { readSignature } from "../../../../src/monitor/receivers/webhook/signature.ts";

const read = (body: string) => readEvents(Buffer.from(body), createInstantReader());
const digestOf = async (event: string): Promise<string | undefined> =>
  (await read(`[${event}]`))?.[0]?.digest;

describe("the events of a webhook", () => {
  it("have a digest that ignores order and white space, and nothing else", async () => {
    const same = await digestOf('{"type":"a","data":{"x":1,"y":[1.0,"z"]}}');
    expect(await digestOf(' { "data" : {"y":[1.0, "z"],"x":1}, "type":"a" } ')).toBe(same);
    for (const other of [
      '{"type":"a","data":{"x":1,"y":[1,"z"]}}',
      '{"type":"a","data":{"x":1,"y":["z",1.0]}}',
      '{"type":"b","data":{"x":1,"y":[1.0,"z"]}}',
      '{"type":"a","data":{"x":"1","y":[1.0,"z"]}}',
    ])
      expect(await digestOf(other)).not.toBe(same);
  });

  it("are none of any other text, and never an exception", async () => {
    const piece = fc.constantFrom(
      "[",
      "]",
      "{",
      "}",
      '"type"',
      ":",
      '"a"',
      ",",
      "1",
      "null",
      " ",
      '"data"',
      "\\",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
        const events = await read(pieces.join(""));
        if (events !== undefined) for (const { type } of events) expect(type).not.toBe("");
      }),
      { numRuns: 1_000 },
    );
    expect(await read('[{"type":"a","data":{"__proto__":{"x":1}}}]')).toHaveLength(1);
  });
});

describe("a signature", () => {
  it("is read from any header, or refused with its fault", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("t", "v1", "=", ",", "1", "a", " "), { maxLength: 20 }),
        (pieces) => {
          const signature = readSignature(pieces.join(""));
          if (typeof signature === "string") expect(signature).toMatch(/^(missing|malformed)_/);
          else expect(signature.digests.length).toBeGreaterThan(0);
        },
      ),
    );
  });
});

describe("delivered events", () => {
  it("are remembered for 25 hours, the newest 65,536 of them", () => {
    let nowMs = 0;
    const deliveries = createDeliveries({ monotonic: () => nowMs });
    expect([deliveries.isNew("a"), deliveries.isNew("a")]).toEqual([true, false]);
    nowMs = 25 * 3_600_000 - 1;
    expect(deliveries.isNew("a")).toBe(false);
    nowMs += 1;
    expect([deliveries.isNew("a"), deliveries.isNew("a")]).toEqual([true, false]);
    for (let at = 0; at < 65_536; at += 1) deliveries.isNew(`other ${at}`);
    expect(deliveries.isNew("a")).toBe(true);
  });
});
