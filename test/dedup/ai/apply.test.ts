import { describe, expect, it } from "vitest";
import { ALL_FIELDS, createApplier } from "../../../src/dedup/ai/apply.ts";
import { rejectMany, rejectOne } from "../../../src/dedup/ai/review.ts";
import { AiResultStatus } from "../../../src/gen/steward/dedup/v1/ai_pb.ts";
import type { AiResultRow } from "../../../src/gen/steward/state/v1/dedup_pb.ts";
import { never } from "../store-bench.ts";
import { openAiBench } from "./bench.ts";

const options = { fields: ALL_FIELDS, allowClearing: false, createMissing: true };

/** A document with a pending result. */
async function openOne() {
  const bench = await openAiBench(1);
  await bench.putResult(1);
  const { deps, results } = await bench.open();
  const row = (): AiResultRow => results.row(1) as AiResultRow;
  return { bench, deps, row, applier: createApplier(deps) };
}

describe("a result that is being applied", () => {
  it("is not rejected meanwhile", async () => {
    const { bench, deps, row, applier } = await openOne();
    const seen: unknown[] = [];
    bench.changing = async () => {
      seen.push(await rejectOne(deps, row().id, "").catch((error: unknown) => error));
      seen.push(await rejectMany(deps, [row()]));
    };
    await applier.apply(row(), options, never);
    expect(seen).toMatchObject([{ code: "conflict" }, 0]);
    expect(row()).toMatchObject({ status: AiResultStatus.APPLIED });
    expect(bench.changed).toEqual([1]);
  });

  it("is not applied or reverted by another request", async () => {
    const { bench, row, applier } = await openOne();
    const seen: unknown[] = [];
    bench.changing = async () => {
      bench.changing = () => undefined;
      seen.push(await applier.apply(row(), options, never).catch((error: unknown) => error));
      seen.push(await applier.revert(row(), never).catch((error: unknown) => error));
    };
    await applier.apply(row(), options, never);
    expect(seen).toMatchObject([{ code: "conflict" }, { code: "conflict" }]);
    await applier.revert(row(), never);
    expect(row()).toMatchObject({ status: AiResultStatus.REVERTED });
  });

  it("can be rejected after a failure", async () => {
    const { bench, deps, row, applier } = await openOne();
    bench.changing = () => {
      throw new Error("the archive broke");
    };
    await expect(applier.apply(row(), options, never)).rejects.toThrow("broke");
    await rejectOne(deps, row().id, "");
    expect(row()).toMatchObject({ status: AiResultStatus.REJECTED });
  });
});

it("a result that was rejected after it was read changes nothing in the archive", async () => {
  const { bench, deps, row, applier } = await openOne();
  const read = row();
  await rejectOne(deps, read.id, "");
  await expect(applier.apply(read, options, never)).rejects.toMatchObject({ code: "conflict" });
  expect(bench.changed).toEqual([]);
  expect(row()).toMatchObject({ status: AiResultStatus.REJECTED });
});

it("after an apply the stored document has all tags whose names can be read", async () => {
  const { bench, deps, row, applier } = await openOne();
  Object.assign(bench.live(1) ?? {}, { tags: [4, 99] });
  await applier.apply(row(), options, never);
  expect(bench.live(1)?.tags).toEqual([4, 99, 3]);
  expect(deps.documents.row(1)?.tags).toEqual(["#todo", "utilities"]);
});
