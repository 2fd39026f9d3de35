/** Which addresses have a place: those of the public internet. */
import { BlockList } from "node:net";

const elsewhere = new BlockList();
for (const [net, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["224.0.0.0", 4],
  ["255.255.255.255", 32],
] as const)
  elsewhere.addSubnet(net, prefix, "ipv4");
for (const [net, prefix] of [
  ["::", 128],
  ["::1", 128],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const)
  elsewhere.addSubnet(net, prefix, "ipv6");

/**
 * False for unspecified, loopback, private, shared (RFC 6598), link-local and multicast addresses.
 */
export function isPublic(address: string, family: "ipv4" | "ipv6"): boolean {
  return !elsewhere.check(address, family);
}
