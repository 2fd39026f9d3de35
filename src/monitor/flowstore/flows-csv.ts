/**
 * `GET /api/flows/export.csv`: what `/api/flows/export.json` answers as a table, made in the thread
 * that has the stores.
 */
import { Access } from "../../gen/steward/options/v1/options_pb.ts";
import { bytesIn } from "../../kernel/base/pieces.ts";
import type { PlainRoute } from "../../kernel/service.ts";
import { exportCsv } from "./export-csv.ts";
import { exportedFlows, type AskedStores } from "./flow-question.ts";
import { exportFlowsRequest } from "./flow-requests.ts";

/** Without its handler, which runs where the monitor does. */
export const FLOWS_CSV_ROUTE: Omit<PlainRoute, "handle"> = {
  verb: "GET",
  template: "/api/flows/export.csv",
  access: Access.ADMIN,
  dialect: "monitor",
  describe: {
    operationId: "monitorExportFlowsCsv",
    tag: "monitor.FlowService",
    text: "Downloads the connections of a window as CSV. Lines that begin with # say what it holds.",
    answer: "CSV with a row for each connection.",
    contentType: "text/csv",
    query: {
      network: "Name of the network; all of them if empty.",
      window: "Length of the window, such as 90s or 6h; 1h by default.",
      end: "End of the window; now by default.",
      device: "Part of the node name of source or destination.",
      addr: "Part of the address of source or destination.",
      service: "Part of the service of the destination.",
      identity: "Part of user or tags of source or destination.",
      type: "virtual, subnet, exit or physical.",
      verdict: "permitted, no_rule or undetermined.",
      path: "direct_ipv4, direct_ipv6 or derp.",
    },
  },
};

export function flowsCsvRoute(asked: AskedStores): PlainRoute {
  return {
    ...FLOWS_CSV_ROUTE,
    async handle({ query }, { signal }) {
      const request = exportFlowsRequest(query.toString());
      const { name, pieces } = await exportCsv(await exportedFlows(asked, request, signal), signal);
      return {
        status: 200,
        headers: {
          "content-type": "text/csv; charset=utf-8",
          "content-disposition": `attachment; filename="${name}"`,
          "content-length": String(bytesIn(pieces)),
          "cache-control": "no-store",
        },
        body: oneByOne(pieces),
      };
    },
  };
}

/** They leave the thread as the client takes them. */
async function* oneByOne(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) yield await Promise.resolve(piece);
}
