import { clone, create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyPatch } from "../../../../gateway/web/browser/patch.ts";
import { StatusSchema, type Status } from "../../../../src/gen/steward/monitor/v1/status_pb.ts";
import { plainMessage } from "../../../../src/kernel/wire/write.ts";
import { patchBetween } from "../../../../src/monitor/status/document/document-patch.ts";

const word = fc.constantFrom("", "a", "b/c", "~d");
const network = fc.record({
  name: word,
  devices: fc.array(fc.record({ name: word, tags: fc.array(word, { maxLength: 2 }) }), {
    maxLength: 3,
  }),
  collectors: fc.array(
    fc.record({
      name: word,
      lastError: word,
      durationMsSeries: fc.array(fc.nat(9), { maxLength: 3 }),
    }),
    { maxLength: 2 },
  ),
});
const document = fc
  .record({
    provider: word,
    healthReasons: fc.array(word, { maxLength: 2 }),
    services: fc.dictionary(word, word, { maxKeys: 3 }),
    networks: fc.array(network, { maxLength: 2 }),
    metrics: fc.array(fc.record({ name: word, series: fc.nat(3) }), { maxLength: 3 }),
    generatedAt: fc.option(
      fc.nat(9).map((seconds) => timestampFromMs(seconds * 1000)),
      { nil: undefined },
    ),
    runtime: fc.option(
      fc.record({
        numGc: fc.nat(3).map(BigInt),
        heapAllocSeries: fc.array(fc.nat(3).map(BigInt), { maxLength: 3 }),
      }),
      { nil: undefined },
    ),
  })
  .map(({ generatedAt, runtime, ...rest }): Status =>
    create(StatusSchema, {
      ...rest,
      ...(generatedAt === undefined ? {} : { generatedAt }),
      ...(runtime === undefined ? {} : { runtime }),
    }),
  );

const plain = (status: Status): unknown =>
  JSON.parse(JSON.stringify(plainMessage(StatusSchema, status)));

describe("the patch between two status documents", () => {
  it("turns the JSON of any document into that of any other, and leaves the first as it was", async () => {
    await fc.assert(
      fc.asyncProperty(document, document, async (before, after) => {
        const given = plain(before);
        const operations = JSON.parse(
          JSON.stringify(await patchBetween(StatusSchema, before, after)),
        ) as Parameters<typeof applyPatch>[1];
        expect(applyPatch(given, operations)).toEqual(plain(after));
        expect(given).toEqual(plain(before));
      }),
      { numRuns: 300 },
    );
  });

  it("is empty for equal documents, and one operation for one changed value", async () => {
    const before = create(StatusSchema, {
      networks: [
        {
          name: "home",
          collectors: [
            { name: "devices", runs: 1n },
            { name: "users", runs: 1n },
          ],
        },
      ],
    });
    const after = clone(StatusSchema, before);
    expect(await patchBetween(StatusSchema, before, after)).toEqual([]);
    const changed = after.networks[0]?.collectors[1];
    if (changed !== undefined) changed.runs = 2n;
    expect(await patchBetween(StatusSchema, before, after)).toEqual([
      { op: "replace", path: "/networks/0/collectors/1/runs", value: 2 },
    ]);
  });

  it("does not look into lists that are the same object", async () => {
    const devices = new Proxy<Status["devices"]>([], {
      get: () => {
        throw new Error("the list was read");
      },
    });
    const [before, after] = [create(StatusSchema), create(StatusSchema)].map((status) =>
      Object.assign(status, { devices }),
    );
    if (before === undefined || after === undefined) throw new Error("there are two");
    after.provider = "headscale";
    expect(await patchBetween(StatusSchema, before, after)).toEqual([
      { op: "replace", path: "/provider", value: "headscale" },
    ]);
  });
});
