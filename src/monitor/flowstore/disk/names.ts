/** File names of the flow store: each network has a file, named by itself and its digest. */
import { createHash } from "node:crypto";

/** The key of their folder, for messages. */
export const FLOW_FOLDER = "flows.store.directory";

/** Names of stores of this kind. */
export const FLOW_STORE_NAME = /^flows-[a-z0-9-]+-[0-9a-f]{16}$/;

/** Longer names are cut: a file name has at most 255 bytes, and the digest tells them apart. */
const MAX_READABLE = 100;

/** Name of the store, without its extension. Networks of other names have other stores. */
export function flowStoreName(network: string): string {
  const readable = readableName(network).toLowerCase().replaceAll("_", "-");
  const start = trimmed(readable.slice(0, MAX_READABLE)) || NAMELESS;
  return `flows-${start}-${createHash("sha256").update(network).digest("hex").slice(0, 16)}`;
}

/** File of the predecessor before it had digests in its names. */
export function legacyFileName(network: string): string {
  return `flows-${readableName(network)}.db`;
}

const NAMELESS = "default";

function readableName(network: string): string {
  return trimmed(network.replaceAll(/[^A-Za-z0-9_-]/g, "-")) || NAMELESS;
}

function trimmed(name: string): string {
  return name.replaceAll(/^-+|-+$/g, "");
}
