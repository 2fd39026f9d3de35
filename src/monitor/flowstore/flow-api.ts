/** Answers `QueryFlows` from the stores. */
import { create } from "@bufbuild/protobuf";
import {
  FlowService,
  type ExportFlowsRequest,
} from "../../gen/steward/monitor/v1/flow_service_pb.ts";
import {
  FlowExportSchema,
  FlowReportSchema,
  FlowSchema,
} from "../../gen/steward/monitor/v1/flows_pb.ts";
import { mapInTurns, Turns } from "../../kernel/async/turns.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { bindService, type BoundService, type JsonHandler } from "../../kernel/service.ts";
import { readCursor } from "./cursor.ts";
import { exportJson } from "./export-json.ts";
import { flowDocument, rowOf } from "./flow-document.ts";
import { flowExport } from "./flow-export.ts";
import { clamp, exportedFlows, inTime, questionOf } from "./flow-question.ts";
import type { FlowStores } from "./flow-store.ts";
import { selectRecent } from "./recent-query.ts";
import { sumWindow } from "./sum-query.ts";

const DEFAULT_TOP = 20;
const MAX_TOP = 200;
const DEFAULT_RECENT = 200;
const MAX_RECENT = 1_000;

/** Without stores every call fails with `not_found`. */
export function createFlowApi(clock: Clock, stores: FlowStores | undefined): BoundService {
  const bound = bindService(FlowService, {
    async queryFlows(request, call) {
      const asked = questionOf({ clock, stores }, request);
      const { shown, window, filter } = asked;
      const [sums, page] = await inTime(clock, asked, call.signal, async (signal) => {
        const top = clamp(request.top ?? DEFAULT_TOP, 1, MAX_TOP);
        const all = await sumWindow(shown, { ...window, top }, signal);
        const limit = clamp(request.recent ?? DEFAULT_RECENT, 0, MAX_RECENT);
        const before = readCursor(request.cursor);
        return [all, await selectRecent(shown, { ...window, filter, limit, before }, signal)];
      });
      const networks = asked.stores.all.map(({ network }) => network);
      const answer = { ...asked, ...window, shown, networks, sums, page };
      return { flows: create(FlowReportSchema, flowDocument(answer)) };
    },
    async exportFlows(request, call) {
      const answer = await exportedFlows({ clock, stores }, request, call.signal);
      const rows = await mapInTurns(answer.page.rows, new Turns(), (row) =>
        create(FlowSchema, rowOf(row)),
      );
      return { export: create(FlowExportSchema, { ...flowExport(answer), rows }) };
    },
  });
  const json: JsonHandler = async (request, { signal }) =>
    exportJson(
      await exportedFlows({ clock, stores }, request as ExportFlowsRequest, signal),
      signal,
    );
  return {
    ...bound,
    json: (method) => (method.localName === "exportFlows" ? json : undefined),
  };
}
