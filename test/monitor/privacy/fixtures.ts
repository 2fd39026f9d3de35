/** Choices of privacy for the tests of this folder. */
import fc from "fast-check";
import type { PrivacyCategory, PrivacyOptions } from "../../../src/monitor/options.ts";

/** Every category, as the contract names them. */
export const categories: readonly PrivacyCategory[] = [
  "emails",
  "user_display_names",
  "user_ids",
  "hostnames",
  "node_ids",
  "vpn_ips",
  "internal_ips",
  "external_ips",
  "service_addrs",
  "endpoint_paths",
  "network_topology",
  "network_name",
  "free_text_details",
  "command_text",
];

/** Everything is exported but these. */
export function hiding(...hidden: readonly PrivacyCategory[]): PrivacyOptions {
  return Object.fromEntries(
    categories.map((category) => [category, !hidden.includes(category)]),
  ) as PrivacyOptions;
}

/** Any choice that hides something. */
export const anyHiding: fc.Arbitrary<PrivacyOptions> = fc
  .subarray([...categories], { minLength: 1 })
  .map((hidden) => hiding(...hidden));
