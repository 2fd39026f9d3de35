/** The agents of nodes as the documents show them: those of the first network that asks any. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  NodeDiscoverySchema,
  type NodeDiscovery,
} from "../../gen/steward/monitor/v1/collection_pb.ts";
import { redactUrl } from "../../kernel/config/redact.ts";
import type { NetworkStatus } from "../status.ts";

/** Zeros where nobody asks agents. */
export function nodeDiscovery(networks: readonly Pick<NetworkStatus, "told">[]): NodeDiscovery {
  const pending = networks.find(({ told }) => told.nodeTargets !== undefined)?.told.nodeTargets?.();
  if (pending === undefined) return create(NodeDiscoverySchema);
  const { enabled, static: configured, lastOk, lastDiscoveryMs, targets } = pending;
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
