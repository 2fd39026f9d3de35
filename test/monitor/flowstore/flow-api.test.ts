import type { DescMethod } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { delay } from "../../../src/kernel/base/clock.ts";
import { createCall, type Call } from "../../../src/kernel/service.ts";
import { createFlowApi } from "../../../src/monitor/flowstore/flow-api.ts";
import type { FlowStore, FlowStores } from "../../../src/monitor/flowstore/flow-store.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";

describe("A question to the flows on disk", () => {
  it.each(["queryFlows", "exportFlows"])("%s ends once its time is over", async (method) => {
    const clock = createManualClock();
    const slow = {
      network: "lab",
      async *parts(_: unknown, signal: AbortSignal) {
        yield* [];
        await delay(clock, 60_000, signal);
      },
      select: (_: unknown, signal: AbortSignal) => delay(clock, 60_000, signal),
    } as unknown as FlowStore;
    const stores = {
      kind: "lmdb",
      retentionMs: 3_600_000,
      maxExportRows: 100,
      queryTimeoutMs: 15_000,
      all: [slow],
    } as unknown as FlowStores;
    const api = createFlowApi(clock, stores);
    const handler = api.handler({ localName: method } as DescMethod) as (
      request: unknown,
      call: Call,
    ) => Promise<unknown>;
    const request = { network: "", window: "", cursor: "", device: "" };
    const answer = handler(
      request,
      createCall({ requestId: "1", signal: new AbortController().signal }),
    );
    const failed = expect(answer).rejects.toMatchObject({
      code: "deadline",
      message: expect.stringContaining("takes too long"),
      remedy: expect.stringContaining("flows.store.query_timeout"),
    });
    await clock.advance(15_000);
    await failed;
  });
});
