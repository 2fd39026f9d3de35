/**
 * The landing page in the house: where its status comes from, and what it tells of the services
 * beside the monitor.
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
import { landingRoutes, type LandingOptions } from "../../../gateway/web/landing/route.ts";
import type { StatusJson } from "../../../gateway/web/landing/status.ts";
import type { FailedRun } from "../../dedup/last-runs.ts";
import type { Dedup } from "../../dedup/service.ts";
import { AnalysisService } from "../../gen/steward/dedup/v1/analysis_pb.ts";
import { DuplicateService } from "../../gen/steward/dedup/v1/duplicates_pb.ts";
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import { SyncService } from "../../gen/steward/dedup/v1/sync_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { systemIds } from "../../kernel/base/ids.ts";
import { createCall, type PlainRoute } from "../../kernel/service.ts";
import type { ThreadHost } from "../../kernel/threads/hosted-service.ts";
import { askStatus } from "../../monitor/status/ask-status.ts";
import { ENGINE_TYPE } from "../../tokens/engine/engine.ts";
import type { Tokens } from "../../tokens/service.ts";
import type { LastMints } from "../../tokens/telemetry/last-mints.ts";
import { callHandler } from "./call-handler.ts";
import { processProblems, type ProcessHealth } from "../health.ts";

/** What it tells of; a service that is off is not given. */
export interface LandingPlace {
  readonly monitor?: { readonly component: Pick<ThreadHost, "call"> } | undefined;
  readonly dedup?:
    | Pick<Dedup, "service" | "healthy" | "checkArchives" | "failedRuns" | "status">
    | undefined;
  readonly tokens?: Pick<Tokens, "levels" | "manager"> | undefined;
  readonly lastMints?: (() => LastMints) | undefined;
  /** Of the process; from memory. */
  readonly health?: () => ProcessHealth;
  /** Services that are on and out of service. */
  readonly refusing?: { readonly dedup: boolean; readonly tokens: boolean };
  readonly clock: Clock;
}

const OUT_OF_SERVICE = { state: "bad", word: "out of service" } as const;
/** Not known, which is not none. */
const NO_DOCUMENTS = { documents: undefined, groups: undefined, pending: undefined } as const;
const NO_LEASES = { leases: undefined, mounts: undefined, irrevocable: undefined } as const;
/** The page does not wait longer for a check of the archives. */
const CHECK_MS = 1_000;

/** The page and what it loads. */
export function landingPage(
  { monitor, dedup, tokens, lastMints, refusing, health, clock }: LandingPlace,
  options: LandingOptions,
): readonly PlainRoute[] {
  return landingRoutes(
    {
      clock,
      assets: pageAssets(),
      ...(monitor === undefined ? {} : { status: (signal) => statusOf(monitor, signal) }),
      summary: async (signal): Promise<ProcessSummary> => {
        const archive =
          refusing?.dedup === true
            ? { ...OUT_OF_SERVICE, ...NO_DOCUMENTS }
            : dedup && (await archiveFacts(dedup, signal));
        // An archive that went away just now is in the health of the process once it was checked.
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
    },
    options,
  );
}

async function statusOf(
  { component }: NonNullable<LandingPlace["monitor"]>,
  signal: AbortSignal,
): Promise<StatusJson> {
  return parseStatus(await askStatus(component, { signal, requestId: systemIds.uuid() }));
}

/**
 * From the document service's own answers. One that cannot answer is said to be unwell, and takes
 * nothing else from the page.
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
        { limit: 1, status: [GroupStatus.PENDING] },
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
    // Why, the service's own log and answers tell.
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

/** From the store of leases; a sealed one knows nothing. */
export function tokenFacts(
  tokens: Pick<Tokens, "levels" | "manager">,
  mints: LastMints = { failing: undefined, refusedAtMs: undefined },
): TokenFacts {
  const { inside } = tokens.levels();
  if (inside === undefined) return { state: "bad", word: "sealed", ...NO_LEASES };
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
