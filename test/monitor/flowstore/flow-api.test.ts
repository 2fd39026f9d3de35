import { create, type DescMethod } from "@bufbuild/protobuf";
import { afterAll, describe, expect, it } from "vitest";
import {
  ExportFlowsRequestSchema,
  ExportFlowsResponseSchema,
  FlowService,
  QueryFlowsRequestSchema,
  QueryFlowsResponseSchema,
} from "../../../src/gen/steward/monitor/v1/flow_service_pb.ts";
import { delay } from "../../../src/kernel/base/clock.ts";
import { createCall, type Call } from "../../../src/kernel/service.ts";
import { writeRestJson } from "../../../src/kernel/wire/rest-json.ts";
import { createFlowApi } from "../../../src/monitor/flowstore/flow-api.ts";
import type { FlowStore, FlowStores } from "../../../src/monitor/flowstore/flow-store.ts";
import { removeTemporaryFolders, temporaryFolder } from "../../contract/daemon.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";
import { openStore } from "./disk/open-store.ts";
import { openMemory, sampleFlow } from "./sample-flow.ts";

afterAll(removeTemporaryFolders);

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

describe("Counters as large as a record may have", () => {
  const clock = createManualClock();
  const most = Number.MAX_SAFE_INTEGER;
  const counts = { txBytes: most, rxBytes: most, txPackets: most, rxPackets: most };
  const record = (store: FlowStore): FlowStore => {
    for (let row = 0; row < 2; row += 1)
      store.record(sampleFlow({ timeMs: clock.now(), ...counts }));
    return store;
  };
  const inMemory = (): Promise<AsyncDisposable & { store: FlowStore }> => {
    let seq = 0;
    const store = openMemory({ clock, nextSeq: () => (seq += 1) });
    const close = (): Promise<void> => Promise.resolve();
    return Promise.resolve({ store: record(store), [Symbol.asyncDispose]: close });
  };
  const onDisk = async (): Promise<AsyncDisposable & { store: FlowStore }> => {
    const { store } = await openStore(temporaryFolder(), { clock });
    record(store);
    await store.flush();
    return { store, [Symbol.asyncDispose]: () => store.close() };
  };

  it.each([
    ["memory", inMemory],
    ["disk", onDisk],
  ])("are answered from %s, where their sum is too large for JSON", async (_, open) => {
    await using opened = await open();
    const stores = {
      kind: "memory",
      retentionMs: 3_600_000,
      maxExportRows: 100,
      queryTimeoutMs: undefined,
      all: [opened.store],
    } as unknown as FlowStores;
    const api = createFlowApi(clock, stores);
    const ask = async (method: DescMethod, request: unknown): Promise<any> =>
      await (api.handler(method) as (request: unknown, call: Call) => Promise<unknown>)(
        request,
        createCall({ requestId: "1", signal: new AbortController().signal }),
      );
    const { queryFlows, exportFlows } = FlowService.method;
    const report = writeRestJson(
      queryFlows,
      create(QueryFlowsResponseSchema, await ask(queryFlows, create(QueryFlowsRequestSchema, {}))),
    );
    expect(JSON.parse(report).result.totals).toEqual({
      tx_bytes: most,
      rx_bytes: most,
      tx_packets: most,
      rx_packets: most,
      flows: 2,
    });
    const rows = writeRestJson(
      exportFlows,
      create(
        ExportFlowsResponseSchema,
        await ask(exportFlows, create(ExportFlowsRequestSchema, {})),
      ),
    );
    expect(JSON.parse(rows).rows).toHaveLength(2);
  });
});
