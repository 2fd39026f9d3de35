/** Reads stored flows from inside the process, in the form of `/api/flows.json`. */
import { toBinary } from "@bufbuild/protobuf";
import { FlowService } from "../../gen/steward/monitor/v1/flow_service_pb.ts";
import { wholeJson } from "../../kernel/threads/calls/answers.ts";
import type { CallOptions, ThreadHost } from "../../kernel/threads/hosted-service.ts";
import { queryFlowsRequest } from "./flow-requests.ts";

const { queryFlows } = FlowService.method;

/**
 * The report as UTF-8 JSON, in a buffer owned by the caller. `search` is the query of a request.
 * Rejects with `invalid` for a filter that the API refuses, `not_found` for an unknown network, and
 * while the monitor is not running.
 */
export async function readFlows(
  component: Pick<ThreadHost, "call">,
  search: string,
  { signal, requestId }: Pick<CallOptions, "signal" | "requestId">,
): Promise<Uint8Array<ArrayBuffer>> {
  const request = toBinary(queryFlows.input, queryFlowsRequest(search));
  const call = { signal, requestId, encoding: "json" } as const;
  return wholeJson(
    await component.call(`${FlowService.typeName}/${queryFlows.name}`, request, call),
  );
}
