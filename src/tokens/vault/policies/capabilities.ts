/** What policies grant, as bits, so that the union of many rules is one number. */
import type { Operation } from "../../logical/types.ts";
import type { Capability } from "../types.ts";

/** A set of capabilities. */
export type CapabilitySet = number;

/** Everything that a rule may name. Whoever is denied has nothing else. */
export const DENY: CapabilitySet = 1;
export const SUDO: CapabilitySet = 2;
const BITS: Readonly<Record<Exclude<Capability, "root">, CapabilitySet>> = {
  deny: DENY,
  sudo: SUDO,
  create: 4,
  read: 8,
  update: 16,
  patch: 32,
  delete: 64,
  list: 128,
};

/** The former way to say it: one word for several capabilities. */
const LEGACY: Readonly<Record<string, readonly (keyof typeof BITS)[]>> = {
  deny: ["deny"],
  read: ["read", "list"],
  write: ["create", "read", "update", "delete", "list"],
  sudo: ["create", "read", "update", "delete", "list", "sudo"],
};

/**
 * The bit of a capability by its name; undefined for an unknown name. `scan` is understood and
 * grants nothing: there is no such operation here.
 */
export function capabilityBit(name: string): CapabilitySet | undefined {
  if (name === "scan") return 0;
  return Object.hasOwn(BITS, name) ? BITS[name as keyof typeof BITS] : undefined;
}

/** The capabilities of a `policy = "…"` word; undefined for an unknown word. */
export function legacyCapabilities(word: string): CapabilitySet | undefined {
  return Object.hasOwn(LEGACY, word)
    ? LEGACY[word]?.reduce((set, name) => set | BITS[name], 0)
    : undefined;
}

/** What an operation needs; undefined for help, which needs nothing. */
export function neededFor(operation: Operation): CapabilitySet | undefined {
  if (operation === "help") return undefined;
  return operation === "revoke" || operation === "renew" || operation === "rollback"
    ? BITS.update
    : BITS[operation];
}

/** The names in a set, sorted; `["deny"]` for one that grants nothing. */
export function capabilityNames(set: CapabilitySet): readonly Capability[] {
  if ((set & DENY) !== 0) return ["deny"];
  const names = (Object.keys(BITS) as (keyof typeof BITS)[]).filter(
    (name) => (set & BITS[name]) !== 0,
  );
  return names.length === 0 ? ["deny"] : names.toSorted();
}
