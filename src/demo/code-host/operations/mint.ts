/**
 * `POST /app/installations/ID/access_tokens`: the one call that makes something, and the one the
 * benches stand on.
 */
import { notFound, suspended, type Reply } from "../answers.ts";
import { idOf } from "./app-operations.ts";
import type { Call, Parts } from "../call.ts";
import type { App } from "../estate/estate.ts";
import type { Bases, Installation } from "../estate/installation.ts";
import { readScope, type Scope } from "./scope.ts";
import type { TokenForm } from "../types.ts";

/** 201 with a token that the store knows; 403, 404, 422 otherwise. */
export function mint(app: App, call: Call, parts: Parts): Reply {
  const installation = app.installations.get(idOf(call.route.params[0]));
  if (installation === undefined) return notFound("mint");
  if (installation.suspended) return suspended("mint");
  const scope = readScope(call.body, installation);
  if ("status" in scope) return scope;
  const refused = parts.limits.mint(app.spec.id, call.nowMs);
  if (refused !== undefined) return refused;
  const form = formOf(call.stateless, parts.options.tokenForm);
  // Upstream counts whole seconds.
  const expiresAtMs = Math.floor((call.nowMs + parts.options.tokenLifetimeMs) / 1000) * 1000;
  const token =
    form === "classic"
      ? parts.forms.classic()
      : parts.forms.stateless({
          appId: app.spec.id,
          installationId: installation.spec.id,
          issuedAtS: Math.floor(call.nowMs / 1000),
          expiresAtS: expiresAtMs / 1000,
        });
  parts.tokens.add(token, {
    form,
    appId: app.spec.id,
    installationId: installation.spec.id,
    permissions: scope.permissions,
    repositoryIds: scope.repositories?.map((each) => each.id),
    mintedAtMs: call.nowMs,
    expiresAtMs,
  });
  return {
    status: 201,
    body: `{"token":"${token}","expires_at":"${instant(expiresAtMs)}",${rest(installation, scope, call.bases)}}`,
  };
}

function formOf(wish: string | undefined, usual: TokenForm): TokenForm {
  if (wish === "enabled") return "stateless";
  return wish === "disabled" ? "classic" : usual;
}

/** RFC 3339 with whole seconds. */
function instant(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

// A token for everything says the same each time, but for itself.
const wholes = new WeakMap<Installation, Map<string, string>>();

function rest(installation: Installation, scope: Scope, bases: Bases): string {
  if (scope.repositories !== undefined || scope.permissions !== installation.spec.permissions)
    return describe(installation, scope, bases);
  let texts = wholes.get(installation);
  if (texts === undefined) {
    texts = new Map();
    wholes.set(installation, texts);
  }
  let text = texts.get(bases.api);
  if (text === undefined) {
    text = describe(installation, scope, bases);
    texts.set(bases.api, text);
  }
  return text;
}

function describe(installation: Installation, scope: Scope, bases: Bases): string {
  const members = [`"permissions":${JSON.stringify(scope.permissions)}`];
  if (installation.singleFile !== "" && scope.permissions["single_file"] !== undefined)
    members.push(installation.singleFile);
  const selected =
    scope.repositories ??
    (installation.selection === "selected" ? [...installation.byId.values()] : undefined);
  members.push(`"repository_selection":"${selected === undefined ? "all" : "selected"}"`);
  if (selected !== undefined)
    members.push(`"repositories":[${selected.map((each) => each.text(bases)).join(",")}]`);
  return members.join(",");
}
