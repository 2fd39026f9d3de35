/** Requests from the query of an address, for callers that the gateway does not check. */
import type { MessageShape } from "@bufbuild/protobuf";
import {
  ExportFlowsRequestSchema,
  QueryFlowsRequestSchema,
} from "../../gen/steward/monitor/v1/flow_service_pb.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { createBinder } from "../../kernel/wire/bind.ts";

const FILTERS = ["device", "addr", "service", "identity", "type", "verdict", "path"] as const;
/** As the rules of the request have it. */
const MAX_FILTER_BYTES = 128;
const bindQuery = binderOf(QueryFlowsRequestSchema);
const bindExport = binderOf(ExportFlowsRequestSchema);

/** Throws `invalid` for what the API refuses. */
export const queryFlowsRequest = (search: string): MessageShape<typeof QueryFlowsRequestSchema> =>
  checked(bindQuery(search) as MessageShape<typeof QueryFlowsRequestSchema>);

/** Throws `invalid` for what the API refuses. */
export const exportFlowsRequest = (search: string): MessageShape<typeof ExportFlowsRequestSchema> =>
  checked(bindExport(search) as MessageShape<typeof ExportFlowsRequestSchema>);

function binderOf(input: typeof QueryFlowsRequestSchema | typeof ExportFlowsRequestSchema) {
  const binder = createBinder({ input, variables: [], body: "", ignoreUnknown: false });
  return (search: string) => binder.bind({ params: {}, search, body: undefined });
}

function checked<R extends Readonly<Record<(typeof FILTERS)[number], string>>>(request: R): R {
  const long = FILTERS.find((name) => Buffer.byteLength(request[name]) > MAX_FILTER_BYTES);
  if (long !== undefined)
    throw new StewardError("invalid", `${long} must be at most ${MAX_FILTER_BYTES} bytes`);
  return request;
}
