/** Reads presence from inside the process, in the form of `/api/presence.json`. */
import { create, toBinary } from "@bufbuild/protobuf";
import {
  GetPresenceRequestSchema,
  PresenceService,
} from "../../gen/steward/monitor/v1/presence_service_pb.ts";
import { wholeJson } from "../../kernel/threads/calls/answers.ts";
import type { CallOptions, ThreadHost } from "../../kernel/threads/hosted-service.ts";

const PRESENCE = `${PresenceService.typeName}/${PresenceService.method.getPresence.name}`;

/**
 * The last 24 hours as UTF-8 JSON, in a buffer owned by the caller; of one device, or of all of
 * them if empty. Rejects while the monitor is not running.
 */
export async function readPresence(
  component: Pick<ThreadHost, "call">,
  device: string,
  { signal, requestId }: Pick<CallOptions, "signal" | "requestId">,
): Promise<Uint8Array<ArrayBuffer>> {
  const request = create(GetPresenceRequestSchema, { device });
  return wholeJson(
    await component.call(PRESENCE, toBinary(GetPresenceRequestSchema, request), {
      signal,
      requestId,
      encoding: "json",
    }),
  );
}
