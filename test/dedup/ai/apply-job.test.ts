import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { ALL_FIELDS, createApplier } from "../../../src/dedup/ai/apply.ts";
import { AiField, AiResultStatus } from "../../../src/gen/steward/dedup/v1/ai_pb.ts";
import {
  AiApplyCursorSchema,
  AiApplyInputSchema,
} from "../../../src/gen/steward/state/v1/dedup_pb.ts";
import { never } from "../store-bench.ts";
import { DAY_MS, NOON_MS, openAiBench } from "./bench.ts";

const fields = [...ALL_FIELDS];
/** What the archive has of a document once all fields of its result are applied. */
const whole = { correspondent: 1, documentType: 2, tags: [3] };

describe("a job that applies AI results", () => {
  it("applies the other fields of a result that is partly applied, by a clock that was ahead", async () => {
    const bench = await openAiBench(1);
    await bench.putResult(1, {
      status: AiResultStatus.PARTIAL,
      appliedFields: [AiField.CORRESPONDENT],
      appliedAtMs: NOON_MS + DAY_MS,
    });
    const running = await bench.open();
    expect(await running.apply({ docNos: [1], fields })).toMatchObject({ applied: 1, failed: 0 });
    expect(bench.live(1)).toMatchObject(whole);
    expect(running.results.row(1)).toMatchObject({
      status: AiResultStatus.APPLIED,
      appliedFields: fields,
    });
  });

  it("applies the other fields of a result of which a reviewer applies one meanwhile", async () => {
    const bench = await openAiBench(2);
    for (const docNo of [1, 2]) await bench.putResult(docNo);
    const running = await bench.open();
    bench.changing = async (docNo) => {
      const second = docNo === 1 ? running.results.row(2) : undefined;
      if (second === undefined) return;
      const options = {
        fields: [AiField.CORRESPONDENT],
        allowClearing: false,
        createMissing: false,
      };
      await createApplier(running.deps).apply(second, options, never);
    };
    expect(await running.apply({ docNos: [1, 2], fields })).toMatchObject({ applied: 2 });
    expect(bench.live(2)).toMatchObject(whole);
  });

  it("leaves out a result that was made since the choice, also when a restart forgot the newest of then", async () => {
    const bench = await openAiBench(2);
    for (const docNo of [1, 2]) await bench.putResult(docNo);
    const id = await bench.putRunning(
      "ai_apply",
      toBinary(
        AiApplyInputSchema,
        create(AiApplyInputSchema, { docNos: [1, 2], fields, newestSerial: 3 }),
      ),
      toBinary(AiApplyCursorSchema, create(AiApplyCursorSchema, { startedAtMs: NOON_MS })),
    );
    const running = await bench.open();
    bench.changing = async () => {
      const old = running.results.row(2);
      if (old === undefined) throw new Error("document 2 has a result");
      await bench.env.write((tx) => running.results.add(tx, { ...old, id: "later" }));
    };
    expect(await running.recovered(id)).toMatchObject({
      applied: 1,
      failed: 1,
      errors: [{ resultId: "later" }],
    });
    expect(bench.changed).toEqual([1]);
  });

  it("applies a result once when it is killed before it stores its position", async () => {
    const bench = await openAiBench(2);
    await bench.putResult(1, {
      status: AiResultStatus.APPLIED,
      appliedFields: fields,
      appliedAtMs: NOON_MS,
    });
    await bench.putResult(2);
    const id = await bench.putRunning(
      "ai_apply",
      toBinary(AiApplyInputSchema, create(AiApplyInputSchema, { docNos: [1, 2], fields })),
      toBinary(AiApplyCursorSchema, create(AiApplyCursorSchema, { startedAtMs: NOON_MS })),
    );
    expect(await (await bench.open()).recovered(id)).toMatchObject({ applied: 2, failed: 0 });
    expect(bench.changed).toEqual([2]);
  });
});
