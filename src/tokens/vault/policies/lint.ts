/** Mistakes in policies that are allowed and probably not meant. */
import { capabilityBit } from "./capabilities.ts";
import type { PathRule } from "./policy-text.ts";

/** The most warnings about one policy, and about one mount. */
export const MAX_WARNINGS = 20;
const CREATE = capabilityBit("create") ?? 0;
const UPDATE = capabilityBit("update") ?? 0;

/** Warnings for the policy's author. */
export function lintPolicy(rules: readonly PathRule[]): readonly string[] {
  const warnings = rules.flatMap((rule) => {
    const { path, capabilities } = rule;
    const found: string[] = [];
    if (isMinting(path) && (capabilities & UPDATE) !== 0 && (capabilities & CREATE) === 0) {
      found.push(
        `path ${JSON.stringify(path)}: minting by POST is a create; grant "create" besides "update"`,
      );
    }
    if (path.slice(0, -1).includes("*"))
      found.push(`path ${JSON.stringify(path)}: a * is a wildcard only at the end`);
    if (/(?:^|\/)(?:\+[^/]|[^/]+\+(?:\/|$))/.test(path))
      found.push(`path ${JSON.stringify(path)}: a + is a wildcard only as a whole segment`);
    if (capabilities === 0) found.push(`path ${JSON.stringify(path)} grants nothing`);
    return found;
  });
  return warnings.slice(0, MAX_WARNINGS);
}

/** Whether a rule's path can match something below a mount, which ends in a slash. */
export function concernsMount({ path }: PathRule, point: string): boolean {
  if (path.endsWith("*") && point.startsWith(path.slice(0, -1))) return true;
  const segments = path.split("/");
  return point
    .slice(0, -1)
    .split("/")
    .every((segment, index) => segments[index] === "+" || segments[index] === segment);
}

/** `…/token` and below on any mount but the token backend's. */
function isMinting(path: string): boolean {
  return !path.startsWith("auth/") && /\/token(?:\*?$|\/)/.test(path);
}
