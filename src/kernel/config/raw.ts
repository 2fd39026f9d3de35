/**
 * A configured value before its key gives it a type: scalars stay the text the operator wrote, so
 * that the file and the environment are read by one set of rules, and every value remembers where
 * it was written.
 */

/** Where a value was written: a line of the file (from 1) or an environment variable. */
export interface SourceLocation {
  readonly line?: number;
  readonly variable?: string;
}

/** A value as written. */
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
 * Whether a value that was written gives none: `key:`, `key: ""`, and an empty list or group where
 * neither belongs. Helm and Ansible templates write an unset key so, and it counts as left out.
 * `[]` in a list and `{}` in a group are values.
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

/** What a raw value is, in words for a message. Never the value of anything that may be secret. */
export function describeRaw(raw: Raw): string {
  switch (raw.kind) {
    case "text":
      return JSON.stringify(raw.text.length > 60 ? `${raw.text.slice(0, 57)}...` : raw.text);
    case "list":
      return "a list";
    case "map":
      return "a group of keys";
    case "nothing":
      return "nothing";
  }
}
