import { create, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  AiProcessCursorSchema,
  AiProcessInputSchema,
} from "../../../src/gen/steward/state/v1/dedup_pb.ts";
import { aborted } from "../../kernel/jobs/fixtures/types.ts";
import { DAY_MS, NOON_MS, openAiBench, type AiBench } from "./bench.ts";

/** Starts or continues a run over all documents and stops it while it asks about one. */
async function runUntil(bench: AiBench, docNo: number): Promise<string> {
  const running = await bench.open();
  const { jobs } = running;
  const { answering } = bench;
  const reached = Promise.withResolvers<void>();
  bench.answering = async (asked, signal) => {
    await answering(asked, signal);
    if (asked !== docNo) return;
    reached.resolve();
    await aborted(signal);
  };
  const active = jobs.active("ai_processing");
  if (active !== undefined) await jobs.recover();
  const { id } = active ?? (await running.startProcess({ reprocess: true }));
  await reached.promise;
  await jobs.stop(60_000);
  bench.answering = answering;
  return id;
}

describe("an AI run", () => {
  it.each([{ reprocess: true }, { docNos: [2, 1] }])(
    "processes again what has a result of a clock that was ahead: %o",
    async (input) => {
      const bench = await openAiBench(2);
      for (const docNo of [1, 2]) await bench.putResult(docNo, { createdAtMs: NOON_MS + DAY_MS });
      const result = await (await bench.open()).process(input);
      expect(result).toMatchObject({ totalDocuments: 2, processed: 2, succeeded: 2 });
      expect(bench.asked).toEqual([2, 1]);
    },
  );

  it("asks once about each document when the clock is set back before a crash", async () => {
    const bench = await openAiBench(3);
    for (const docNo of [1, 2, 3]) await bench.putResult(docNo);
    bench.answering = (docNo) => {
      if (docNo === 2) bench.nowMs = NOON_MS - 1;
    };
    const id = await runUntil(bench, 1);
    const result = await (await bench.open()).recovered(id);
    expect(result).toMatchObject({ totalDocuments: 3, processed: 3 });
    expect(bench.asked).toEqual([3, 2, 1, 1]);
  });

  it("asks once about each document when that of the newest result is removed before a crash", async () => {
    const bench = await openAiBench(3);
    for (const docNo of [1, 2, 3]) await bench.putResult(docNo, { serial: 4 - docNo });
    await runUntil(bench, 3);
    await bench.removeDocument(1);
    const id = await runUntil(bench, 2);
    await (await bench.open()).recovered(id);
    expect(bench.asked).toEqual([3, 3, 2, 2]);
  });

  it("continues a run of a version that did not store the newest result", async () => {
    const bench = await openAiBench(2);
    await bench.putResult(1, { createdAtMs: NOON_MS + 1 });
    await bench.putResult(2);
    const id = await bench.putRunning(
      "ai_processing",
      toBinary(AiProcessInputSchema, create(AiProcessInputSchema, { reprocess: true })),
      toBinary(
        AiProcessCursorSchema,
        create(AiProcessCursorSchema, { startedAtMs: NOON_MS, succeeded: 1 }),
      ),
    );
    const result = await (await bench.open()).recovered(id);
    expect(result).toMatchObject({ totalDocuments: 2, processed: 2 });
    expect(bench.asked).toEqual([2]);
  });
});
