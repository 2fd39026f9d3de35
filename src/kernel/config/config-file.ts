/**
 * Writes a configuration as a YAML file that loads to the same values. Secrets are never written:
 * one read from a file becomes `<name>_file`, any other a comment.
 */
import { isDeepStrictEqual } from "node:util";
import { printable } from "../base/text/printable.ts";
import type { Config } from "./config.ts";
import type { Key, Schema } from "./key.ts";
import { holdsSecret, redactUrl } from "./redact.ts";
import { writeSecret, writeValue } from "./values/written.ts";
import type { Written, WrittenEntry, WrittenGroup } from "./values/types.ts";

/**
 * Every key that has a value, in the order of the schema, without secrets, as the head of the file
 * states. `from` names in one line what the configuration was read from.
 */
export function configFile(config: Config, schema: Schema, from: string): string {
  const root: Section = new Map();
  for (const key of schema) {
    const names = key.path.split(".");
    const last = names.pop() ?? "";
    let section = root;
    for (const name of names) section = subsection(section, name);
    for (const entry of entriesOf(key, last, config)) section.set(entry.name, entry);
  }
  return `# The configuration of ${from}.\n${SECRETS_NOTE}${groupLines(toGroup(root)).join("\n")}\n`;
}

const SECRETS_NOTE = `# Another line that begins with # holds a secret, which is not shown: write it there, or name its file in a key
# that ends in _file.
`;

type Section = Map<string, WrittenEntry | Section>;

function subsection(section: Section, name: string): Section {
  const there = section.get(name);
  if (there instanceof Map) return there;
  const fresh: Section = new Map();
  section.set(name, fresh);
  return fresh;
}

function toGroup(section: Section): WrittenGroup {
  return {
    entries: [...section].map(([name, entry]) =>
      entry instanceof Map ? { name, value: toGroup(entry) } : entry,
    ),
  };
}

function entriesOf(key: Key<unknown>, name: string, config: Config): WrittenEntry[] {
  const value = config.get(key);
  if (key.secret === true) return writeSecret(name, value);
  if (value === undefined) return [];
  const written = writeValue(key.type, value);
  // A default is not a secret, whatever it looks like.
  return [{ name, value: isDeepStrictEqual(value, key.default) ? written : concealed(written) }];
}

/** Texts with credentials or query values become comments. */
function concealed(value: Written): Written {
  if (typeof value === "string")
    return holdsSecret(value) ? { comment: scalar(redactUrl(value)) } : value;
  if (isList(value)) return value.map(concealed);
  if (!isGroup(value)) return value;
  return { entries: value.entries.map((entry) => ({ ...entry, value: concealed(entry.value) })) };
}

function groupLines({ entries }: WrittenGroup): string[] {
  return entries.flatMap(({ name, value }) => {
    const label = quoteName(name);
    if (isComment(value)) return [`# ${label}: ${printable(value.comment)}`];
    if (isGroup(value) && value.entries.length > 0)
      return [`${label}:`, ...groupLines(value).map(indent)];
    if (isList(value) && value.length > 0)
      return [`${label}:`, ...value.flatMap(itemLines).map(indent)];
    return [`${label}: ${scalar(value)}`];
  });
}

function itemLines(item: Written): string[] {
  if (isComment(item)) return [`# - ${printable(item.comment)}`];
  if (!isGroup(item)) return [`- ${scalar(item)}`];
  const visible = item.entries.some(({ value }) => !isComment(value));
  // Comments first: the dash belongs to the first line that is not a comment.
  const entries = item.entries.toSorted(
    (a, b) => Number(isComment(b.value)) - Number(isComment(a.value)),
  );
  const lines = groupLines({ entries });
  const first = lines.findIndex((line) => !line.startsWith("#"));
  return visible
    ? lines.map((line, index) => (index === first ? `- ${line}` : `  ${line}`))
    : ["- {}", ...lines.map(indent)];
}

function indent(line: string): string {
  return `  ${line}`;
}

function scalar(value: Written): string {
  if (typeof value === "string") return printable(JSON.stringify(value));
  if (isList(value)) return "[]";
  return isGroup(value) ? "{}" : JSON.stringify(value);
}

function quoteName(name: string): string {
  return /^[A-Za-z][A-Za-z0-9_-]*$/.test(name) &&
    !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(name)
    ? name
    : scalar(name);
}

function isGroup(value: Written): value is WrittenGroup {
  return typeof value === "object" && "entries" in value && !Array.isArray(value);
}

function isComment(value: Written): value is { readonly comment: string } {
  return typeof value === "object" && "comment" in value;
}

function isList(value: Written): value is readonly Written[] {
  return Array.isArray(value);
}
