/**
 * Applies the privacy filter to free text, which names people and networks without an attribute
 * that says so.
 */
import type { PrivacyCategory, PrivacyOptions } from "../../monitor/options.ts";
import { addressCategories, addressCategory } from "../../monitor/privacy/address-class.ts";
import { MASK } from "../../monitor/privacy/redaction.ts";

/** Categories whose values appear in URLs of control planes, devices and services. */
const inUrls: readonly PrivacyCategory[] = [
  "emails",
  "user_ids",
  "hostnames",
  "node_ids",
  "service_addrs",
  "endpoint_paths",
  "network_name",
];

// A stack names its modules as `file:` URLs.
const URLS = /\b(?!file:)[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>()]+/gi;
/** The system, gRPC and TLS write a host after its error code, `dns:` or `Host:`. */
const HOSTS = /\b(E[A-Z_]{3,20} +|[Dd][Nn][Ss]:|Host: +)([^\s,;()'"]+)/g;
const MAILS = /[^\s"'<>()[\],:;=@]{1,64}@[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*/gi;
const IPV4 = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?!\d)/g;
const IPV6 = /(?<![0-9a-z.])[0-9a-f]{0,4}(?::[0-9a-f.]*){2,}/gi;

/** Whether a URL may be exported at all. */
export function urlsShown(options: PrivacyOptions): boolean {
  return inUrls.every((category) => options[category]);
}

/** Masks what the options hide; `networks` are the names that `network_name` hides. */
export function createTextRedaction(
  options: PrivacyOptions,
  networks: readonly string[],
): (text: string) => string {
  const steps: ((text: string) => string)[] = [];
  if (!urlsShown(options)) steps.push((text) => text.replaceAll(URLS, MASK));
  if (!options.hostnames || !options.endpoint_paths) steps.push(withoutHosts);
  if (!options.emails) steps.push((text) => text.replaceAll(MAILS, MASK));
  if (addressCategories.some((category) => !options[category]))
    steps.push((text) => withoutAddresses(text, options));
  const names = options.network_name ? undefined : wordsOf(networks);
  if (names !== undefined) steps.push((text) => text.replaceAll(names, MASK));
  return (text) => steps.reduce((shown, step) => step(shown), text);
}

/**
 * Finds whole words, as they are, in JSON and in a URL: a network may be called `at`. Undefined
 * when there are none, or nothing but punctuation such as `-`.
 */
export function wordsOf(texts: Iterable<string>): RegExp | undefined {
  const forms = [...texts]
    .filter((text) => /[\p{L}\p{N}]/u.test(text))
    .flatMap((text) => [
      text,
      JSON.stringify(text).slice(1, -1),
      encodeURIComponent(text.toWellFormed()),
    ]);
  if (forms.length === 0) return undefined;
  // Longest first: one may be a prefix of another.
  const patterns = [...new Set(forms)]
    .toSorted((left, right) => right.length - left.length)
    .map((form) => form.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${patterns.join("|")})(?![\\p{L}\\p{N}])`, "giu");
}

/** Of addresses, `withoutAddresses` decides. */
function withoutHosts(text: string): string {
  return text.replaceAll(HOSTS, (whole, before: string, host: string) =>
    addressCategory(host) === undefined ? `${before}${MASK}` : whole,
  );
}

function withoutAddresses(text: string, options: PrivacyOptions): string {
  const hides = (address: string): boolean => {
    const category = addressCategory(address);
    return category !== undefined && !options[category];
  };
  return text
    .replaceAll(IPV6, (found) => {
      const address = found.replace(/[.:]$/, "");
      // The system writes `::1:443` too, which is an address with a port or a longer address.
      const withoutPort = address.slice(0, address.lastIndexOf(":"));
      return [found, address, withoutPort].some(hides) ? MASK : found;
    })
    .replaceAll(IPV4, (found) => (hides(found) ? MASK : found));
}
