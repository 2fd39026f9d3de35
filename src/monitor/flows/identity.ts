/**
 * Who is at an end of a connection: user, tags and system. The control plane is asked first, the
 * record's own references after.
 */
import type { EndpointReader } from "../enrich/addresses.ts";
import type { FlowRecord, NodeReference } from "./record.ts";

/** What is known; undefined is not known. */
export interface Identity {
  readonly user: string | undefined;
  /** Trimmed, each once, sorted, joined by commas. */
  readonly tags: string | undefined;
  readonly os: string | undefined;
}

/** The nodes that a record describes, by their addresses. */
export type References = ReadonlyMap<string, NodeReference>;

/** Reads identities and remembers them with their owners. */
export interface Identities {
  of(node: Pick<NodeReference, "user" | "tags" | "os"> | undefined): Identity;
}

const nobody: Identity = { user: undefined, tags: undefined, os: undefined };
const none: References = new Map<string, NodeReference>();

/** Reads identities. */
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

/**
 * The references of a record; of two nodes with one address the first counts, the reporter's own
 * before all.
 */
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

/** Tags as metrics and records show them. */
export function joinTags(tags: readonly string[]): string {
  return [...new Set(tags.map((tag) => tag.trim()).filter((tag) => tag !== ""))]
    .toSorted()
    .join(",");
}
