/** Answers `GetTokens`: what the tokens service has and does, without any secret. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  TokensReportSchema,
  type TokensMountSchema,
  type TokensPermissionSetSchema,
} from "../../gen/steward/tokens/v1/overview_pb.ts";
import { OverviewService } from "../../gen/steward/tokens/v1/overview_service_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import { formatDuration } from "../../kernel/config/values/units.ts";
import { bindService, type BoundService } from "../../kernel/service.ts";
import type { Env } from "../../kernel/state/types.ts";
import { schemaVersion } from "../../kernel/wire/style.ts";
import { aboveCeiling } from "../engine/scope.ts";
import { listSets, loadConfig, loadSet } from "../engine/store.ts";
import { ENGINE_TYPE } from "../engine/type.ts";
import type { Permissions, Scope } from "../engine/types.ts";
import type { RefusedMint } from "../telemetry/last-refusals.ts";
import type { Manager } from "../vault/manager.ts";
import type { Mount } from "../vault/mounts/mounts.ts";
import { createStorageView } from "../vault/mounts/storage-view.ts";
import type { LedgerEntry } from "../vault/types.ts";
import { LastChecks } from "./last-checks.ts";

const MAX_LEASES = 100;
const MAX_SETS = 200;
const MAX_REPOSITORIES = 20;
const MAX_ABOVE = 10;

export interface OverviewDeps {
  readonly env: Env;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Undefined while sealed. */
  readonly manager: () => Manager | undefined;
  readonly refusals: () => readonly RefusedMint[];
}

type Report = MessageInitShape<typeof TokensReportSchema>;

export function overviewHandlers(deps: OverviewDeps): BoundService {
  const checks = new LastChecks(deps);
  return bindService(OverviewService, {
    async getTokens(_request, { signal }) {
      const report: Report = {
        schemaVersion: schemaVersion(TokensReportSchema),
        generatedAt: timestampFromMs(deps.clock.now()),
        sealed: true,
        refusals: deps.refusals().map(({ atMs, ...refusal }) => ({
          ...refusal,
          at: timestampFromMs(atMs),
        })),
        ...(await insideOf(deps, checks, signal)),
      };
      return { tokens: create(TokensReportSchema, report) };
    },
  });
}

/** Nothing while the store is sealed, or was sealed meanwhile. */
async function insideOf(
  { env, manager: current }: OverviewDeps,
  checks: LastChecks,
  signal: AbortSignal,
): Promise<Report> {
  const manager = current();
  if (manager === undefined) return {};
  const mounts = manager.mounts.all().filter(({ type }) => type === ENGINE_TYPE);
  checks.keep(mounts);
  try {
    const rows = await Promise.all(
      mounts.map((mount) => mountOf({ env, manager, checks, signal }, mount)),
    );
    const { leases, irrevocable, orphans } = manager.leases.counts();
    const newestLeases = manager.leases.newest(MAX_LEASES).map(leaseOf);
    return { sealed: false, leases, irrevocable, orphans, mounts: rows, newestLeases };
  } catch (error) {
    if (error instanceof StewardError && error.code === "sealed") return {};
    throw error;
  }
}

interface MountDeps {
  readonly env: Env;
  readonly manager: Manager;
  readonly checks: LastChecks;
  readonly signal: AbortSignal;
}

/** A damaged mount says so; the others are shown. */
async function mountOf(
  { env, manager, checks, signal }: MountDeps,
  mount: Mount,
): Promise<MessageInitShape<typeof TokensMountSchema>> {
  const limits = manager.mounts.limits(mount);
  const row = {
    path: mount.point,
    description: mount.description,
    defaultLeaseTtl: formatDuration(limits.defaultLeaseTtlMs),
    maxLeaseTtl: formatDuration(limits.maxLeaseTtlMs),
    quotas: manager.quotas
      .all()
      .filter((quota) => quota.mount === mount.point)
      .map(({ installationId, limit, remaining, resetAtMs, atMs }) => ({
        installationId,
        limit: BigInt(limit),
        remaining: BigInt(remaining),
        resetAt: timestampFromMs(resetAtMs),
        at: timestampFromMs(atMs),
      })),
  };
  const storage = createStorageView(env, mount.uuid);
  try {
    const config = await loadConfig(storage);
    const names = await listSets(storage);
    const sets = await Promise.all(
      names
        .slice(0, MAX_SETS)
        .map(async (name) => setOf(name, await loadSet(storage, name), config?.maxPermissions)),
    );
    const found = config === undefined ? undefined : await checks.of(mount, signal);
    return {
      ...row,
      configured: config !== undefined,
      ...(config === undefined
        ? {}
        : {
            appId: BigInt(config.appId),
            baseUrl: config.baseUrl,
            maxPermissions: { ...config.maxPermissions },
            tokenCacheMinTtl:
              config.tokenCacheMinTtlMs === 0 ? "" : formatDuration(config.tokenCacheMinTtlMs),
          }),
      permissionSets: sets,
      permissionSetsTotal: names.length,
      ...(found === undefined
        ? {}
        : {
            checks: found.checks.map((check) => ({ ...check })),
            checkedAt: timestampFromMs(found.atMs),
          }),
    };
  } catch (thrown) {
    const error = toStewardError(thrown);
    if (error.code === "sealed") throw error;
    return { ...row, problem: error.message };
  }
}

function setOf(
  name: string,
  scope: Scope | undefined,
  ceiling: Permissions | undefined,
): MessageInitShape<typeof TokensPermissionSetSchema> {
  if (scope === undefined) return { name };
  const repositories = [...scope.repositories, ...scope.repositoryIds.map(String)];
  return {
    name,
    orgName: scope.orgName,
    installationId: BigInt(scope.installationId),
    permissions: { ...scope.permissions },
    repositories: repositories.slice(0, MAX_REPOSITORIES),
    repositoriesTotal: repositories.length,
    aboveCeiling:
      ceiling === undefined
        ? []
        : [...aboveCeiling(scope.permissions, ceiling)].slice(0, MAX_ABOVE),
  };
}

function leaseOf(entry: LedgerEntry) {
  const { id, path, issuedAtMs, expiresAtMs, irrevocable, shared, hashedToken } = entry;
  return {
    id,
    path,
    issuedAt: timestampFromMs(issuedAtMs),
    expiresAt: timestampFromMs(expiresAtMs),
    irrevocable: irrevocable ?? "",
    shared,
    hashedToken: hashedToken ?? "",
  };
}
