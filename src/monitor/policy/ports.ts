/** Protocols and ports of a rule. */
import { MAYBE, NO, YES, type Certainty } from "./certainty.ts";

/** `protocols` undefined: those of a rule that names none. `ranges` undefined: every port. */
export interface PortRule {
  readonly protocols: ReadonlySet<number> | undefined;
  readonly ranges: readonly (readonly [first: number, last: number])[] | undefined;
}

const TCP = 6;
const UDP = 17;
const SCTP = 132;
const ICMP = [1, 58] as const;
const WITH_PORTS: ReadonlySet<number> = new Set([TCP, UDP, SCTP]);
const DEFAULTS: ReadonlySet<number> = new Set([TCP, UDP, ...ICMP]);
const NUMBERS: ReadonlyMap<string, readonly number[]> = new Map<string, readonly number[]>([
  ["icmp", ICMP],
  ["igmp", [2]],
  ["ipv4", [4]],
  ["ip-in-ip", [4]],
  ["tcp", [TCP]],
  ["egp", [8]],
  ["igp", [9]],
  ["udp", [UDP]],
  ["gre", [47]],
  ["esp", [50]],
  ["ah", [51]],
  ["ipv6-icmp", [58]],
  ["sctp", [SCTP]],
]);
const MAX_RANGES = 256;

/** `*`, `443`, `80,443` or `1000-2000`; undefined for other text. */
export function portRanges(text: string): { readonly ranges: PortRule["ranges"] } | undefined {
  if (text === "*") return { ranges: undefined };
  const ranges: (readonly [number, number])[] = [];
  for (const part of text.split(",", MAX_RANGES + 1)) {
    const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim()) ?? [];
    if (first === undefined || ranges.length >= MAX_RANGES) return undefined;
    ranges.push([Number(first), Number(last)]);
  }
  return { ranges };
}

/** A name or a number; undefined for other text. */
export function protocolNumbers(text: string): ReadonlySet<number> | undefined {
  const named = NUMBERS.get(text.toLowerCase());
  if (named !== undefined) return new Set(named);
  return /^\d{1,3}$/.test(text) ? new Set([Number(text)]) : undefined;
}

/** `port` 0 is not known. */
export function matchesPorts(
  { protocols, ranges }: PortRule,
  protocol: number | undefined,
  port: number,
): Certainty {
  if (protocol === undefined) return MAYBE;
  if (protocols === undefined) {
    if (!DEFAULTS.has(protocol)) return MAYBE;
  } else if (!protocols.has(protocol)) return NO;
  if (ranges === undefined || !WITH_PORTS.has(protocol)) return YES;
  if (port === 0) return MAYBE;
  return ranges.some(([first, last]) => port >= first && port <= last) ? YES : NO;
}
