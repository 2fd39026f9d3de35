/** What a token is good for: seeing its repositories, asking for its quota, ending itself. */
import {
  badCredentials,
  moved,
  notFound,
  refusal,
  refusalOf,
  suspended,
  type Reply,
} from "../answers.ts";
import { idOf } from "./app-operations.ts";
import type { Call, Parts } from "../call.ts";
import type { Installation, Repository } from "../estate/installation.ts";
import { quotaHeaders, type Quota } from "../limits.ts";
import { pageOf } from "./paging.ts";
import type { MintedToken } from "../types.ts";

interface Bearer {
  readonly token: MintedToken;
  readonly installation: Installation;
}

/** Answers an operation that a token performs. */
export function withToken(call: Call, parts: Parts): Reply {
  const { operation } = call.route;
  const text = /^(?:Bearer|token) +([\w.-]+)$/i.exec(call.authorization ?? "")?.[1];
  if (text === undefined)
    return call.authorization === undefined ? withoutToken(call, parts) : badCredentials();
  const token = parts.tokens.living(text, call.nowMs);
  const installation =
    token === undefined ? undefined : parts.estate.installation(token.installationId)?.installation;
  if (token === undefined || installation === undefined) return badCredentials();
  // A new token reaches the other machines a little later than the one that made it.
  if (call.nowMs - token.mintedAtMs < parts.options.replicationLagMs) return badCredentials();
  if (operation === "revoke") return revoke({ token, installation }, call, parts);
  if (operation === "rate_limit")
    return rateLimit(parts.limits.quota(installation.spec.id, installation.byId.size, call.nowMs));
  return metered({ token, installation }, call, parts, () => {
    if (installation.suspended) return suspended(operation);
    return operation === "repositories"
      ? listRepositories({ token, installation }, call, parts)
      : showRepository({ token, installation }, call, parts);
  });
}

function metered({ installation }: Bearer, call: Call, parts: Parts, answer: () => Reply): Reply {
  const spent = parts.limits.spend(installation.spec.id, installation.byId.size, call.nowMs);
  const reply = spent?.refused ?? answer();
  return spent === undefined
    ? reply
    : { ...reply, headers: { ...quotaHeaders(spent.quota), ...reply.headers } };
}

// Allowed while suspended too: upstream does not document that case, and ending a token is
// harmless.
function revoke(bearer: Bearer, call: Call, parts: Parts): Reply {
  return metered(bearer, call, parts, () => {
    parts.tokens.revoke(bearer.token, call.nowMs);
    return { status: 204 };
  });
}

function withoutToken(call: Call, parts: Parts): Reply {
  const { operation } = call.route;
  if (operation === "rate_limit")
    return rateLimit(
      parts.limits.hourly
        ? { limit: 60, used: 0, remaining: 60, resetAtS: Math.floor(call.nowMs / 1000) + 3600 }
        : undefined,
    );
  if (operation !== "repository") return refusalOf(operation, 401, "Requires authentication");
  const found = lookUp(call, parts);
  return found === undefined || found.private
    ? notFound(operation)
    : { status: 200, body: found.text(call.bases) };
}

function rateLimit(quota: Quota | undefined): Reply {
  if (quota === undefined) return refusal(404, "Rate limiting is not enabled.");
  const { limit, used, remaining, resetAtS: reset } = quota;
  const core = { limit, used, remaining, reset };
  return {
    status: 200,
    body: JSON.stringify({
      resources: { core, search: { ...core, limit: 30, used: 0, remaining: 30 }, graphql: core },
      rate: core,
    }),
    headers: quotaHeaders(quota),
  };
}

function listRepositories({ token, installation }: Bearer, call: Call, parts: Parts): Reply {
  const all = [...installation.byId.values()].filter((each) => reaches(token, each));
  const { items, link } = pageOf(
    all,
    new URLSearchParams(call.query),
    `${call.bases.api}/installation/repositories`,
    parts.options.pageSize,
  );
  const selection = token.repositoryIds === undefined ? installation.selection : "selected";
  const body = `{"total_count":${all.length},"repository_selection":"${selection}","repositories":[${items.map((each) => each.text(call.bases)).join(",")}]}`;
  return { status: 200, body, ...(link === undefined ? {} : { headers: { link } }) };
}

function reaches(token: MintedToken, repository: Repository): boolean {
  return token.repositoryIds?.includes(repository.id) ?? true;
}

function lookUp(call: Call, parts: Parts): Repository | undefined {
  const [owner = "", name] = call.route.params;
  return parts.estate.repository(name === undefined ? { id: idOf(owner) } : { owner, name })
    ?.repository;
}

function showRepository({ token, installation }: Bearer, call: Call, parts: Parts): Reply {
  const [owner = "", name] = call.route.params;
  const own =
    name === undefined ? installation.byId.get(idOf(owner)) : ownByName(installation, owner, name);
  if (own !== undefined && reaches(token, own)) return { status: 200, body: own.text(call.bases) };
  const former =
    installation.spec.account.formerLogins?.some(
      (login) => login.toLowerCase() === owner.toLowerCase(),
    ) === true
      ? installation.byName.get((name ?? "").toLowerCase())
      : undefined;
  if (former !== undefined && reaches(token, former))
    return moved(`${call.bases.api}/repositories/${former.id}`);
  const other = lookUp(call, parts);
  return other === undefined || other.private
    ? notFound("repository")
    : { status: 200, body: other.text(call.bases) };
}

function ownByName(
  installation: Installation,
  owner: string,
  name: string,
): Repository | undefined {
  return installation.account.login.toLowerCase() === owner.toLowerCase()
    ? installation.byName.get(name.toLowerCase())
    : undefined;
}
