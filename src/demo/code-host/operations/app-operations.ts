/** Operations that an app performs as itself: its own data and its installations. */
import { accountObject, nodeId } from "../estate/account.ts";
import { moved, notFound, type Reply } from "../answers.ts";
import type { Call, Parts } from "../call.ts";
import type { App } from "../estate/estate.ts";
import type { Bases, Installation } from "../estate/installation.ts";
import { pageOf } from "./paging.ts";
import { highest } from "../estate/permissions.ts";
import type { AccountType } from "../types.ts";

/** `GET /app`. */
export function showApp({ spec, installations }: App, { api, web }: Bases): Reply {
  return {
    status: 200,
    body: JSON.stringify({
      id: spec.id,
      client_id: spec.clientId,
      slug: spec.slug,
      node_id: nodeId("A", spec.id),
      owner: accountObject(
        { id: 4_000_000 + spec.id, login: spec.owner ?? "example-org", type: "Organization" },
        api,
        web,
      ),
      name: spec.name ?? spec.slug,
      description: "",
      external_url: `${web}/${spec.owner ?? "example-org"}`,
      html_url: `${web}/apps/${spec.slug}`,
      created_at: "2025-03-01T10:12:31Z",
      updated_at: "2025-03-04T09:20:11Z",
      permissions:
        spec.permissions ??
        highest([...installations.values()].map((each) => each.spec.permissions)),
      events: [],
      installations_count: installations.size,
    }),
  };
}

/**
 * `GET /app/installations`: all pages, `since` by time of change; `outdated` is accepted and
 * changes nothing.
 */
export function listInstallations(app: App, call: Call, parts: Parts): Reply {
  const query = new URLSearchParams(call.query);
  const sinceMs = Date.parse(query.get("since") ?? "");
  const all = [...app.installations.values()];
  const wanted = Number.isNaN(sinceMs)
    ? all
    : all.filter((each) => Date.parse(each.updatedAt) >= sinceMs);
  const { items, link } = pageOf(
    wanted,
    query,
    `${call.bases.api}/app/installations`,
    parts.options.pageSize,
  );
  return {
    status: 200,
    body: `[${items.map((each) => each.text(call.bases)).join(",")}]`,
    ...(link === undefined ? {} : { headers: { link } }),
  };
}

/** `GET /app/installations/ID`; another app's is not found. */
export function showInstallation(app: App, call: Call): Reply {
  const found = app.installations.get(idOf(call.route.params[0]));
  return found === undefined
    ? notFound("installation")
    : { status: 200, body: found.text(call.bases) };
}

const KINDS: Readonly<
  Record<
    "org_installation" | "user_installation" | "enterprise_installation",
    readonly AccountType[]
  >
> = {
  org_installation: ["Organization"],
  // Upstream answers for organisations here as well.
  user_installation: ["User", "Organization"],
  enterprise_installation: ["Enterprise"],
};

/**
 * `GET /orgs|users|enterprises/NAME/installation`, names in any case; a former name is answered 301
 * to the account's id.
 */
export function lookUpAccount(app: App, call: Call, operation: keyof typeof KINDS): Reply {
  const name = (call.route.params[0] ?? "").toLowerCase();
  const suits = (each: Installation | undefined): each is Installation =>
    each !== undefined && KINDS[operation].includes(each.account.type);
  const byId = /^\/(organizations|user|enterprises)\//.test(
    call.path.slice(call.route.prefix.length),
  )
    ? [...app.installations.values()].find((each) => String(each.account.id) === name)
    : undefined;
  const found = app.byLogin.get(name) ?? byId;
  if (suits(found)) return { status: 200, body: found.text(call.bases) };
  const renamed = app.byFormerLogin.get(name);
  return suits(renamed)
    ? moved(`${call.bases.api}${placeOf(renamed)}/installation`)
    : notFound(operation);
}

function placeOf({ account }: Installation): string {
  if (account.type === "Enterprise") return `/enterprises/${account.id}`;
  return account.type === "User" ? `/user/${account.id}` : `/organizations/${account.id}`;
}

/** `GET /repos/OWNER/NAME/installation`, or by the repository's id. */
export function lookUpRepository(app: App, call: Call): Reply {
  const [owner = "", name] = call.route.params;
  if (name === undefined) {
    const holder = [...app.installations.values()].find((each) => each.byId.has(idOf(owner)));
    return holder === undefined
      ? notFound("repo_installation")
      : { status: 200, body: holder.text(call.bases) };
  }
  const found = app.byLogin.get(owner.toLowerCase());
  if (found?.byName.has(name.toLowerCase()) === true)
    return { status: 200, body: found.text(call.bases) };
  const renamed = app.byFormerLogin.get(owner.toLowerCase())?.byName.get(name.toLowerCase());
  return renamed === undefined
    ? notFound("repo_installation")
    : moved(`${call.bases.api}/repositories/${renamed.id}/installation`);
}

/** A number in a path; -1, which nothing has, for anything else. */
export function idOf(text: string | undefined): number {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : -1;
}
