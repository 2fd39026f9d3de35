/**
 * Hosts that no `base_url` may reach by default: link-local addresses and cloud metadata services,
 * which hand out the machine's credentials. Loopback and private networks are allowed, since
 * enterprise servers live there. Names are resolved and checked when connecting.
 */
import { lookup as systemLookup, type LookupAddress, type LookupOptions } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { dottedIpv4, ipv6Groups } from "../../kernel/base/ip-address.ts";

/** Error code of a connection refused for this reason. */
export const FORBIDDEN_ADDRESS = "FORBIDDEN_ADDRESS";

const NAMES: ReadonlySet<string> = new Set([
  "metadata.google.internal",
  "metadata.goog",
  "metadata",
  "instance-data",
  "instance-data.ec2.internal",
]);

const forbidden = new BlockList();
forbidden.addSubnet("169.254.0.0", 16, "ipv4");
forbidden.addSubnet("fe80::", 10, "ipv6");
// Amazon and Google over IPv6; Alibaba, Oracle and Azure over IPv4.
for (const address of ["fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"])
  forbidden.addAddress(address, "ipv6");
for (const address of ["100.100.100.200", "192.0.0.192", "168.63.129.16"])
  forbidden.addAddress(address, "ipv4");

/** IPv6 prefixes that embed an IPv4 address: the preceding hexadecimal groups and their count. */
const EMBEDDED: readonly (readonly [prefix: string, groups: number])[] = [
  ["0:0:0:0:0:ffff", 6], // mapped, RFC 4291
  ["0:0:0:0:0:0", 6], // compatible, RFC 4291
  ["0:0:0:0:ffff:0", 6], // translated, RFC 2765
  ["64:ff9b:0:0:0:0", 6], // NAT64, RFC 6052
  ["2002", 1], // 6to4, RFC 3056
];

/**
 * Whether a parsed URL's host, in any spelling, is forbidden. Names are matched only against known
 * metadata services.
 */
export function isForbiddenHost(hostname: string): boolean {
  const host = hostname
    .toLowerCase()
    .replace(/\.+$/, "")
    .replace(/^\[|\]$/g, "");
  return NAMES.has(host) || isForbiddenAddress(host);
}

/** Whether an address, or the IPv4 address embedded in it, is forbidden. False for other texts. */
function isForbiddenAddress(address: string): boolean {
  const plain = address.split("%", 1)[0] ?? "";
  switch (isIP(plain)) {
    case 4:
      return forbidden.check(plain, "ipv4");
    case 6:
      return (
        forbidden.check(plain, "ipv6") ||
        embedded(plain).some((inner) => forbidden.check(inner, "ipv4"))
      );
    default:
      return false;
  }
}

/**
 * The system lookup; fails with `FORBIDDEN_ADDRESS` when a name resolves to a forbidden address.
 */
export function guardedLookup(lookup: typeof systemLookup = systemLookup): LookupFunction {
  return (hostname, options: LookupOptions, done) => {
    lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      const [first] = addresses ?? [];
      if (error !== null || first === undefined) return done(error ?? failure("ENOTFOUND"), "", 0);
      if (addresses.some(({ address }) => isForbiddenAddress(address)))
        return done(failure(FORBIDDEN_ADDRESS), "", 0);
      if (options.all === true) return done(null, addresses);
      done(null, first.address, first.family);
    });
  };
}

function failure(code: string): NodeJS.ErrnoException {
  return Object.assign(new Error(code), { code });
}

function embedded(address: string): readonly string[] {
  const groups = ipv6Groups(address);
  return EMBEDDED.flatMap(([prefix, before]) => {
    if (
      groups
        .slice(0, before)
        .map((group) => group.toString(16))
        .join(":") !== prefix
    )
      return [];
    const [high = 0, low = 0] = groups.slice(before, before + 2);
    return [dottedIpv4(high, low)];
  });
}
