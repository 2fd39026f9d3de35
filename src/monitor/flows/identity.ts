/**
 * User, tags and OS of an endpoint: from the control plane first, then from the record's own
 * references.
 */
import type { EndpointReader } from "../enrich/addresses.ts";
import type { FlowRecord, NodeReference } from "./record.ts";

/** Undefined means unknown. */
export interface Identity {
  readonly user: string | undefined;
  /** Trimmed, unique, sorted and comma-separated. */
  readonly tags: string | undefined;
  readonly os: string | undefined;
}

/** Nodes described in a record, by address. */
export type References = ReadonlyMap<string, NodeReference>;

/** Looks up identities, with a cache per owner. */
export interface Identities {
  of(node: Pick<NodeReference, "user" | "tags" | "os"> | undefined): Identity;
}

const nobody: Identity = { user: undefined, tags: undefined, os: undefined };
const none: References = new Map<string, NodeReference>();

export function createIdentities(): Identities {
  const known = new WeakMap<object, Identity>();
  return {
    of(node) {
      if (node === undefined) return nobody;
      const found = known.get(node);
      if (found !== undefined) return found;
      const identity = {
        user: node.user || undefined,
        tags: joinTags(node.tags) || undefined,
        os: node.os || undefined,
      };
      known.set(node, identity);
      return identity;
    },
  };
}

/** Of two nodes with one address the first counts, and the reporter's own before all others. */
export function referencesOf(
  { sourceNode, destinationNodes }: Pick<FlowRecord, "sourceNode" | "destinationNodes">,
  reader: Pick<EndpointReader, "host">,
): References {
  if (sourceNode === undefined && destinationNodes.length === 0) return none;
  const references = new Map<string, NodeReference>();
  for (const node of sourceNode === undefined
    ? destinationNodes
    : [sourceNode, ...destinationNodes]) {
    for (const text of node.addresses) {
      const address = reader.host(text)?.address ?? text;
      if (!references.has(address)) references.set(address, node);
    }
  }
  return references;
}

export function joinTags(tags: readonly string[]): string {
  return [...new Set(tags.map((tag) => tag.trim()).filter((tag) => tag !== ""))]
    .toSorted()
    .join(",");
}
