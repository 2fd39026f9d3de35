/**
 * Selectors of the access policy: which ends of a connection they cover. Syntax and meaning:
 * https://tailscale.com/kb/1337/policy-syntax
 */
import { BlockList, isIP } from "node:net";
import type { KnownDevice } from "../enrich/types.ts";
import { any, MAYBE, NO, SAME_USER, YES, type Certainty } from "./certainty.ts";

/** One end of a connection. */
export interface PolicyEnd {
  /** Normalised; empty if unknown. */
  readonly address: string;
  /** Address of a device or service of the network. */
  readonly overlay: boolean;
  /** As the control plane reports it. */
  readonly device: KnownDevice | undefined;
  /** Behind an exit node. */
  readonly internet: boolean;
}

export type Selector = (end: PolicyEnd) => Certainty;
/** Also `SAME_USER`. */
export type DestinationSelector = (end: PolicyEnd) => Certainty | typeof SAME_USER;

/** Names that the policy defines. */
export interface PolicyNames {
  readonly groups: ReadonlyMap<string, readonly string[]>;
  readonly hosts: ReadonlyMap<string, string>;
}

/** Of destinations only. */
export function destinationSelector(text: string, names: PolicyNames): DestinationSelector {
  return text === "autogroup:self" ? () => SAME_USER : selector(text, names);
}

export function selector(text: string, names: PolicyNames): Selector {
  if (text === "*") return anywhere;
  if (text.startsWith("autogroup:")) return autogroups[text.slice("autogroup:".length)] ?? role;
  if (text.startsWith("tag:")) return ofDevice(({ tags }) => (tags.includes(text) ? YES : NO));
  if (text.startsWith("group:")) {
    const members = names.groups.get(text);
    // Groups of an identity provider are not in the policy.
    if (members === undefined) return role;
    const matchers = members.map(user);
    return (end) => any(matchers.map((matches) => matches(end)));
  }
  const address = names.hosts.get(text) ?? text;
  const network = networkOf(address);
  if (network !== undefined) return network;
  return text.includes("@") && !/[:*]/.test(text) ? user(text) : uncertain;
}

/** The rule about exit nodes and `*` is the control plane's. */
const anywhere: Selector = ({ internet }) => (internet ? MAYBE : YES);
const uncertain: Selector = () => MAYBE;
/** Covers some users: their devices only. */
const role: Selector = ofDevice(({ tags }) => (tags.length > 0 ? NO : MAYBE));

const member: Selector = ofDevice(({ tags, user: owner, external }) => {
  if (tags.length > 0) return NO;
  return owner === "" || external !== false ? MAYBE : YES;
});

const autogroups: Readonly<Record<string, Selector>> = {
  internet: ({ internet }) => (internet ? YES : NO),
  "danger-all": () => YES,
  tagged: ofDevice(({ tags }) => (tags.length > 0 ? YES : NO)),
  member,
  members: member,
};

function user(name: string): Selector {
  const wanted = withoutAt(name);
  return ofDevice(({ tags, user: owner }) => {
    // Tagged devices belong to their tags.
    if (tags.length > 0) return NO;
    if (owner === "") return MAYBE;
    if (withoutAt(owner) === wanted) return YES;
    // Headscale knows users by name and by address.
    return wanted.includes("@") === withoutAt(owner).includes("@") ? NO : MAYBE;
  });
}

/** Policies of Headscale have `ada@` for the user `ada`. */
function withoutAt(name: string): string {
  return name.toLowerCase().replace(/@$/, "");
}

function ofDevice(matches: (device: KnownDevice) => Certainty): Selector {
  return ({ address, overlay, device, internet }) => {
    if (device !== undefined) return matches(device);
    if (internet) return NO;
    // What is behind a subnet router is no device.
    return overlay || isIP(address) === 0 ? MAYBE : NO;
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
  const list = new BlockList();
  list.addSubnet(base, prefix, version === 4 ? "ipv4" : "ipv6");
  const covers = (address: string): boolean =>
    isIP(address) !== 0 && list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
  return ({ address, overlay, device, internet }) => {
    // One address of a device selects all of them.
    if (covers(address) || (device?.addresses.some(covers) ?? false)) return internet ? MAYBE : YES;
    return isIP(address) === 0 || (overlay && device === undefined) ? MAYBE : NO;
  };
}
