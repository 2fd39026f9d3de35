/** The status as pages read it: the very JSON that `/api/status.json` answers with. */
import type { StatusJson } from "../../../src/gen/status-json.ts";

/** From the bytes of `/api/status.json`, as the monitor's thread writes them. */
export function parseStatus(bytes: Uint8Array | string): StatusJson {
  return JSON.parse(
    typeof bytes === "string" ? bytes : new TextDecoder().decode(bytes),
  ) as StatusJson;
}
