/** Writes MMDB databases (https://maxmind.github.io/MaxMind-DB/) of a few networks. */
import { ipv6Groups } from "../../../src/kernel/base/ip-address.ts";

/** A text, number, list or map; numbers without a fraction are written as uint32. */
type Value = string | number | Value[] | { readonly [name: string]: Value };

export interface MmdbOptions {
  /** Of the metadata, e.g. `GeoLite2-Country`. */
  readonly type: string;
  /** Seconds since 1970. */
  readonly builtAt: number;
  /** 4: without IPv6 addresses. */
  readonly ipVersion?: 4 | 6;
  /** Records by network, e.g. `203.0.113.0/24`. */
  readonly networks: Readonly<Record<string, Value>>;
}

const MARKER = Buffer.from("\xab\xcd\xefMaxMind.com", "latin1");
const SEPARATOR_BYTES = 16;

export function mmdb({ type, builtAt, ipVersion = 6, networks }: MmdbOptions): Buffer {
  const nodes: [number | string, number | string][] = [["", ""]];
  for (const network of Object.keys(networks)) insert(nodes, bitsOf(network, ipVersion), network);
  const offsets = new Map<string, number>();
  const data: Buffer[] = [];
  let size = 0;
  for (const [network, record] of Object.entries(networks)) {
    const bytes = encode(record);
    offsets.set(network, size);
    data.push(bytes);
    size += bytes.length;
  }
  const tree = Buffer.alloc(nodes.length * 8);
  nodes.forEach((pair, index) =>
    pair.forEach((target, side) => {
      const value =
        typeof target === "number"
          ? target
          : nodes.length +
            (target === "" ? 0 : SEPARATOR_BYTES + (offsets.get(target) ?? Number.NaN));
      tree.writeUInt32BE(value, index * 8 + side * 4);
    }),
  );
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: builtAt,
    database_type: type,
    description: { en: "of a test" },
    ip_version: ipVersion,
    languages: ["en"],
    node_count: nodes.length,
    record_size: 32,
  });
  return Buffer.concat([tree, Buffer.alloc(SEPARATOR_BYTES), ...data, MARKER, metadata]);
}

/** Adds the nodes of a prefix; the last points to its record. */
function insert(nodes: [number | string, number | string][], bits: number[], network: string) {
  let at = 0;
  bits.forEach((bit, index) => {
    const node = nodes[at] ?? ["", ""];
    if (index === bits.length - 1) node[bit as 0 | 1] = network;
    else if (typeof node[bit as 0 | 1] !== "number") {
      node[bit as 0 | 1] = nodes.length;
      nodes.push(["", ""]);
    }
    at = Number(node[bit as 0 | 1]);
  });
}

/** The bits of a prefix; IPv4 stands at ::/96 in a database of both. */
function bitsOf(network: string, ipVersion: 4 | 6): number[] {
  const [address = "", prefix = "0"] = network.split("/");
  const isIpv4 = !address.includes(":");
  const bits = isIpv4
    ? address.split(".").flatMap((byte) => binary(Number(byte), 8))
    : ipv6Groups(address).flatMap((group) => binary(group, 16));
  const zeros = isIpv4 && ipVersion === 6 ? Array.from({ length: 96 }, () => 0) : [];
  return [...zeros, ...bits.slice(0, Number(prefix))];
}

function binary(value: number, width: number): number[] {
  return Array.from({ length: width }, (_, at) => (value >> (width - 1 - at)) & 1);
}

function encode(value: Value): Buffer {
  if (typeof value === "string")
    return Buffer.concat([head(2, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === "number") {
    const bytes = Buffer.alloc(Number.isInteger(value) && value >= 0 ? 4 : 8);
    if (bytes.length === 4) bytes.writeUInt32BE(value);
    else bytes.writeDoubleBE(value);
    return Buffer.concat([head(bytes.length === 4 ? 6 : 3, bytes.length), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([head(11, value.length), ...value.map(encode)]);
  const entries = Object.entries(value);
  return Buffer.concat([
    head(7, entries.length),
    ...entries.flatMap(([name, each]) => [encode(name), encode(each)]),
  ]);
}

/** The control byte of a type and its size, up to 284. */
function head(type: number, size: number): Buffer {
  const short = Math.min(size, 29);
  const extended = type > 7 ? [type - 7] : [];
  return Buffer.from([
    ((type > 7 ? 0 : type) << 5) | short,
    ...extended,
    ...(size >= 29 ? [size - 29] : []),
  ]);
}
