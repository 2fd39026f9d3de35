/** `config`: the GitHub App that mints tokens. */
import { EngineConfigFieldsSchema } from "../../../gen/steward/tokens/v1/engine_pb.ts";
import { Turns } from "../../../kernel/async/turns.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { definePath } from "../../logical/define-path.ts";
import { logicalError } from "../../logical/occurred.ts";
import type {
  Data,
  Host,
  LogicalResponse,
  Path,
  PathRequest,
  StorageView,
} from "../../logical/types.ts";
import {
  assertCallable,
  baseUrlWarnings,
  DEFAULT_BASE_URL,
  haveSameOrigin,
  parseBaseUrl,
} from "../base-url.ts";
import type { EngineContext } from "../context.ts";
import { permissionWarnings } from "../permission-names.ts";
import { readPrivateKey } from "../private-key.ts";
import { aboveCeiling } from "../scope.ts";
import { CONFIG_KEY, listSets, loadConfig, loadSet, saveConfig } from "../store.ts";
import type { EngineConfig, Permissions } from "../types.ts";

/** Permission sets named in a warning, and permissions of each. */
const MAX_NAMED = 10;

/** Bounds of `token_cache_min_ttl`: a token must be of use, and outlive its bound. */
const MIN_CACHE_TTL_MS = 60_000;
const MAX_CACHE_TTL_MS = 3_300_000;

const NOTHING: EngineConfig = {
  appId: 0,
  privateKey: "",
  baseUrl: DEFAULT_BASE_URL,
  excludeRepositoryMetadata: false,
  strictScopes: false,
  maxPermissions: undefined,
  tokenCacheMinTtlMs: 0,
};

/** Create and update behave alike: given fields change, others stay. */
export function configPath(context: EngineContext): Path {
  const { storage } = context.host;
  return definePath({
    pattern: "config",
    fields: EngineConfigFieldsSchema,
    coerce: { max_permissions: "pairs", token_cache_min_ttl: "duration" },
    synopsis: "Configure the GitHub secrets plugin.",
    description:
      "The app's id and private key are needed with the first write; later writes change just what they name. The key is tried when it is written and never returned.",
    exists: async () => (await storage.get(CONFIG_KEY)) !== undefined,
    operations: {
      read: async () => ({ data: shown((await loadConfig(storage)) ?? NOTHING) }),
      write: (request) => context.changing(() => write(context, request)),
      delete: () =>
        context.changing(async () => {
          await store(context, () => storage.delete(CONFIG_KEY));
          return undefined;
        }),
    },
  });
}

// Newer fields appear only when set, so that a plain configuration reads as clients know it.
function shown(config: EngineConfig): Data {
  return {
    app_id: config.appId,
    base_url: config.baseUrl,
    exclude_repository_metadata: config.excludeRepositoryMetadata,
    prv_key: config.privateKey === "" ? "" : "<configured>",
    ...(config.strictScopes ? { strict_scopes: true } : {}),
    ...(config.maxPermissions === undefined ? {} : { max_permissions: config.maxPermissions }),
    ...(config.tokenCacheMinTtlMs === 0
      ? {}
      : { token_cache_min_ttl: config.tokenCacheMinTtlMs / 1_000 }),
  };
}

async function write(
  context: EngineContext,
  request: PathRequest,
): Promise<LogicalResponse | undefined> {
  const { storage } = context.host;
  const stored = await loadConfig(storage);
  if (stored === undefined) checkRequired(request);
  const { config, warnings } = changed(stored ?? NOTHING, request, context);
  if (stored !== undefined) checkOrigin(stored, config, request);
  if (stored === undefined || JSON.stringify(config) !== JSON.stringify(stored)) {
    await store(context, () => saveConfig(storage, config));
  }
  const all = [
    ...warnings,
    ...(request.fields.has("max_permissions")
      ? await refusedSetsWarnings(storage, config.maxPermissions)
      : []),
  ];
  return all.length === 0 ? undefined : { warnings: all };
}

/** A change that failed may be stored all the same, and when repeated it changes nothing. */
async function store({ sessions }: EngineContext, change: () => Promise<void>): Promise<void> {
  try {
    await change();
  } finally {
    sessions.drop();
  }
}

/** Warns of stored permission sets that the new ceiling forbids: minting with them fails. */
async function refusedSetsWarnings(
  storage: StorageView,
  ceiling: Permissions | undefined,
): Promise<readonly string[]> {
  if (ceiling === undefined) return [];
  const refused: string[] = [];
  const turns = new Turns();
  for (const name of await listSets(storage)) {
    if (turns.over) await turns.give();
    const above = aboveCeiling(await permissionsOfSet(storage, name), ceiling);
    if (above.length > 0) refused.push(`${name} (${above.slice(0, MAX_NAMED).join(", ")})`);
  }
  if (refused.length === 0) return [];
  const more = refused.length > MAX_NAMED ? ` and ${refused.length - MAX_NAMED} more` : "";
  return [
    `permission sets above max_permissions are refused when they are used; write them again with less: ${refused.slice(0, MAX_NAMED).join(", ")}${more}`,
  ];
}

/** Undefined for a set that is damaged or was deleted meanwhile; minting reports that. */
async function permissionsOfSet(storage: StorageView, name: string): Promise<Permissions> {
  try {
    return (await loadSet(storage, name))?.permissions ?? {};
  } catch (error) {
    if (error instanceof StewardError && error.code === "corrupt") return {};
    throw error;
  }
}

function checkRequired({ fields }: PathRequest): void {
  const missing = ["app_id", "prv_key"].filter((name) => !fields.has(name));
  if (missing.length > 0)
    throw logicalError(
      `${missing.join(" and ")} ${missing.length === 1 ? "is a required parameter" : "are required parameters"}`,
      { field: missing[0] ?? "", rule: "required" },
    );
}

/**
 * Permission to write the configuration must not allow redirecting the app's JWTs and tokens to
 * another origin.
 */
function checkOrigin(before: EngineConfig, after: EngineConfig, { fields }: PathRequest): void {
  if (
    fields.has("prv_key") ||
    after.baseUrl === before.baseUrl ||
    haveSameOrigin(before.baseUrl, after.baseUrl)
  )
    return;
  throw logicalError("base_url names another origin than before; give prv_key with it", {
    field: "base_url",
    rule: "origin",
  });
}

/** Whole seconds. Throws `invalid`. */
function minTtlMs(givenMs: number | undefined, { sharing }: Host): number | undefined {
  if (givenMs === undefined || givenMs === 0) return givenMs;
  const refuse = (text: string): StewardError =>
    logicalError(text, { field: "token_cache_min_ttl", rule: "range" });
  if (sharing === undefined)
    throw refuse("token_cache_min_ttl cannot be set: the leases of this host cannot share a token");
  if (givenMs < MIN_CACHE_TTL_MS || givenMs > MAX_CACHE_TTL_MS)
    throw refuse("token_cache_min_ttl must be 0, or from 1m to 55m: a token lives an hour");
  return Math.round(givenMs / 1_000) * 1_000;
}

function changed(
  before: EngineConfig,
  { fields }: PathRequest,
  { allowLinkLocal, host }: EngineContext,
): { readonly config: EngineConfig; readonly warnings: readonly string[] } {
  const appId = fields.integer("app_id") ?? before.appId;
  if (fields.has("app_id") && appId <= 0)
    throw logicalError("app_id must be above 0; the app's settings show it", {
      field: "app_id",
      rule: "range",
    });
  const keyText = fields.text("prv_key");
  const key = keyText === undefined ? undefined : readPrivateKey(keyText);
  const urlText = fields.text("base_url")?.trim();
  const base = urlText === undefined ? undefined : parseBaseUrl(urlText);
  if (base !== undefined && !allowLinkLocal) assertCallable(base);
  const ceiling = fields.pairs("max_permissions");
  const maxPermissions =
    ceiling === undefined
      ? before.maxPermissions
      : ceiling.size === 0
        ? undefined
        : Object.fromEntries(ceiling);
  const config: EngineConfig = {
    appId,
    privateKey: key?.pem ?? before.privateKey,
    baseUrl: urlText ?? before.baseUrl,
    excludeRepositoryMetadata:
      fields.boolean("exclude_repository_metadata") ?? before.excludeRepositoryMetadata,
    strictScopes: fields.boolean("strict_scopes") ?? before.strictScopes,
    maxPermissions,
    tokenCacheMinTtlMs:
      minTtlMs(fields.durationMs("token_cache_min_ttl"), host) ?? before.tokenCacheMinTtlMs,
  };
  const warnings = [
    ...(key?.warnings ?? []),
    ...(base === undefined ? [] : baseUrlWarnings(base)),
    ...(ceiling === undefined ? [] : permissionWarnings(maxPermissions ?? {})),
  ];
  return { config, warnings };
}
