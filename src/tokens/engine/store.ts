/**
 * Stored data of the engine, in the keys and JSON of the original plugin, so that either can take
 * over from the other.
 */
import { StewardError } from "../../kernel/base/errors.ts";
import { parseExact, writeExact } from "../logical/json.ts";
import type { StorageView } from "../logical/types.ts";
import { DEFAULT_BASE_URL } from "./base-url.ts";
import { permissionsOf } from "./platform/installations.ts";
import type { EngineConfig, Scope } from "./types.ts";

export const CONFIG_KEY = "config";

const SETS = "permissionset/";

/** Undefined when there is none. Throws `corrupt`. */
export async function loadConfig(storage: StorageView): Promise<EngineConfig | undefined> {
  const row = await load(storage, CONFIG_KEY);
  if (row === undefined) return undefined;
  const ceiling = row["max_permissions"];
  return {
    appId: numberOf(row["app_id"]),
    privateKey: textOf(row["prv_key"]),
    baseUrl: textOf(row["base_url"]) || DEFAULT_BASE_URL,
    excludeRepositoryMetadata: row["exclude_repository_metadata"] === true,
    strictScopes: row["strict_scopes"] === true,
    maxPermissions: ceiling === undefined || ceiling === null ? undefined : permissionsOf(ceiling),
    tokenCacheMinTtlMs: numberOf(row["token_cache_min_ttl"]) * 1_000,
  };
}

export function saveConfig(storage: StorageView, config: EngineConfig): Promise<void> {
  return save(storage, CONFIG_KEY, {
    prv_key: config.privateKey,
    base_url: config.baseUrl,
    app_id: config.appId,
    exclude_repository_metadata: config.excludeRepositoryMetadata,
    ...(config.strictScopes ? { strict_scopes: true } : {}),
    ...(config.maxPermissions === undefined ? {} : { max_permissions: config.maxPermissions }),
    ...(config.tokenCacheMinTtlMs === 0
      ? {}
      : { token_cache_min_ttl: config.tokenCacheMinTtlMs / 1_000 }),
  });
}

/** Undefined when there is no set of this name. Throws `corrupt`. */
export async function loadSet(storage: StorageView, name: string): Promise<Scope | undefined> {
  const row = await load(storage, SETS + name);
  if (row === undefined) return undefined;
  const request = row["TokenRequest"];
  if (typeof request !== "object" || request === null) throw damaged(SETS + name);
  const {
    installation_id: id,
    org_name: org,
    repositories,
    repository_ids: ids,
    permissions,
  } = request as Readonly<Record<string, unknown>>;
  return {
    installationId: numberOf(id),
    orgName: textOf(org),
    permissions: permissionsOf(permissions),
    repositories: listOf(repositories).filter((one) => typeof one === "string"),
    repositoryIds: listOf(ids).filter((one) => typeof one === "number"),
  };
}

export function saveSet(storage: StorageView, name: string, scope: Scope): Promise<void> {
  const { permissions, repositories, repositoryIds } = scope;
  return save(storage, SETS + name, {
    Name: name,
    TokenRequest: {
      installation_id: scope.installationId,
      org_name: scope.orgName,
      ...(Object.keys(permissions).length === 0 ? {} : { permissions }),
      ...(repositories.length === 0 ? {} : { repositories }),
      ...(repositoryIds.length === 0 ? {} : { repository_ids: repositoryIds }),
    },
  });
}

/** Does nothing if the set does not exist. */
export function deleteSet(storage: StorageView, name: string): Promise<void> {
  return storage.delete(SETS + name);
}

export async function hasSet(storage: StorageView, name: string): Promise<boolean> {
  return (await storage.get(SETS + name)) !== undefined;
}

/** Sorted bytewise. */
export function listSets(storage: StorageView): Promise<readonly string[]> {
  return storage.list(SETS);
}

async function load(
  storage: StorageView,
  key: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const bytes = await storage.get(key);
  if (bytes === undefined) return undefined;
  let row: unknown;
  try {
    row = parseExact(bytes);
  } catch {
    throw damaged(key);
  }
  if (typeof row !== "object" || row === null || Array.isArray(row)) throw damaged(key);
  return row as Readonly<Record<string, unknown>>;
}

function save(
  storage: StorageView,
  key: string,
  row: Readonly<Record<string, unknown>>,
): Promise<void> {
  return storage.put(key, new TextEncoder().encode(writeExact(row)));
}

function damaged(key: string): StewardError {
  return new StewardError("corrupt", `the stored ${key} is damaged; write it again`, {
    rule: "stored",
  });
}

function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : 0;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}
