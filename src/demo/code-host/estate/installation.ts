/**
 * One app on one account, compiled: what it may reach, by name and by id, and its JSON texts, made
 * once.
 */
import type { Account } from "./account.ts";
import { accountObject } from "./account.ts";
import { repositoryText } from "./repository.ts";
import type { AppSpec, InstallationSpec } from "../types.ts";

/** Base URLs in responses. */
export interface Bases {
  /** Base of API addresses. */
  readonly api: string;
  /** Base of pages. */
  readonly web: string;
}

/** A repository of an installation. */
export interface Repository {
  readonly id: number;
  readonly name: string;
  readonly private: boolean;
  /** The full object, as JSON. */
  text(bases: Bases): string;
}

/** A compiled installation. It never changes; a change makes another. */
export interface Installation {
  readonly spec: InstallationSpec;
  readonly account: Account;
  readonly byName: ReadonlyMap<string, Repository>;
  readonly byId: ReadonlyMap<number, Repository>;
  readonly selection: "all" | "selected";
  readonly suspended: boolean;
  readonly updatedAt: string;
  /** The installation's object, as JSON. */
  text(bases: Bases): string;
  /**
   * Members that a token with the `single_file` permission carries, as JSON without braces; empty
   * when there is no such file.
   */
  readonly singleFile: string;
}

const INSTALLED_AT = "2025-03-04T09:26:53Z";

/** At most two bases occur: the root and `/api/v3`. */
function perBase(make: (bases: Bases) => string): (bases: Bases) => string {
  const made = new Map<string, string>();
  return (bases) => {
    const known = made.get(bases.api);
    if (known !== undefined) return known;
    const text = make(bases);
    made.set(bases.api, text);
    return text;
  };
}

/** Compiles one installation of an app. */
export function compileInstallation(app: AppSpec, spec: InstallationSpec): Installation {
  const account: Account = {
    id: spec.account.id ?? spec.id + 5_000_000,
    login: spec.account.login,
    type: spec.account.type,
  };
  const repositories = spec.repositories.map((each): Repository => ({
    id: each.id,
    name: each.name,
    private: each.private ?? true,
    text: perBase(({ api, web }) => repositoryText(each, account, api, web)),
  }));
  return {
    spec,
    account,
    byName: new Map(repositories.map((each) => [each.name.toLowerCase(), each])),
    byId: new Map(repositories.map((each) => [each.id, each])),
    selection: spec.repositorySelection ?? "all",
    suspended: typeof spec.suspendedAt === "string",
    updatedAt: spec.updatedAt ?? INSTALLED_AT,
    text: perBase((bases) => installationText(app, spec, account, bases)),
    singleFile: singleFileOf(spec.singleFilePaths ?? []),
  };
}

function singleFileOf(paths: readonly string[]): string {
  const [first] = paths;
  if (first === undefined) return "";
  return JSON.stringify({
    single_file: first,
    has_multiple_single_files: paths.length > 1,
    single_file_paths: paths,
  }).slice(1, -1);
}

function installationText(
  app: AppSpec,
  spec: InstallationSpec,
  account: Account,
  { api, web }: Bases,
): string {
  const paths = spec.singleFilePaths ?? [];
  const settingsPath =
    account.type === "Organization" ? `organizations/${account.login}/settings` : "settings";
  const paused = typeof spec.suspendedAt === "string";
  return JSON.stringify({
    id: spec.id,
    client_id: app.clientId,
    account: accountObject(account, api, web),
    repository_selection: spec.repositorySelection ?? "all",
    access_tokens_url: `${api}/app/installations/${spec.id}/access_tokens`,
    repositories_url: `${api}/installation/repositories`,
    html_url: `${web}/${settingsPath}/installations/${spec.id}`,
    app_id: app.id,
    app_slug: app.slug,
    target_id: account.id,
    target_type: account.type,
    permissions: spec.permissions,
    events: spec.events ?? [],
    created_at: INSTALLED_AT,
    updated_at: spec.updatedAt ?? INSTALLED_AT,
    single_file_name: paths[0] ?? null,
    has_multiple_single_files: paths.length > 1,
    single_file_paths: paths,
    suspended_by: paused
      ? accountObject({ id: account.id + 1, login: "octo-admin", type: "User" }, api, web)
      : null,
    suspended_at: spec.suspendedAt ?? null,
  });
}
