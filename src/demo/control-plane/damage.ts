/** True answers spoilt in ways that JSON allows: other types, other words, members gone. */

/** Members whose values the vendor's specification enumerates. */
const ENUMERATED: readonly string[] = [
  "role",
  "status",
  "keyType",
  "provider",
  "providerType",
  "approvalLevel",
  "configured",
  "origin",
  "action",
  "property",
  "type",
  "registerMethod",
  "usersRoleAllowedToJoinExternalTailnets",
];

/** Each number as text. */
export function numbersAsStrings(body: unknown): unknown {
  return mapLeaves(body, (value) => (typeof value === "number" ? String(value) : value));
}

/** Texts become numbers, numbers booleans, booleans texts, null an object. */
export function wrongTypes(body: unknown): unknown {
  return mapLeaves(body, (value) => {
    switch (typeof value) {
      case "string":
        return 17;
      case "number":
        return true;
      case "boolean":
        return "yes";
      default:
        return {};
    }
  });
}

/** Without the members of the given names. */
export function withoutMembers(body: unknown, names: readonly string[]): unknown {
  return mapMembers(body, (name, value) => (names.includes(name) ? undefined : value));
}

/** Text members of the given names hold a word that no enum has. */
export function unknownEnums(body: unknown, names: readonly string[] = ENUMERATED): unknown {
  return mapMembers(body, (name, value) =>
    names.includes(name) && typeof value === "string" ? "SOMETHING_NEW" : value,
  );
}

function mapLeaves(value: unknown, change: (leaf: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => mapLeaves(each, change));
  if (value === null || typeof value !== "object") return change(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, mapLeaves(each, change)]),
  );
}

// A member that becomes undefined is left out when the answer is written.
function mapMembers(value: unknown, change: (name: string, value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => mapMembers(each, change));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, mapMembers(change(name, each), change)]),
  );
}
