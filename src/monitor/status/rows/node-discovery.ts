/** Node agents in the status: those of the first network that scrapes any. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  NodeDiscoverySchema,
  type NodeDiscovery,
} from "../../../gen/steward/monitor/v1/collection_pb.ts";
import { redactUrl } from "../../../kernel/config/redact.ts";
import type { NetworkStatus } from "../../status.ts";

/** Zeros when no network scrapes agents. */
export function nodeDiscovery(networks: readonly Pick<NetworkStatus, "report">[]): NodeDiscovery {
  const report = networks
    .find(({ report }) => report.nodeTargets !== undefined)
    ?.report.nodeTargets?.();
  if (report === undefined) return create(NodeDiscoverySchema);
  const { enabled, static: configured, lastOk, lastDiscoveryMs, targets } = report;
  return create(NodeDiscoverySchema, {
    enabled,
    static: configured,
    lastOk,
    active: targets.length,
    ...(lastDiscoveryMs === undefined ? {} : { lastDiscovery: timestampFromMs(lastDiscoveryMs) }),
    targets: targets.map(({ instance, source, url }) => ({
      instance,
      source,
      url: redactUrl(url),
    })),
  });
}
