/** Trust in the reporter of a record, and whether it describes itself. */
import type { DeviceCache } from "../enrich/types.ts";
import type { FlowLogOptions } from "../options.ts";
import type { FlowRecord } from "./record.ts";

/**
 * `unconfigured`: no list is configured; `configured`: listed by id; `tagged`: by a tag that the
 * control plane confirms.
 */
export type Trust = "unconfigured" | "configured" | "tagged" | "untrusted";
/** Whether the record's source node is its reporter. */
export type Consistency = "match" | "mismatch" | "missing_reference";

/** Classifies reporters by the configured lists. */
export function createReporterTrust(
  devices: Pick<DeviceCache, "byId">,
  options: Pick<FlowLogOptions, "trustedReporterNodeIds" | "trustedReporterTags"> | undefined,
): (nodeId: string) => Trust {
  const ids = new Set(options?.trustedReporterNodeIds);
  const tags = new Set(options?.trustedReporterTags);
  if (ids.size + tags.size === 0) return () => "unconfigured";
  return (nodeId) => {
    if (ids.has(nodeId)) return "configured";
    return devices.byId(nodeId)?.tags.some((tag) => tags.has(tag)) === true
      ? "tagged"
      : "untrusted";
  };
}

/** Compares the reporter with the source node that it describes. */
export function consistencyOf({
  nodeId,
  sourceNode,
}: Pick<FlowRecord, "nodeId" | "sourceNode">): Consistency {
  if (sourceNode === undefined || sourceNode.nodeId === "") return "missing_reference";
  return sourceNode.nodeId === nodeId ? "match" : "mismatch";
}
