/** The status as pages read it: the very JSON that `/api/status.json` answers with. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { GetStatusResponseSchema, StatusService } from "../../../src/gen/steward/monitor/v1/status_service_pb.ts";
import type { StatusSchema } from "../../../src/gen/steward/monitor/v1/status_pb.ts";
import { writeRestJson } from "../../../src/kernel/wire/rest-json.ts";
import type { StatusJson } from "./status.ts";

/** From the bytes of `/api/status.json`, as the monitor's thread writes them. */
export function parseStatus(bytes: Uint8Array | string): StatusJson {
  return JSON.parse(typeof bytes === "string" ? bytes : new TextDecoder().decode(bytes)) as StatusJson;
}

/** From the message. */
export function readStatus(status: MessageInitShape<typeof StatusSchema>): StatusJson {
  return parseStatus(writeRestJson(StatusService.method.getStatus, create(GetStatusResponseSchema, { status })));
}
