/** Validates CORS origins. */
import type { Complaint } from "./findings.ts";

/**
 * Each is `*` alone or `http(s)://host[:port]` as a browser writes it; undefined when all are
 * valid.
 */
export function originRule(origins: readonly string[]): Complaint | undefined {
  if (origins.includes("*") && origins.length > 1)
    return { rule: "must be * alone or a list of origins", remedy: "remove the * or the rest." };
  const wrong = origins.find((origin) => origin !== "*" && !isOrigin(origin));
  if (wrong === undefined) return undefined;
  return {
    rule: `must be origins such as https://archive.example.org, got ${JSON.stringify(wrong.slice(0, 100))}`,
    remedy: "write scheme, host and port as a browser does: lower case, no path.",
  };
}

function isOrigin(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
