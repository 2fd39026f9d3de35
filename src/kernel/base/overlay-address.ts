/**
 * Addresses of Tailscale and Headscale nodes: the shared range of RFC 6598 and a unique local
 * prefix.
 */
import { BlockList } from "node:net";

const overlay = new BlockList();
overlay.addSubnet("100.64.0.0", 10, "ipv4");
overlay.addSubnet("fd7a:115c:a1e0::", 48, "ipv6");

/**
 * Whether an IP address of this family is one; an IPv4 address in `::ffff:0:0/96` is treated as
 * IPv4.
 */
export function isOverlayAddress(address: string, family: "ipv4" | "ipv6"): boolean {
  return overlay.check(address, family);
}
