import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { archiveFacts, landingDeps, tokenFacts } from "../../../src/daemon/pages/landing-page.ts";
import { landingRoute } from "../../../gateway/web/landing/route.ts";
import { AnalysisService } from "../../../src/gen/steward/dedup/v1/analysis_pb.ts";
import { DuplicateService, PlanFilter } from "../../../src/gen/steward/dedup/v1/duplicates_pb.ts";
import { SyncService } from "../../../src/gen/steward/dedup/v1/sync_pb.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import {
  bindService,
  createCall,
  type BoundService,
  type Handlers,
  type PlainRequest,
} from "../../../src/kernel/service.ts";
import type { FailedRun } from "../../../src/dedup/last-runs.ts";
import type { DedupStatus } from "../../../src/dedup/service.ts";
import type { TokensLevels } from "../../../src/tokens/telemetry/report.ts";

const signal = new AbortController().signal;
const refuse = (): never => {
  throw new Error("nobody asks this");
};
const AT = Date.parse("2026-11-21T10:00:00Z");

const listGroups: Handlers<typeof DuplicateService.method>["listGroups"] = ({
  limit,
  status,
  plan,
}) => ({
  data: [],
  meta: { total: status.length === 1 && plan === PlanFilter.OUT && limit === 1 ? 12 : -1 },
});

function documents(
  sync: Partial<Handlers<typeof SyncService.method>> = {},
  isAnalyzing = false,
): {
  readonly service: {
    readonly name: string;
    readonly rpc: readonly BoundService[];
    readonly plain: readonly [];
  };
  healthy(): boolean;
  failedRuns(): readonly FailedRun[];
  status(): DedupStatus;
} {
  const rpc = [
    bindService(SyncService, {
      startSync: refuse,
      getSyncStatus: () => ({ data: { totalDocuments: 260, lastSyncAt: timestampFromMs(AT) } }),
      ...sync,
    }),
    bindService(AnalysisService, {
      startAnalysis: refuse,
      getAnalysisStatus: () => ({
        data: { totalDuplicateGroups: 36, isAnalyzing, lastAnalysisAt: timestampFromMs(AT + 3000) },
      }),
    }),
    bindService(DuplicateService, { listGroups } as Handlers<typeof DuplicateService.method>),
  ];
  return {
    service: { name: "dedup", rpc, plain: [] },
    healthy: () => true,
    failedRuns: () => [],
    status: () => ({ schedule: undefined, archives: 1 }),
  };
}

describe("what the landing page tells of the archive", () => {
  it("is what the document service's own answers say", async () => {
    expect(await archiveFacts(documents(), signal)).toEqual({
      state: "good",
      word: "ready",
      archives: 1,
      documents: 260,
      groups: 36,
      pending: 12,
      lastSyncAt: "2026-11-21T10:00:00.000Z",
      lastAnalysisAt: "2026-11-21T10:00:03.000Z",
    });
  });

  it("says what runs, and that nothing was synced yet", async () => {
    expect(
      await archiveFacts(
        documents({ getSyncStatus: () => ({ data: { isSyncing: true } }) }),
        signal,
      ),
    ).toMatchObject({ state: "good", word: "syncing" });
    expect(await archiveFacts(documents({}, true), signal)).toMatchObject({
      state: "good",
      word: "analysing",
    });
    expect(
      await archiveFacts(documents({ getSyncStatus: () => ({ data: {} }) }), signal),
    ).toMatchObject({ state: "unknown", word: "not synced yet", lastSyncAt: undefined });
  });

  it("says that the last sync or analysis failed, until another one runs", async () => {
    const failed = {
      failedRuns: () => [{ type: "sync", jobId: "j1", error: "/srv/papers: permission denied" }],
    };
    expect(await archiveFacts({ ...documents(), ...failed }, signal)).toMatchObject({
      state: "bad",
      word: "last sync failed",
      documents: 260,
    });
    expect(await archiveFacts({ ...documents({}, true), ...failed }, signal)).toMatchObject({
      state: "good",
      word: "analysing",
    });
  });

  it("is that it is unwell when a store is, or it cannot answer", async () => {
    expect(await archiveFacts({ ...documents(), healthy: () => false }, signal)).toMatchObject({
      state: "bad",
      word: "a store is unavailable",
      documents: undefined,
    });
    expect(await archiveFacts(documents({ getSyncStatus: refuse }), signal)).toMatchObject({
      state: "bad",
      word: "does not answer",
    });
  });
});

describe("what the landing page tells of the tokens", () => {
  const tokens = (
    inside: TokensLevels["inside"],
    types: readonly string[] = [],
  ): Parameters<typeof tokenFacts>[0] =>
    ({
      levels: () => ({ sealed: inside === undefined, inside }),
      manager: () => ({ mounts: { all: () => types.map((type) => ({ type })) } }),
    }) as unknown as Parameters<typeof tokenFacts>[0];

  it("is how many leases live, and how many engines mint", () => {
    expect(
      tokenFacts(
        tokens(
          { leases: 5, due: 0, irrevocable: 0, orphans: 0, stored: 2, quotas: [], cached: [] },
          ["github", "system", "cubbyhole", "github"],
        ),
      ),
    ).toEqual({ state: "good", word: "open", leases: 5, mounts: 2, irrevocable: 0 });
  });

  it("is that the last mint failed, and when one was refused", () => {
    const facts = tokens({
      leases: 5,
      due: 0,
      irrevocable: 0,
      orphans: 0,
      stored: 2,
      quotas: [],
      cached: [],
    });
    expect(
      tokenFacts(facts, { failing: { atMs: AT, outcome: "upstream" }, refusedAtMs: undefined }),
    ).toMatchObject({
      state: "notice",
      word: "last mint failed",
      failedMintAt: "2026-11-21T10:00:00.000Z",
    });
    expect(tokenFacts(facts, { failing: undefined, refusedAtMs: AT })).toMatchObject({
      state: "good",
      word: "open",
      refusedMintAt: "2026-11-21T10:00:00.000Z",
    });
  });

  it("asks for a look at leases that cannot be ended, and at a store that is sealed", () => {
    expect(
      tokenFacts(
        tokens({
          leases: 5,
          due: 0,
          irrevocable: 2,
          orphans: 0,
          stored: 2,
          quotas: [],
          cached: [],
        }),
      ),
    ).toMatchObject({ state: "bad", irrevocable: 2 });
    expect(tokenFacts(tokens(undefined))).toEqual({
      state: "bad",
      word: "sealed",
      leases: undefined,
      mounts: undefined,
      irrevocable: undefined,
    });
  });

  it("is that a store which cannot be read does not answer", () => {
    const unreadable = {
      levels: () => ({ sealed: false, inside: undefined }),
      manager: () => undefined,
    };
    expect(tokenFacts(unreadable)).toMatchObject({ state: "bad", word: "does not answer" });
  });
});

describe("the landing page of a daemon", () => {
  const options = { demo: false, version: "1.2.3", links: [] };

  it("stands when every service is off", async () => {
    const answer = await landingRoute(landingDeps({ clock: systemClock }), options).handle(
      { query: new URLSearchParams(), headers: {} } as Partial<PlainRequest> as PlainRequest,
      createCall({ signal, requestId: "r" }),
    );
    expect(answer.body).toContain("services.dedup: true");
  });

  it("says that a monitor which does not run does not answer", async () => {
    const deps = landingDeps({
      clock: systemClock,
      monitor: {
        component: { call: () => Promise.reject(new Error("the monitor does not run")) },
      },
    });
    const answer = await landingRoute(deps, options).handle(
      { query: new URLSearchParams(), headers: {} } as Partial<PlainRequest> as PlainRequest,
      createCall({ signal, requestId: "r" }),
    );
    expect(answer.body).toContain("the monitor does not run");
  });
});
