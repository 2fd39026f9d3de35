/** Applies the privacy filter to connections before they reach the disk. */
import { createHiding } from "../../privacy/redaction.ts";
import type { PrivacyOptions } from "../../options.ts";
import type { FlowObservation } from "../types.ts";

/** Texts that may be hidden, and the attribute as which each is exported. */
const attributes = {
  srcAddr: "source.address",
  dstAddr: "destination.address",
  srcNode: "vpn.src.node",
  dstNode: "vpn.dst.node",
  dstService: "vpn.dst.service",
  srcUser: "vpn.src.user",
  dstUser: "vpn.dst.user",
  srcTags: "vpn.src.tags",
  dstTags: "vpn.dst.tags",
  srcOs: "vpn.src.os",
  dstOs: "vpn.dst.os",
  reporterNodeId: "vpn.node.id",
} as const satisfies Partial<Record<keyof FlowObservation, string>>;
const entries = Object.entries(attributes) as [keyof typeof attributes, string][];

/** Hidden texts become empty. */
export function createFlowRedaction(
  privacy: PrivacyOptions,
): (flow: FlowObservation) => FlowObservation {
  const hides = createHiding(privacy);
  if (hides === undefined) return (flow) => flow;
  return (flow) => {
    const hidden = entries.filter(([name, attribute]) => hides(attribute, flow[name]));
    return { ...flow, ...Object.fromEntries(hidden.map(([name]) => [name, ""])) };
  };
}
