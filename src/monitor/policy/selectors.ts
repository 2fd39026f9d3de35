/**
 * Selectors of the access policy: which ends of a connection they cover. Syntax and meaning:
 * https://tailscale.com/kb/1337/policy-syntax
 */
import { BlockList, isIP } from "node:net";
import type { KnownDevice } from "../enrich/types.ts";
import { MAYBE, NO, SAME_USER, YES, type Certainty } from "./certainty.ts";

/** One end of a connection. */
export interface PolicyEnd {
  /** Its addresses and those of its device; none where it is a name or unknown. */
  readonly ipv4: readonly number[];
  readonly ipv6: readonly string[];
  /** Whether the address of the connection is known. */
  readonly isAddress: boolean;
  /** Address of a device or service of the network. */
  readonly overlay: boolean;
  /** As the control plane reports it. */
  readonly device: KnownDevice | undefined;
  /** Its owner as `userKey` has it; undefined where the device or its owner is unknown. */
  readonly user: string | undefined;
  /** Behind an exit node. */
  readonly internet: boolean;
}

type Selector = (end: PolicyEnd) => Certainty;
/** Also `SAME_USER`. */
export type DestinationSelector = (end: PolicyEnd) => Certainty | typeof SAME_USER;

/** Names that the policy defines. */
export interface PolicyNames {
  readonly groups: ReadonlyMap<string, readonly string[]>;
  readonly hosts: ReadonlyMap<string, string>;
}

/** Selectors of one policy: equal texts have one selector, however many rules name it. */
export interface Selectors {
  source(text: string): Selector;
  destination(text: string): DestinationSelector;
}

export function createSelectors(names: PolicyNames): Selectors {
  const known = new Map<string, Selector>();
  const source = (text: string): Selector => {
    const found = known.get(text) ?? selector(text, names);
    known.set(text, found);
    return found;
  };
  return {
    source,
    // Of destinations only.
    destination: (text) => (text === "autogroup:self" ? () => SAME_USER : source(text)),
  };
}

function selector(text: string, names: PolicyNames): Selector {
  if (text === "*") return anywhere;
  if (text.startsWith("autogroup:")) return autogroups.get(text.slice("autogroup:".length)) ?? role;
  if (text.startsWith("tag:")) return ofDevice(({ tags }) => (tags.includes(text) ? YES : NO));
  if (text.startsWith("group:")) {
    const members = names.groups.get(text);
    // Groups of an identity provider are not in the policy.
    return members === undefined ? role : users(members);
  }
  const address = names.hosts.get(text) ?? text;
  const network = networkOf(address);
  if (network !== undefined) return network;
  return text.includes("@") && !/[:*]/.test(text) ? users([text]) : uncertain;
}

/** The rule about exit nodes and `*` is the control plane's. */
const anywhere: Selector = ({ internet }) => (internet ? MAYBE : YES);
const uncertain: Selector = () => MAYBE;
const nobody: Selector = () => NO;
/** Covers some users: their devices only. */
const role: Selector = ofDevice(({ tags }) => (tags.length > 0 ? NO : MAYBE));

const member: Selector = ofDevice(({ tags, external }, owner) => {
  if (tags.length > 0) return NO;
  return owner === undefined || external !== false ? MAYBE : YES;
});

const autogroups: ReadonlyMap<string, Selector> = new Map<string, Selector>([
  ["internet", ({ internet }) => (internet ? YES : NO)],
  ["danger-all", () => YES],
  ["tagged", ofDevice(({ tags }) => (tags.length > 0 ? YES : NO))],
  ["member", member],
  ["members", member],
]);

/** One look-up, however many they are: a group may have thousands, and many rules may name it. */
function users(names: readonly string[]): Selector {
  const wanted = new Set(names.map(userKey));
  if (wanted.size === 0) return nobody;
  const hasAddresses = [...wanted].some(isMailAddress);
  const hasNames = ![...wanted].every(isMailAddress);
  return ofDevice(({ tags }, owner) => {
    // Tagged devices belong to their tags.
    if (tags.length > 0) return NO;
    if (owner === undefined) return MAYBE;
    if (wanted.has(owner)) return YES;
    // Headscale knows users by name and by address.
    return (isMailAddress(owner) ? hasNames : hasAddresses) ? MAYBE : NO;
  });
}

/** By which users are compared. Policies of Headscale have `ada@` for the user `ada`. */
export function userKey(name: string): string {
  return name.toLowerCase().replace(/@$/, "");
}

function isMailAddress(user: string): boolean {
  return user.includes("@");
}

function ofDevice(
  matches: (device: KnownDevice, owner: string | undefined) => Certainty,
): Selector {
  return ({ isAddress, overlay, device, user, internet }) => {
    if (device !== undefined) return matches(device, user);
    if (internet) return NO;
    // What is behind a subnet router is no device.
    return overlay || !isAddress ? MAYBE : NO;
  };
}

/** An address or a network in CIDR notation; undefined for other text. */
function networkOf(text: string): Selector | undefined {
  const [base = "", length, ...rest] = text.split("/");
  const version = isIP(base);
  if (version === 0 || rest.length > 0) return undefined;
  const bits = version === 4 ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length);
  if (!/^\d{1,3}$/.test(length ?? "0") || prefix > bits) return undefined;
  const covers = version === 4 ? coversIpv4(base, prefix) : coversIpv6(base, prefix);
  return (end) => {
    // One address of a device selects all of them.
    if (covers(end)) return end.internet ? MAYBE : YES;
    return !end.isAddress || (end.overlay && end.device === undefined) ? MAYBE : NO;
  };
}

/** Each address of a policy is compared with each new end, so this must be cheap. */
function coversIpv4(base: string, prefix: number): (end: PolicyEnd) => boolean {
  const mask = prefix === 0 ? 0 : -1 << (32 - prefix);
  const network = ipv4Number(base) & mask;
  return ({ ipv4 }) => ipv4.some((address) => (address & mask) === network);
}

function coversIpv6(base: string, prefix: number): (end: PolicyEnd) => boolean {
  const list = new BlockList();
  list.addSubnet(base, prefix, "ipv6");
  return ({ ipv6 }) => ipv6.some((address) => list.check(address, "ipv6"));
}

const DOT = 46;
const ZERO = 48;

/** A valid IPv4 address as 32 bits with sign. */
export function ipv4Number(address: string): number {
  let number = 0;
  let byte = 0;
  for (let at = 0; at < address.length; at += 1) {
    const code = address.charCodeAt(at);
    if (code === DOT) {
      number = (number << 8) | byte;
      byte = 0;
    } else byte = byte * 10 + code - ZERO;
  }
  return (number << 8) | byte;
}
