/**
 * Ids, keys and addresses of simulated things: functions of the seed and a label, in the forms of
 * the control planes.
 */
import { createHash } from "node:crypto";

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const STABLE_LENGTH = 10;

/** Makes identities for one seed. */
export interface Identities {
  /** 64 hexadecimal digits. */
  hex(label: string): string;
  /** A stable id, e.g. `nk3J…CNTRL`. */
  stable(prefix: string, label: string): string;
  /** A whole number below 2^48. */
  integer(label: string): number;
}

/** The same seed and label give the same identity on every machine. */
export function createIdentities(seed: number): Identities {
  const digest = (label: string): Buffer =>
    createHash("sha256").update(`${seed}/${label}`).digest();
  return {
    hex: (label) => digest(label).toString("hex"),
    stable: (prefix, label) =>
      `${prefix}${[...digest(label).subarray(0, STABLE_LENGTH)].map((byte) => BASE58[byte % BASE58.length]).join("")}CNTRL`,
    integer: (label) => digest(label).readUIntBE(0, 6),
  };
}

const FIRST_HOST = 11;

/** The overlay addresses of the device at a place: 65,000 places are distinct. */
export function overlayAddresses(index: number): readonly [ipv4: string, ipv6: string] {
  const host = index + FIRST_HOST;
  return [
    `100.${80 + (host >> 16)}.${(host >> 8) & 0xff}.${host & 0xff}`,
    `fd7a:115c:a1e0::5a01:${host.toString(16)}`,
  ];
}

/** A public address out of the blocks for documentation. */
export function publicAddress(number: number): string {
  return `${number % 2 === 0 ? "203.0.113" : "198.51.100"}.${1 + (Math.floor(number / 2) % 254)}`;
}
