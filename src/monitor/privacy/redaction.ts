/**
 * Applies the privacy filter to exported series and records. Admin pages and what is kept in memory
 * are not filtered.
 */
import type {
  AnyLogRow,
  AnyRow,
  AttributeValue,
  LogFields,
  Redaction,
} from "../../kernel/telemetry/types.ts";
import type { PrivacyOptions } from "../options.ts";
import { addressCategories, addressCategory } from "./address-class.ts";
import {
  freeTextBodies,
  identityAttributes,
  KEY_OWNER,
  ruleOf,
  secondCategoryOf,
  type ProviderKind,
} from "./registry.ts";

export const MASK = "[redacted]";
const KEY_DESCRIPTION = "vpn.key.description";

/** Whether a value is hidden that is, or would be, exported as this attribute. */
export type Hides = (attribute: string, value: AttributeValue) => boolean;
type Values = readonly (AttributeValue | undefined)[];

/** Undefined when everything is exported. Idempotent. `provider` is that of the exported network. */
export function createRedaction(
  options: PrivacyOptions,
  provider?: ProviderKind,
): Required<Redaction> | undefined {
  const hides = createHiding(options, provider);
  if (hides === undefined) return undefined;
  return {
    metric: (row, values) => redactSeries(row, values, hides),
    log: (row, record) => redactRecord(row, record, { hides, freeText: options.free_text_details }),
  };
}

/** Undefined when everything is exported. */
export function createHiding(options: PrivacyOptions, provider?: ProviderKind): Hides | undefined {
  if (Object.values(options).every((shown) => shown)) return undefined;
  const allAddresses = addressCategories.every((category) => options[category]);
  return (attribute, value) => {
    const second = secondCategoryOf(attribute, provider);
    if (second !== undefined && !options[second]) return true;
    const rule = ruleOf(attribute);
    if (rule !== undefined && rule !== "address" && rule !== "node") return !options[rule];
    const category = typeof value === "string" ? addressCategory(value) : undefined;
    if (category !== undefined) return !options[category];
    if (rule === "node") return !options.hostnames;
    // The kind of address is unknown, so it is hidden when at least one kind is.
    return rule === "address" && value !== "" && !allAddresses;
  };
}

/** Gauges that lose their identity are dropped; counters and histograms are merged. */
function redactSeries(row: AnyRow, values: Values, hides: Hides): Values | "suppress" {
  const shown = values.map((value, index) =>
    value === undefined || hides(row.attributes[index] ?? "", value) ? undefined : value,
  );
  const level = row.kind === "gauge" || row.kind === "updown";
  if (level && losesIdentity(row.attributes, values, shown)) return "suppress";
  return withoutOwner(row.attributes, values, shown);
}

/** Headscale's keys have their owner in the description. */
function withoutOwner(attributes: readonly string[], values: Values, shown: Values): Values {
  const [owner, described] = [KEY_OWNER, KEY_DESCRIPTION].map((name) => attributes.indexOf(name));
  if (owner === undefined || described === undefined || owner < 0 || described < 0) return shown;
  const [hidden, description] = [values[owner], shown[described]];
  if (shown[owner] !== undefined || typeof hidden !== "string" || typeof description !== "string")
    return shown;
  return shown.with(described, mask(description, [hidden]));
}

/** An empty value does not identify anything. */
function losesIdentity(attributes: readonly string[], values: Values, shown: Values): boolean {
  const identities = attributes.flatMap((name, index) =>
    identityAttributes.has(name) && values[index] !== undefined && values[index] !== ""
      ? [index]
      : [],
  );
  return identities.length > 0 && identities.every((index) => shown[index] === undefined);
}

function redactRecord(
  row: AnyLogRow,
  record: LogFields,
  { hides, freeText }: { readonly hides: Hides; readonly freeText: boolean },
): LogFields {
  const hidden: string[] = [];
  const shown: Record<string, AttributeValue> = {};
  for (const [name, value] of Object.entries(record.attributes)) {
    if (value === undefined) continue;
    if (!hides(name, value)) shown[name] = value;
    else if (typeof value !== "boolean") hidden.push(String(value));
  }
  if (hidden.length > 0) maskFreeText(shown, hidden);
  const body = !freeText && freeTextBodies.has(row.name) ? MASK : mask(record.body, hidden);
  return { ...record, body, attributes: shown };
}

/** Values hidden in attributes must not appear in free text either. */
function maskFreeText(attributes: Record<string, AttributeValue>, hidden: readonly string[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "string" && ruleOf(name) === "free_text_details")
      attributes[name] = mask(value, hidden);
  }
}

/**
 * Replaces secrets from left to right, the longest at each position; replacements are not scanned
 * again.
 */
export function mask(text: string, secrets: Iterable<string>): string {
  const found = [...new Set(secrets)].filter((secret) => secret !== "" && text.includes(secret));
  if (found.length === 0) return text;
  const longestFirst = found.toSorted((left, right) => right.length - left.length);
  return text.replaceAll(new RegExp(longestFirst.map(literally).join("|"), "g"), MASK);
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
