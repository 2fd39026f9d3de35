/** Mistakes in policies that are allowed and probably not meant. */
import { capabilityBit } from "./capabilities.ts";
import type { PathRule } from "./policy-text.ts";

/** The most warnings about one policy. */
const MOST_WARNINGS = 20;
const CREATE = capabilityBit("create") ?? 0;
const UPDATE = capabilityBit("update") ?? 0;

/** Texts for whoever wrote the policy. */
export function lintPolicy(rules: readonly PathRule[]): readonly string[] {
  const warnings = rules.flatMap((rule) => {
    const { path, capabilities } = rule;
    const found: string[] = [];
    if (isMinting(path) && (capabilities & UPDATE) !== 0 && (capabilities & CREATE) === 0) {
      found.push(`path ${JSON.stringify(path)}: minting by POST is a create; grant "create" besides "update"`);
    }
    if (path.slice(0, -1).includes("*")) found.push(`path ${JSON.stringify(path)}: a * counts as a wildcard only at the end`);
    if (/(?:^|\/)(?:\+[^/]|[^/]+\+(?:\/|$))/.test(path)) found.push(`path ${JSON.stringify(path)}: a + counts as a wildcard only as a whole segment`);
    if (capabilities === 0) found.push(`path ${JSON.stringify(path)} grants nothing`);
    return found;
  });
  return warnings.slice(0, MOST_WARNINGS);
}

/** `…/token` and below on any mount but the token backend's (RESOLUTIONS T10). */
function isMinting(path: string): boolean {
  return !path.startsWith("auth/") && /\/token(?:\*?$|\/)/.test(path);
}
