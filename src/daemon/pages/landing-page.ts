/**
 * The landing page: where its status comes from, and its figures of the document and tokens
 * services.
 */
import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { within } from "../../../gateway/until-aborted.ts";
import { pageAssets } from "../../../gateway/web/assets.ts";
import type {
  ArchiveFacts,
  ProcessSummary,
  TokenFacts,
} from "../../../gateway/web/landing/process-summary.ts";
import { parseStatus } from "../../../gateway/web/landing/read-status.ts";
import type { LandingDeps } from "../../../gateway/web/landing/route.ts";
import type { StatusJson } from "../../gen/status-json.ts";
import type { FailedRun } from "../../dedup/last-runs.ts";
import type { Dedup } from "../../dedup/service.ts";
import { AnalysisService } from "../../gen/steward/dedup/v1/analysis_pb.ts";
import { DuplicateService, PlanFilter } from "../../gen/steward/dedup/v1/duplicates_pb.ts";
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import { SyncService } from "../../gen/steward/dedup/v1/sync_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { systemIds } from "../../kernel/base/ids.ts";
import { createCall } from "../../kernel/service.ts";
import type { ThreadHost } from "../../kernel/threads/hosted-service.ts";
import { readStatus } from "../../monitor/status/read-status.ts";
import { ENGINE_TYPE } from "../../tokens/engine/type.ts";
import type { Tokens } from "../../tokens/service.ts";
import type { LastMints } from "../../tokens/telemetry/last-mints.ts";
import type { CountHistory } from "../history/count-history.ts";
import { callHandler } from "./call-handler.ts";
import { readDay } from "./day.ts";
import { processProblems, type ProcessHealth } from "../health.ts";

/** Sources of the page; a service that is off is absent. */
export interface LandingPageSources {
  readonly monitor?: { readonly component: Pick<ThreadHost, "call"> } | undefined;
  readonly dedup?:
    | Pick<Dedup, "service" | "healthy" | "checkArchives" | "failedRuns" | "status">
    | undefined;
  readonly tokens?: Pick<Tokens, "levels" | "manager"> | undefined;
  readonly lastMints?: (() => LastMints) | undefined;
  /** Counts of the services; undefined while there is nothing to count. */
  readonly history?: Pick<CountHistory, "view"> | undefined;
  /** Events are stored. */
  readonly hasEvents?: boolean;
  /** Reads memory only. */
  readonly health?: () => ProcessHealth;
  /** Services that are on but refuse requests. */
  readonly refusing?: { readonly dedup: boolean; readonly tokens: boolean };
  readonly clock: Clock;
}

const OUT_OF_SERVICE = { state: "bad", word: "out of service" } as const;
/** Unknown, which differs from zero. */
const NO_DOCUMENTS = { documents: undefined, groups: undefined, pending: undefined } as const;
const NO_LEASES = { leases: undefined, mounts: undefined, irrevocable: undefined } as const;
/** Longest wait for a check of the archives. */
const CHECK_MS = 1_000;

/** What `/` and `/monitor` are made from. */
export function landingDeps(sources: LandingPageSources): LandingDeps {
  const { monitor, dedup, tokens, lastMints, refusing, health, clock } = sources;
  return {
    clock,
    assets: pageAssets(),
    ...(monitor === undefined ? {} : { status: (signal) => statusOf(monitor, signal) }),
    day: (signal) => readDay(sources, signal),
    summary: async (signal): Promise<ProcessSummary> => {
      const archive =
        refusing?.dedup === true
          ? { ...OUT_OF_SERVICE, ...NO_DOCUMENTS }
          : dedup && (await archiveFacts(dedup, signal));
      // The check updates process health if an archive has just become unavailable.
      await within(CHECK_MS, signal, clock, async () => await dedup?.checkArchives()).catch(
        () => undefined,
      );
      return {
        archive,
        tokens:
          refusing?.tokens === true
            ? { ...OUT_OF_SERVICE, ...NO_LEASES }
            : tokens && tokenFacts(tokens, lastMints?.()),
        problems: health === undefined ? [] : processProblems(health()),
      };
    },
  };
}

/** The status as pages read it. Rejects while the monitor is not running. */
export async function statusOf(
  { component }: NonNullable<LandingPageSources["monitor"]>,
  signal: AbortSignal,
): Promise<StatusJson> {
  return parseStatus(await readStatus(component, { signal, requestId: systemIds.uuid() }));
}

/**
 * Figures of the document service. If it cannot answer, its card says so and the rest of the page
 * is rendered.
 */
export async function archiveFacts(
  {
    service,
    healthy,
    failedRuns,
    status,
  }: Pick<Dedup, "service" | "healthy" | "failedRuns" | "status">,
  signal: AbortSignal,
): Promise<ArchiveFacts> {
  const call = createCall({ signal, requestId: systemIds.uuid() });
  if (!healthy()) return { state: "bad", word: "a store is unavailable", ...NO_DOCUMENTS };
  try {
    const [{ data: sync }, { data: analysis }, { meta: pending }] = await Promise.all([
      callHandler(service.rpc, SyncService.method.getSyncStatus, {}, call),
      callHandler(service.rpc, AnalysisService.method.getAnalysisStatus, {}, call),
      callHandler(
        service.rpc,
        DuplicateService.method.listGroups,
        { limit: 1, status: [GroupStatus.PENDING], plan: PlanFilter.OUT },
        call,
      ),
    ]);
    const busy =
      sync?.isSyncing === true
        ? "syncing"
        : analysis?.isAnalyzing === true
          ? "analysing"
          : undefined;
    return {
      ...stateOf(busy, failedRuns(), sync?.lastSyncAt !== undefined),
      archives: status().archives,
      documents: sync?.totalDocuments ?? 0,
      groups: analysis?.totalDuplicateGroups ?? 0,
      pending: pending?.total ?? 0,
      lastSyncAt: text(sync?.lastSyncAt),
      lastAnalysisAt: text(analysis?.lastAnalysisAt),
    };
  } catch {
    // The reason is in the service's own log.
    return { state: "bad", word: "does not answer", ...NO_DOCUMENTS };
  }
}

function stateOf(
  busy: string | undefined,
  [failed]: readonly FailedRun[],
  synced: boolean,
): Pick<ArchiveFacts, "state" | "word"> {
  if (busy !== undefined) return { state: "good", word: busy };
  if (failed !== undefined) return { state: "bad", word: `last ${failed.type} failed` };
  return synced ? { state: "good", word: "ready" } : { state: "unknown", word: "not synced yet" };
}

/** Figures from the lease store; a sealed or unreadable store has none. */
export function tokenFacts(
  tokens: Pick<Tokens, "levels" | "manager">,
  mints: LastMints = { failing: undefined, refusedAtMs: undefined },
): TokenFacts {
  const { sealed, inside } = tokens.levels();
  if (inside === undefined)
    return { state: "bad", word: sealed ? "sealed" : "does not answer", ...NO_LEASES };
  const mounts =
    tokens
      .manager()
      ?.mounts.all()
      .filter(({ type }) => type === ENGINE_TYPE).length ?? 0;
  const { failing, refusedAtMs } = mints;
  const [state, word] =
    inside.irrevocable > 0
      ? (["bad", "needs a look"] as const)
      : failing === undefined
        ? (["good", "open"] as const)
        : (["notice", "last mint failed"] as const);
  return {
    state,
    word,
    leases: inside.leases,
    mounts,
    irrevocable: inside.irrevocable,
    failedMintAt: isoTime(failing?.atMs),
    refusedMintAt: isoTime(refusedAtMs),
  };
}

function isoTime(timeMs: number | undefined): string | undefined {
  return timeMs === undefined ? undefined : new Date(timeMs).toISOString();
}

function text(time: Timestamp | undefined): string | undefined {
  return time === undefined ? undefined : timestampDate(time).toISOString();
}
