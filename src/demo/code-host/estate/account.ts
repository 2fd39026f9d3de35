/** The account object inside installations and repositories. */
import type { AccountType } from "../types.ts";

/** Who owns repositories. */
export interface Account {
  readonly id: number;
  readonly login: string;
  readonly type: AccountType;
}

/** An opaque id as the graph API knows it. */
export function nodeId(kind: string, id: number): string {
  return `${kind}_${Buffer.from(`${kind}:${String(id).padStart(9, "0")}`).toString("base64url")}`;
}

/**
 * The members of an account. `api` is the base of API addresses, `web` that of pages. Enterprises
 * have a slug where others have a login.
 */
export function accountObject(account: Account, api: string, web: string): Record<string, unknown> {
  return account.type === "Enterprise"
    ? enterpriseObject(account, web)
    : simpleUser(account, api, web);
}

function simpleUser(
  { id, login, type }: Account,
  api: string,
  web: string,
): Record<string, unknown> {
  const user = `${api}/users/${login}`;
  return {
    login,
    id,
    node_id: nodeId(type === "User" ? "U" : "O", id),
    avatar_url: `${web}/avatars/u/${id}?v=4`,
    gravatar_id: "",
    url: user,
    html_url: `${web}/${login}`,
    followers_url: `${user}/followers`,
    following_url: `${user}/following{/other_user}`,
    gists_url: `${user}/gists{/gist_id}`,
    starred_url: `${user}/starred{/owner}{/repo}`,
    subscriptions_url: `${user}/subscriptions`,
    organizations_url: `${user}/orgs`,
    repos_url: `${user}/repos`,
    events_url: `${user}/events{/privacy}`,
    received_events_url: `${user}/received_events`,
    type,
    user_view_type: "public",
    site_admin: false,
  };
}

function enterpriseObject({ id, login }: Account, web: string): Record<string, unknown> {
  return {
    id,
    slug: login,
    name: login,
    node_id: nodeId("E", id),
    avatar_url: `${web}/avatars/b/${id}?v=4`,
    description: null,
    website_url: null,
    html_url: `${web}/enterprises/${login}`,
    created_at: "2023-02-07T10:41:07Z",
    updated_at: "2024-11-18T15:02:33Z",
  };
}
