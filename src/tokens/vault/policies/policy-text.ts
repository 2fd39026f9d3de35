/**
 * Parses the text of a policy. Anything that would make a policy weaker than written is rejected,
 * not skipped.
 */
import { GoValueError, parseGoDurationMs } from "../../logical/go-values.ts";
import { numberText } from "../../logical/json.ts";
import { capabilityBit, DENY, legacyCapabilities, type CapabilitySet } from "./capabilities.ts";
import {
  isList,
  isObject,
  parseHcl,
  type HclDocument,
  type HclItem,
  type HclNode,
} from "./hcl-parser.ts";
import type { ParameterLists, ParameterRules } from "./parameters.ts";

/** One `path "…" { … }`. */
export interface PathRule {
  /** Without a leading slash; may end in `*` and hold `+` segments. */
  readonly path: string;
  readonly capabilities: CapabilitySet;
  /** 0 for no bound. */
  readonly minWrapMs: number;
  readonly maxWrapMs: number;
  readonly parameters: ParameterRules;
  /** The rule ends then; undefined: never. */
  readonly expiresAtMs: number | undefined;
}

interface Draft {
  named: CapabilitySet;
  legacy: CapabilitySet;
  minWrapMs: number;
  maxWrapMs: number;
  required: readonly string[];
  denied: ParameterLists | undefined;
  allowed: ParameterLists | undefined;
  expiresAtMs: number | undefined;
}

/** Reads one key of a path into the draft. */
type ReadKey = (draft: Draft, item: HclItem, document: HclDocument) => void;

/** Rules in the order of the text. Throws `invalid` with line and column. */
export function parsePolicy(text: string): readonly PathRule[] {
  const document = parseHcl(text);
  return document.root.items.flatMap((item) => {
    if (item.name === "path")
      return pathsOf(item, document).map(({ path, at, body }) =>
        readRule(path, at, body, document),
      );
    if (item.name === "name" && item.labels.length === 0) return [];
    throw document.error(
      item.at,
      `${shown(item.name)} is not a key of a policy; known keys are path and name`,
    );
  });
}

interface PathBlock {
  readonly path: string;
  readonly at: number;
  readonly body: HclNode;
}

// `path "a" { … }`; in JSON `"path": { "a": { … } }` or a list of such objects.
function pathsOf(item: HclItem, document: HclDocument): readonly PathBlock[] {
  const [label, ...more] = item.labels;
  if (label !== undefined && more.length === 0)
    return [{ path: label.text, at: label.at, body: item.value }];
  const value = item.value.value;
  if (document.json) {
    const objects = isList(value) ? value : [item.value];
    return objects.flatMap((node) => {
      if (!isObject(node.value)) throw document.error(node.at, "path must be an object of paths");
      return node.value.items.map((one) => ({ path: one.name, at: one.at, body: one.value }));
    });
  }
  throw document.error(
    item.at,
    'path must be followed by one path in double quotes, e.g. path "secret/*" { … }',
  );
}

function readRule(written: string, at: number, body: HclNode, document: HclDocument): PathRule {
  const path = written.startsWith("/") ? written.slice(1) : written;
  if (path.includes("{{"))
    throw document.error(
      at,
      `path ${shown(path)}: templates are not supported, because there are no identities; write the path itself`,
    );
  if (path.includes("+*"))
    throw document.error(at, `path ${shown(path)}: invalid use of wildcards ('+*' is forbidden)`);
  if (!isObject(body.value))
    throw document.error(body.at, `path ${shown(path)} must be followed by its rules in braces`);
  const draft: Draft = {
    named: 0,
    legacy: 0,
    minWrapMs: 0,
    maxWrapMs: 0,
    required: [],
    denied: undefined,
    allowed: undefined,
    expiresAtMs: undefined,
  };
  const seen = new Set<string>();
  for (const item of body.value.items) {
    const read = Object.hasOwn(KEYS, item.name) ? KEYS[item.name] : undefined;
    if (read === undefined)
      throw document.error(
        item.at,
        `path ${shown(path)}: ${shown(item.name)} is not a key of a path; known keys are ${Object.keys(KEYS).join(", ")}`,
      );
    if (seen.has(item.name) || item.labels.length > 0)
      throw document.error(
        item.at,
        `path ${shown(path)}: ${item.name} must be given once, without a label`,
      );
    seen.add(item.name);
    read(draft, item, document);
  }
  const { minWrapMs, maxWrapMs, required, denied, allowed, expiresAtMs } = draft;
  if (minWrapMs > 0 && maxWrapMs > 0 && maxWrapMs < minWrapMs)
    throw document.error(at, "max_wrapping_ttl cannot be less than min_wrapping_ttl");
  const set = draft.named | draft.legacy;
  return {
    path,
    capabilities: (set & DENY) === 0 ? set : DENY,
    minWrapMs,
    maxWrapMs,
    parameters: { required, denied, allowed },
    expiresAtMs,
  };
}

const KEYS: Readonly<Record<string, ReadKey>> = {
  comment: () => undefined,
  policy(draft, { value }, document) {
    const set = typeof value.value === "string" ? legacyCapabilities(value.value) : undefined;
    if (set === undefined)
      throw document.error(
        value.at,
        `invalid policy ${shown(value.value)}; known are deny, read, write, sudo`,
      );
    draft.legacy = set;
  },
  capabilities(draft, { value }, document) {
    for (const { text, at } of textsOf(value, document)) {
      const bit = capabilityBit(text);
      if (bit === undefined)
        throw document.error(
          at,
          `invalid capability ${shown(text)}; known are create, read, update, patch, delete, list, sudo, deny`,
        );
      draft.named |= bit;
    }
  },
  allowed_parameters: (draft, { value }, document) =>
    void (draft.allowed = listsOf(value, document)),
  denied_parameters: (draft, { value }, document) => void (draft.denied = listsOf(value, document)),
  required_parameters: (draft, { value }, document) =>
    void (draft.required = [
      ...new Set(textsOf(value, document).map(({ text }) => text.toLowerCase())),
    ]),
  min_wrapping_ttl: (draft, { value }, document) =>
    void (draft.minWrapMs = durationOf(value, document)),
  max_wrapping_ttl: (draft, { value }, document) =>
    void (draft.maxWrapMs = durationOf(value, document)),
  expiration: (draft, { value }, document) => void (draft.expiresAtMs = instantOf(value, document)),
  mfa_methods: (_draft, item, document) =>
    refuseUnless(isList(item.value.value) && item.value.value.length === 0, item, document),
  control_group: (_draft, item, document) => refuseUnless(false, item, document),
  pagination_limit: (_draft, item, document) =>
    refuseUnless(item.value.value === 0, item, document),
  list_scan_response_keys_filter_path: (_draft, item, document) =>
    refuseUnless(item.value.value === "", item, document),
};

function refuseUnless(empty: boolean, item: HclItem, document: HclDocument): void {
  if (!empty)
    throw document.error(
      item.at,
      `${item.name} is not supported: without it the policy would allow more than written; remove it, or grant fewer capabilities on the path`,
    );
}

function textsOf(node: HclNode, document: HclDocument): readonly { text: string; at: number }[] {
  if (!isList(node.value))
    throw document.error(node.at, 'expected a list of strings, e.g. ["read", "list"]');
  return node.value.map(({ value, at }) => {
    if (typeof value !== "string") throw document.error(at, "expected a string in double quotes");
    return { text: value, at };
  });
}

function listsOf(node: HclNode, document: HclDocument): ParameterLists {
  if (!isObject(node.value))
    throw document.error(
      node.at,
      'expected parameters with lists of values, e.g. { "ttl" = ["1h"] }',
    );
  const lists = new Map<string, readonly unknown[]>();
  for (const { name, labels, value, at } of node.value.items) {
    const key = name.toLowerCase();
    if (labels.length > 0 || lists.has(key))
      throw document.error(at, `the parameter ${shown(name)} must be given once, without a label`);
    if (!isList(value.value))
      throw document.error(
        value.at,
        `the values of ${shown(name)} must be a list; an empty list allows every value`,
      );
    lists.set(
      key,
      value.value.map((item) => plainOf(item, document)),
    );
  }
  return lists;
}

/** The value as JSON would give it. */
function plainOf(node: HclNode, document: HclDocument): unknown {
  const { value } = node;
  if (isList(value)) return value.map((item) => plainOf(item, document));
  if (!isObject(value)) return value;
  const names = new Set(value.items.map(({ name }) => name));
  if (names.size < value.items.length || value.items.some(({ labels }) => labels.length > 0))
    throw document.error(node.at, "the names in this value must be unique, without labels");
  return Object.fromEntries(value.items.map((item) => [item.name, plainOf(item.value, document)]));
}

function durationOf({ at, value }: HclNode, document: HclDocument): number {
  const text = typeof value === "string" ? value : numberText(value);
  try {
    if (text !== undefined) return parseGoDurationMs(text);
  } catch (error) {
    if (!(error instanceof GoValueError)) throw error;
  }
  throw document.error(
    at,
    `${shown(value)} is not a duration; write seconds, or e.g. "90s" or "1h30m"`,
  );
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;

function instantOf({ at, value }: HclNode, document: HclDocument): number | undefined {
  const text = typeof value === "string" ? value : (numberText(value) ?? "?");
  if (text === "") return undefined;
  const atMs = /^\d{1,12}$/.test(text)
    ? Number(text) * 1_000
    : RFC3339.test(text)
      ? Date.parse(text)
      : Number.NaN;
  if (!Number.isFinite(atMs))
    throw document.error(
      at,
      `${shown(value)} is not a time; write it as in "2030-01-31T00:00:00Z"`,
    );
  return atMs;
}

function shown(value: unknown): string {
  return typeof value === "string"
    ? JSON.stringify(value.length > 200 ? `${value.slice(0, 200)}…` : value)
    : "of this kind";
}
