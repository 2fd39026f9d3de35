/**
 * A configured value before its key's type is applied: scalars stay text, so that file and
 * environment share one set of rules; every value has its source location.
 */
import type { SourceLocation } from "../findings.ts";

export type Raw =
  | {
      readonly kind: "text";
      readonly text: string;
      readonly location: SourceLocation;
      /** The file that held the text, for a secret. */ readonly readFrom?: string;
      /** That file holds more than this text. */ readonly isPart?: true;
    }
  | { readonly kind: "list"; readonly items: readonly Raw[]; readonly location: SourceLocation }
  | {
      readonly kind: "map";
      readonly entries: ReadonlyMap<string, Raw>;
      readonly location: SourceLocation;
    }
  | { readonly kind: "nothing"; readonly location: SourceLocation };

/**
 * Whether a value is empty: `key:`, `key: ""`, and an empty list or group where neither is
 * expected. Helm and Ansible templates write unset keys that way. `[]` for a list and `{}` for a
 * group are values.
 */
export function isBlank(raw: Raw, holds: "list" | "group" | undefined): boolean {
  switch (raw.kind) {
    case "nothing":
      return true;
    case "text":
      return raw.text === "";
    case "list":
      return holds !== "list" && raw.items.length === 0;
    case "map":
      return holds !== "group" && raw.entries.size === 0;
  }
}

/** Describes a raw value for a message. Quotes text: not for a value that may be a secret. */
export function describeRaw(raw: Raw): string {
  return raw.kind === "text"
    ? JSON.stringify(raw.text.length > 60 ? `${raw.text.slice(0, 57)}...` : raw.text)
    : describeKind(raw);
}

/**
 * Describes a raw value where keys or a list of objects belong, without quoting it: text there may
 * be a secret at the wrong level.
 */
export function describeKind(raw: Raw): string {
  switch (raw.kind) {
    case "text":
      return /^-?\d+(\.\d+)?$/.test(raw.text) ? "a number" : "text";
    case "list":
      return "a list";
    case "map":
      return "a group of keys";
    case "nothing":
      return "nothing";
  }
}
