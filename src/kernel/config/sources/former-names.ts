/** Section names used by other Tailscale and Headscale exporters. */

const FORMER: ReadonlyMap<string, string> = new Map([
  ["tailscale", "vpn"],
  ["tailnets", "networks"],
  ["headless", "headscale"],
  ["prometheus", "scrape"],
  ["vpn.tailnet", "vpn.network"],
  ["otlp.grafana_cloud", "otlp.backend_cloud"],
]);

/**
 * The path as Steward names it: `tailscale.tailnet` is `vpn.network`. Undefined when no part of it
 * has a former name.
 */
export function currentName(path: string): string | undefined {
  let current = path;
  for (const [former, name] of FORMER) {
    if (current === former || current.startsWith(`${former}.`))
      current = `${name}${current.slice(former.length)}`;
  }
  return current === path ? undefined : current;
}
