/** Networks that a token is bound to. */
import { BlockList, isIPv6 } from "node:net";

/** Whether an address lies in one of the networks; true when there are none. An unknown address lies in no network. */
export function admits(cidrs: readonly string[], address: string | undefined): boolean {
  if (cidrs.length === 0) return true;
  if (address === undefined) return false;
  const plain = address.startsWith("::ffff:") && address.includes(".") ? address.slice("::ffff:".length) : address;
  const list = new BlockList();
  for (const cidr of cidrs) {
    const [network = "", bits] = cidr.split("/");
    const family = isIPv6(network) ? "ipv6" : "ipv4";
    list.addSubnet(network, bits === undefined ? (family === "ipv6" ? 128 : 32) : Number(bits), family);
  }
  return list.check(plain, isIPv6(plain) ? "ipv6" : "ipv4");
}
