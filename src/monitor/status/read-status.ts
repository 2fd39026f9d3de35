/** Reads the monitor's status from inside the process, in the form of `/api/status.json`. */
import { create, toBinary } from "@bufbuild/protobuf";
import {
  GetStatusRequestSchema,
  StatusService,
} from "../../gen/steward/monitor/v1/status_service_pb.ts";
import { wholeJson } from "../../kernel/threads/calls/answers.ts";
import type { CallOptions, ThreadHost } from "../../kernel/threads/hosted-service.ts";

const STATUS = `${StatusService.typeName}/${StatusService.method.getStatus.name}`;

/**
 * The status as UTF-8 JSON, in a buffer owned by the caller. Rejects while the monitor is not
 * running.
 */
export async function readStatus(
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
