import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import {
  ExportFlowsResponseSchema,
  FlowService,
} from "../../../src/gen/steward/monitor/v1/flow_service_pb.ts";
import { FlowExportSchema, FlowSchema } from "../../../src/gen/steward/monitor/v1/flows_pb.ts";
import { writeRestJson } from "../../../src/kernel/wire/rest-json.ts";
import { exportJson } from "../../../src/monitor/flowstore/export-json.ts";
import { rowOf } from "../../../src/monitor/flowstore/flow-document.ts";
import { flowExport, type FlowExportAnswer } from "../../../src/monitor/flowstore/flow-export.ts";
import { NOW_MS, noFilter, sampleFlow } from "./sample-flow.ts";

it.each([0, 1, 3_000])("an export of %i rows is what the gateway would write", async (count) => {
  const rows = Array.from({ length: count }, (_, at) => ({
    ...sampleFlow({ srcNode: `"rows": []\n${at}`, txBytes: at }),
    timeMs: NOW_MS - at,
    seq: at,
  }));
  const answer: FlowExportAnswer = {
    stores: { kind: "lmdb", maxExportRows: 5_000 },
    shown: [],
    nowMs: NOW_MS,
    startMs: NOW_MS - 60_000,
    endMs: NOW_MS,
    filter: { ...noFilter, device: '"rows": []' },
    page: { rows, matched: count, retained: count, isFull: false, next: undefined },
  };
  const { pieces } = await exportJson(answer, new AbortController().signal);
  const whole = create(FlowExportSchema, {
    ...flowExport(answer),
    rows: rows.map((row) => create(FlowSchema, rowOf(row))),
  });
  expect(Buffer.concat(pieces).toString()).toBe(
    writeRestJson(
      FlowService.method.exportFlows,
      create(ExportFlowsResponseSchema, { export: whole }),
    ),
  );
  expect(pieces.length).toBe(count < 3_000 ? 1 : 8);
});
