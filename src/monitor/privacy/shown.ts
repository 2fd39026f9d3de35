/** Applies the privacy filter to resource attributes and the network's name. */
import { createHash } from "node:crypto";
import type { PrivacyOptions } from "../options.ts";

const HASH_CHARACTERS = 12;

/** Whether `vpn.network` may be an attribute of every series. */
export function networkShown(options: PrivacyOptions): boolean {
  return options.network_name;
}

/**
 * `service.instance.id` of one of several networks: the process's id and the network's name, hashed
 * when names are hidden.
 */
export function networkInstanceId(
  processInstanceId: string,
  network: string,
  options: PrivacyOptions,
): string {
  const shown = networkShown(options)
    ? network
    : createHash("sha256").update(network).digest("hex").slice(0, HASH_CHARACTERS);
  return `${processInstanceId}/${shown}`;
}
