/** Whether a token has root's word on a path. */
import type { Policies, TokenEntry } from "../../types.ts";

/** `path` with its mount. */
export function hasSudo(policies: Policies, entry: TokenEntry, path: string): boolean {
  const capabilities = policies.acl(entry.policies).capabilities(path);
  return capabilities.includes("sudo") || capabilities.includes("root");
}
