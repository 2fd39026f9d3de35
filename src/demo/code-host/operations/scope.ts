/** Reads the scope of a mint from its body and compares it with the installation's permissions. */
import { refusal, refusalOf, type Reply } from "../answers.ts";
import type { Installation, Repository } from "../estate/installation.ts";
import { excess, withMetadata } from "../estate/permissions.ts";
import type { Permissions } from "../types.ts";

/** What the token will be good for. */
export interface Scope {
  readonly permissions: Permissions;
  /** Undefined: all that the installation reaches. */
  readonly repositories: readonly Repository[] | undefined;
}

const MAX_REPOSITORIES = 500;

const NAME_NOT_GRANTED = refusalOf(
  "mint",
  422,
  "The permissions requested are not granted to this installation.",
);
const LEVEL_NOT_GRANTED = refusalOf(
  "mint",
  422,
  "The level of access for permissions requested are not granted to this installation.",
);
const NO_SUCH_REPOSITORY = refusalOf(
  "mint",
  422,
  "There is at least one repository that does not exist or is not accessible to the parent installation.",
);

/** The scope of a token, or the refusal. No body, `{}` and empty lists ask for everything. */
export function readScope(body: string, installation: Installation): Scope | Reply {
  const everything: Scope = { permissions: installation.spec.permissions, repositories: undefined };
  if (body === "" || body === "{}" || body.trim() === "") return everything;
  const wish = parse(body);
  if ("status" in wish) return wish.status;
  const { permissions, repositories, repository_ids: ids } = wish.members;
  const wrong =
    checkList("repositories", repositories, "string") ??
    checkList("repository_ids", ids, "number") ??
    checkPermissions(permissions);
  if (wrong !== undefined) return wrong;
  const chosen = choose(
    listOf(repositories) as readonly string[],
    listOf(ids) as readonly number[],
    installation,
  );
  if (chosen === "unknown") return NO_SUCH_REPOSITORY;
  const wanted = (permissions as Readonly<Record<string, string>> | undefined) ?? {};
  if (Object.keys(wanted).length === 0) return { ...everything, repositories: chosen };
  const above = excess(wanted, everything.permissions);
  if (above !== undefined) return above === "name" ? NAME_NOT_GRANTED : LEVEL_NOT_GRANTED;
  return {
    permissions: withMetadata(wanted as Permissions, everything.permissions),
    repositories: chosen,
  };
}

function parse(
  body: string,
): { readonly members: Readonly<Record<string, unknown>> } | { readonly status: Reply } {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return { status: refusalOf("mint", 400, "Problems parsing JSON") };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { status: refusalOf("mint", 400, "Body should be a JSON object") };
  return { members: value as Record<string, unknown> };
}

function invalid(name: string, message: string): Reply {
  return refusal(422, `Invalid request.\n\nFor 'properties/${name}', ${message}`, {
    page: "https://docs.github.com/rest/apps/apps#create-an-installation-access-token-for-an-app",
  });
}

function checkList(name: string, value: unknown, type: "string" | "number"): Reply | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) return invalid(name, `${shown(value)} is not an array.`);
  if (value.length > MAX_REPOSITORIES)
    return invalid(
      name,
      `No more than ${MAX_REPOSITORIES} items are allowed; ${value.length} were supplied.`,
    );
  const index = value.findIndex((each) =>
    type === "number" ? !Number.isSafeInteger(each) : typeof each !== "string",
  );
  return index < 0
    ? undefined
    : invalid(
        `${name}/items/${index}`,
        `${shown(value[index])} is not ${type === "number" ? "an integer" : "a string"}.`,
      );
}

function checkPermissions(value: unknown): Reply | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object" || Array.isArray(value))
    return invalid("permissions", `${shown(value)} is not an object.`);
  const wrong = Object.entries(value).find(([, level]) => typeof level !== "string");
  return wrong === undefined
    ? undefined
    : invalid(`permissions/properties/${wrong[0]}`, `${shown(wrong[1])} is not a string.`);
}

const MAX_SHOWN_LENGTH = 100;

function shown(value: unknown): string {
  return value === null ? "nil" : JSON.stringify(value).slice(0, MAX_SHOWN_LENGTH);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

// Names and ids together; `owner/name` is no name, so it is not found.
function choose(
  names: readonly string[],
  ids: readonly number[],
  installation: Installation,
): readonly Repository[] | undefined | "unknown" {
  if (names.length === 0 && ids.length === 0) return undefined;
  const found = [
    ...names.map((name) => installation.byName.get(name.toLowerCase())),
    ...ids.map((id) => installation.byId.get(id)),
  ];
  const known = found.filter((each) => each !== undefined);
  return known.length < found.length ? "unknown" : [...new Set(known)];
}
