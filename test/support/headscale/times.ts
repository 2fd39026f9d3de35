/** Times in the text forms of both flavours, with the nanoseconds that their clocks have. */
import type { Flavour } from "./types.ts";

/** What Go writes for a time that was never set. */
export const ZERO_TIME = "0001-01-01T00:00:00Z";

/** Writes times of one server. */
export interface Times {
  /**
   * In the server's zone where the flavour shows it. `label` decides the digits below the
   * millisecond; without one the fraction is left out.
   */
  local(atMs: number, label?: string): string;
  /** Always in UTC: what the database keeps as such. */
  utc(atMs: number, label?: string): string;
}

const MINUTE_MS = 60_000;

/**
 * Release: Z, and 0, 3, 6 or 9 digits. Development: the zone, and digits without zeros at the end.
 */
export function createTimes(flavour: Flavour, zoneMinutes: number): Times {
  const write = (atMs: number, label: string | undefined, zone: number): string => {
    const shifted = new Date(atMs + zone * MINUTE_MS).toISOString();
    return `${shifted.slice(0, 19)}${fraction(atMs, label, flavour)}${suffix(zone)}`;
  };
  return {
    local: (atMs, label) => write(atMs, label, flavour === "release" ? 0 : zoneMinutes),
    utc: (atMs, label) => write(atMs, label, 0),
  };
}

function suffix(zoneMinutes: number): string {
  if (zoneMinutes === 0) return "Z";
  const distance = Math.abs(zoneMinutes);
  return `${zoneMinutes < 0 ? "-" : "+"}${String(Math.floor(distance / 60)).padStart(2, "0")}:${String(distance % 60).padStart(2, "0")}`;
}

function fraction(atMs: number, label: string | undefined, flavour: Flavour): string {
  if (label === undefined) return "";
  let mixed = 0x811c9dc5;
  for (let index = 0; index < label.length; index++)
    mixed = Math.imul(mixed ^ label.charCodeAt(index), 0x01000193) >>> 0;
  const digits =
    `${String(Math.floor(atMs) % 1000).padStart(3, "0")}${String(mixed % 1_000_000).padStart(6, "0")}`.replace(
      /0+$/,
      "",
    );
  if (digits === "") return "";
  return `.${flavour === "release" ? digits.padEnd(Math.ceil(digits.length / 3) * 3, "0") : digits}`;
}
