/** Who calls, in which version, and what that user may see. */
import type { Call, Reply } from "../control-plane/reply.ts";
import { headerOf } from "../control-plane/reply.ts";
import { detail } from "./answers.ts";
import type { Operation } from "./operations.ts";
import type { DocumentRow, Estate, Release, User } from "./types.ts";

/** The API versions of a release, lowest first; the last is the default. */
export function versionsOf(release: Release): readonly number[] {
  return release === "3.0.5" ? [9, 10] : [1, 2, 3, 4, 5, 6, 7, 8, 9];
}

const JSON_TYPES = new Set(["*/*", "application/*", "application/json"]);

/** The version that the Accept header chooses, or a 406. Comes before authentication. */
export function negotiate(
  call: Call<Operation>,
  release: Release,
): { readonly version: number } | { readonly refused: Reply } {
  const allowed = versionsOf(release);
  const entries = (headerOf(call, "accept") ?? "*/*").split(",").map((entry) => {
    const [type = "", ...parameters] = entry.split(";").map((part) => part.trim());
    const version = parameters.find((part) => part.startsWith("version="))?.slice(8);
    return { type: type.toLowerCase(), version };
  });
  const chosen = entries.find(({ type }) => JSON_TYPES.has(type) || type === "text/html");
  if (chosen === undefined)
    return { refused: detail(406, "Could not satisfy the request Accept header.") };
  if (chosen.version === undefined) return { version: allowed.at(-1) ?? 0 };
  const version = allowed.find((number) => String(number) === chosen.version);
  return version === undefined
    ? { refused: detail(406, 'Invalid version in "Accept" header.') }
    : { version };
}

/** The user of the Authorization header, or a 401. */
export function authenticate(
  call: Call<Operation>,
  users: readonly User[],
): { readonly user: User } | { readonly refused: Reply } {
  const header = headerOf(call, "authorization") ?? "";
  const [scheme = "", value] = header.split(" ", 2);
  const refuse = (text: string, challenge = "Token"): { readonly refused: Reply } => ({
    refused: { ...detail(401, text), headers: { "www-authenticate": challenge } },
  });
  if (scheme.toLowerCase() === "basic") {
    const [name, password = ""] = Buffer.from(value ?? "", "base64")
      .toString("utf8")
      .split(":", 2);
    const user = users.find((one) => one.username === name && one.password.equals(password));
    return user === undefined
      ? refuse("Invalid username/password.", 'Basic realm="api"')
      : { user };
  }
  if (scheme.toLowerCase() !== "token")
    return refuse("Authentication credentials were not provided.");
  if (value === undefined || value === "")
    return refuse("Invalid token header. No credentials provided.");
  const user = users.find(({ token }) => token.equals(value));
  return user === undefined ? refuse("Invalid token.") : { user };
}

/** Foreign documents do not exist for others. */
export function isVisible({ owner }: Pick<DocumentRow, "owner">, user: User): boolean {
  return user.superuser || owner === null || owner === user.id;
}

/** A live document that the user sees. */
export function visibleDocument(
  { documents }: Estate,
  id: string,
  user: User,
): DocumentRow | undefined {
  const row = /^\d{1,15}$/.test(id) ? documents.get(Number(id)) : undefined;
  return row !== undefined && row.deletedAtUs === null && isVisible(row, user) ? row : undefined;
}
