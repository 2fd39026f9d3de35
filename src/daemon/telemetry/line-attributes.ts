/** Privacy rules of the attributes of log lines. */

/** The exported attributes (`src/monitor/privacy/registry.ts`) whose category these have. */
const exported: ReadonlyMap<string, string> = new Map([
  ["network", "vpn.network"],
  ["shown", "vpn.network"],
  ["instances", "vpn.node"],
  ["names", "vpn.node"],
  // The name of a recorder is part of a key.
  ["key", "vpn.k8s.recorder"],
  ["server", "vpn.dns.resolver.address"],
  ["endpoint", "endpoint"],
  ["operation", "endpoint"],
  ["url", "url.full"],
  ["path", "url.full"],
  ["configured", "url.full"],
  ["aside", "url.full"],
  ["error", "exception.message"],
  ["text", "exception.message"],
  ["stack", "exception.stacktrace"],
  ["reason", "error.message"],
  ["why", "error.message"],
]);

/** Numbers, and values of a fixed set. */
const fixed: ReadonlySet<string> = new Set(
  [
    "attempt built bytes capacity class collector count database default digest edition entries",
    "epoch failed_for failed_runs failures feed field left missing name next reasons receiver",
    "remembered replaced_by status stored type unreadable waitMs window",
  ].flatMap((names) => names.split(" ")),
);

const freeText: ReadonlySet<string> = new Set(["cause", "remedy"]);

/** Undefined for an attribute that is not classified, which counts as free text. */
export function lineRule(
  name: string,
): { readonly as: string } | "fixed" | "free text" | undefined {
  const as = exported.get(name);
  if (as !== undefined) return { as };
  if (fixed.has(name)) return "fixed";
  return freeText.has(name) ? "free text" : undefined;
}
