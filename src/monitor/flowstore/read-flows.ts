/** Reads stored flows from inside the process, in the form of `/api/flows.json`. */
import { toBinary, type MessageShape } from "@bufbuild/protobuf";
import {
  ExportFlowsRequestSchema,
  FlowService,
  QueryFlowsRequestSchema,
} from "../../gen/steward/monitor/v1/flow_service_pb.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { wholeJson } from "../../kernel/threads/calls/answers.ts";
import type { CallOptions, ThreadHost } from "../../kernel/threads/hosted-service.ts";
import { createBinder } from "../../kernel/wire/bind.ts";

const FILTERS = ["device", "addr", "service", "identity", "type", "verdict", "path"] as const;
/** As the rules of the request have it; the gateway checks them only for its own requests. */
const MAX_FILTER_BYTES = 128;
const { queryFlows, exportFlows } = FlowService.method;
const binders = {
  queryFlows: binderOf(QueryFlowsRequestSchema),
  exportFlows: binderOf(ExportFlowsRequestSchema),
};

function binderOf(input: typeof QueryFlowsRequestSchema | typeof ExportFlowsRequestSchema) {
  return createBinder({ input, variables: [], body: "", ignoreUnknown: false });
}

/**
 * The report as UTF-8 JSON, in a buffer owned by the caller. `search` is the query of a request.
 * Rejects with `invalid` for a filter that the API refuses, `not_found` for an unknown network, and
 * while the monitor is not running.
 */
export function readFlows(
  component: Pick<ThreadHost, "call">,
  search: string,
  call: Pick<CallOptions, "signal" | "requestId">,
): Promise<Uint8Array<ArrayBuffer>> {
  const request = binders.queryFlows.bind({ params: {}, search, body: undefined });
  return ask(component, queryFlows, request as MessageShape<typeof QueryFlowsRequestSchema>, call);
}

/** The same for the export. */
export function readFlowExport(
  component: Pick<ThreadHost, "call">,
  search: string,
  call: Pick<CallOptions, "signal" | "requestId">,
): Promise<Uint8Array<ArrayBuffer>> {
  const request = binders.exportFlows.bind({ params: {}, search, body: undefined });
  return ask(
    component,
    exportFlows,
    request as MessageShape<typeof ExportFlowsRequestSchema>,
    call,
  );
}

async function ask<M extends typeof queryFlows | typeof exportFlows>(
  component: Pick<ThreadHost, "call">,
  method: M,
  request: MessageShape<M["input"]>,
  { signal, requestId }: Pick<CallOptions, "signal" | "requestId">,
): Promise<Uint8Array<ArrayBuffer>> {
  const long = FILTERS.find((name) => Buffer.byteLength(request[name]) > MAX_FILTER_BYTES);
  if (long !== undefined)
    throw new StewardError("invalid", `${long} must be at most ${MAX_FILTER_BYTES} bytes`);
  return wholeJson(
    await component.call(
      `${FlowService.typeName}/${method.name}`,
      toBinary<M["input"]>(method.input, request),
      { signal, requestId, encoding: "json" },
    ),
  );
}
