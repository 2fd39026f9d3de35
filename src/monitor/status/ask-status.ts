/**
 * Asks the monitor for its status from inside the process, as `/api/status.json` answers with it.
 */
import { create, toBinary } from "@bufbuild/protobuf";
import {
  GetStatusRequestSchema,
  StatusService,
} from "../../gen/steward/monitor/v1/status_service_pb.ts";
import { wholeJson } from "../../kernel/threads/answers.ts";
import type { CallOptions, ThreadHost } from "../../kernel/threads/hosted-service.ts";

const STATUS = `${StatusService.typeName}/${StatusService.method.getStatus.name}`;

/** Its JSON as UTF-8, the caller's own. Rejects while the monitor does not run. */
export async function askStatus(
  component: Pick<ThreadHost, "call">,
  { signal, requestId }: Pick<CallOptions, "signal" | "requestId">,
): Promise<Uint8Array<ArrayBuffer>> {
  return wholeJson(
    await component.call(STATUS, toBinary(GetStatusRequestSchema, create(GetStatusRequestSchema)), {
      signal,
      requestId,
      encoding: "json",
    }),
  );
}
