/** Writes the answer of `QueryFlows`. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  FlowReportSchema,
  type FlowCountsSchema,
  type FlowResultSchema,
  type FlowSchema,
  type FlowStatsBackendSchema,
  type FlowStatsSchema,
} from "../../gen/steward/monitor/v1/flows_pb.ts";
import { formatDuration } from "../../kernel/config/values/units.ts";
import { schemaVersion } from "../../kernel/wire/style.ts";
import { writeCursor } from "./cursor.ts";
import type { FlowFilter, FlowStore } from "./flow-store.ts";
import { exercisedRules, policyOf } from "./flow-policy.ts";
import type { RecentPage } from "./recent-query.ts";
import type { Counts, SumEntry } from "./sums.ts";
import type { WindowSums } from "./sum-query.ts";
import type { FlowBackendStatus, StoredFlow } from "./types.ts";

export interface FlowAnswer {
  readonly shown: readonly FlowStore[];
  /** Names of all networks with a store. */
  readonly networks: readonly string[];
  readonly nowMs: number;
  readonly startMs: number;
  readonly endMs: number;
  readonly retentionMs: number;
  readonly filter: FlowFilter;
  readonly sums: WindowSums;
  readonly page: RecentPage;
}

/** Name of several networks together. */
const SEVERAL = "*";

export function shownNetwork([only, ...others]: readonly FlowStore[]): string {
  return only === undefined || others.length > 0 ? SEVERAL : only.network;
}

/** Undefined without any. */
export function shownFilters(filter: FlowFilter): { readonly filters?: FlowFilter } {
  return Object.values(filter).every((value) => value === "") ? {} : { filters: { ...filter } };
}

export function flowDocument(answer: FlowAnswer): MessageInitShape<typeof FlowReportSchema> {
  const { shown, networks, page, sums, filter } = answer;
  return {
    schemaVersion: schemaVersion(FlowReportSchema),
    network: shownNetwork(shown),
    networks: [...networks],
    window: formatDuration(answer.endMs - answer.startMs),
    retention: formatDuration(answer.retentionMs),
    stats: statsOf(shown),
    result: resultOf(sums, answer),
    recent: page.rows.map(rowOf),
    ...policyParts(shown, sums),
    generatedAt: timestampFromMs(answer.nowMs),
    ...shownFilters(filter),
    recentMatched: page.matched,
    recentReturned: page.rows.length,
    recentRetained: page.retained,
    recentTruncated: page.isFull,
    nextCursor: page.next === undefined ? "" : writeCursor(page.next),
  };
}

function policyParts(
  stores: readonly FlowStore[],
  { ranked }: WindowSums,
): Pick<MessageInitShape<typeof FlowReportSchema>, "policy" | "exercised"> {
  const { policy, ruleAt } = policyOf(stores);
  return {
    policy,
    exercised: exercisedRules(ranked.rules).map(({ version, index, counts }) => {
      const rule = ruleAt(version, index);
      return {
        policyVersion: version,
        index,
        available: rule !== undefined,
        ...(rule === undefined ? {} : { kind: rule.kind, source: rule.source }),
        counts: countsOf(counts),
      };
    }),
  };
}

function statsOf(stores: readonly FlowStore[]): MessageInitShape<typeof FlowStatsSchema> {
  const rows = stores.map((store) => store.status());
  const sum = (read: (row: (typeof rows)[number]) => number): number =>
    rows.reduce((total, row) => total + read(row), 0);
  const times = rows.flatMap((row) => row.times ?? []);
  return {
    buckets: sum(({ buckets }) => buckets),
    capacity: Math.max(0, ...rows.map(({ capacity }) => capacity)),
    observations: BigInt(sum(({ observations }) => observations)),
    truncated: BigInt(sum(({ truncated }) => truncated)),
    ...(times.length === 0
      ? {}
      : {
          earliest: timestampFromMs(Math.min(...times.map(({ earliestMs }) => earliestMs))),
          latest: timestampFromMs(Math.max(...times.map(({ latestMs }) => latestMs))),
        }),
    backend: backendOf(rows.map(({ backend }) => backend)),
  };
}

/** Of several networks together, without a path. */
function backendOf(
  backends: readonly FlowBackendStatus[],
): MessageInitShape<typeof FlowStatsBackendSchema> {
  const sum = (read: (backend: FlowBackendStatus) => number): number =>
    backends.reduce((total, backend) => total + read(backend), 0);
  const [first, ...others] = backends;
  const errors = [...new Set(backends.flatMap(({ error }) => error ?? []))];
  return {
    kind: first?.kind ?? "memory",
    path: others.length === 0 ? (first?.path ?? "") : "",
    healthy: errors.length === 0,
    error: errors.join("; "),
    queued: sum(({ queued }) => queued),
    queueDrops: BigInt(sum(({ queueDrops }) => queueDrops)),
    rows: BigInt(sum(({ rows: count }) => count)),
    sizeBytes: BigInt(sum(({ sizeBytes }) => sizeBytes)),
  };
}

function resultOf(
  { ranked, ...sums }: WindowSums,
  { startMs, endMs }: FlowAnswer,
): MessageInitShape<typeof FlowResultSchema> {
  const { lastMs = endMs } = sums;
  const labels = (entries: readonly SumEntry[]) =>
    entries.map(({ names: [label = ""], first }) => ({ label, counts: countsOf(first) }));
  const cells = (entries: readonly SumEntry[]) =>
    entries.map(({ names: [src = "", dst = ""], first }) => ({
      src,
      dst,
      counts: countsOf(first),
    }));
  return {
    window: {
      ...(sums.lastMs === undefined ? {} : { start: timestampFromMs(startMs) }),
      end: timestampFromMs(Math.min(endMs, lastMs)),
    },
    step: formatDuration(sums.stepMs),
    totals: countsOf(sums.totals),
    series: sums.series.map(([timeMs, counts]) => ({
      time: timestampFromMs(timeMs),
      counts: countsOf(counts),
    })),
    pairs: ranked.pairs.map(({ names: [src = "", dst = "", trafficType = ""], first }) => ({
      src,
      dst,
      trafficType,
      counts: countsOf(first),
    })),
    nodes: ranked.nodes.map(({ names: [node = ""], first, second }) => ({
      node,
      sent: countsOf(first),
      received: countsOf(second),
    })),
    ports: ranked.ports.map(({ names: [port = "", transport = "", service = ""], first }) => ({
      port,
      transport,
      service,
      counts: countsOf(first),
    })),
    transports: labels(ranked.transports),
    trafficTypes: labels(ranked.trafficTypes),
    users: labels(ranked.users),
    tags: labels(ranked.tags),
    oses: labels(ranked.oses),
    paths: labels(ranked.paths),
    derpRegions: labels(ranked.derpRegions),
    verdicts: labels(ranked.verdicts),
    unexplained: ranked.unexplained.map(
      ({ names: [src = "", dst = "", transport = "", port = ""], first }) => ({
        src,
        dst,
        transport,
        port,
        counts: countsOf(first),
      }),
    ),
    rules: exercisedRules(ranked.rules).map(({ version, index, counts }) => ({
      rule: index,
      policyVersion: version,
      counts: countsOf(counts),
    })),
    tagMatrix: cells(ranked.tagMatrix),
    userMatrix: cells(ranked.userMatrix),
    osMatrix: cells(ranked.osMatrix),
    peerPaths: ranked.peerPaths.map(({ names: [peer = ""], first, second }) => ({
      peer,
      direct: countsOf(first),
      relayed: countsOf(second),
    })),
    truncated: BigInt(sums.truncated),
  };
}

/** A single connection as the API shows it. */
export function rowOf(flow: StoredFlow): MessageInitShape<typeof FlowSchema> {
  const {
    timeMs,
    seq: _seq,
    dstPort: _port,
    txBytes,
    rxBytes,
    txPackets,
    rxPackets,
    ...texts
  } = flow;
  return {
    ...texts,
    time: timestampFromMs(timeMs),
    counts: countsOf({ txBytes, rxBytes, txPackets, rxPackets, flows: 1 }),
  };
}

function countsOf(counts: Counts): MessageInitShape<typeof FlowCountsSchema> {
  return {
    txBytes: whole(counts.txBytes),
    rxBytes: whole(counts.rxBytes),
    txPackets: whole(counts.txPackets),
    rxPackets: whole(counts.rxPackets),
    flows: whole(counts.flows),
  };
}

/** A node may report counters whose sum JSON cannot hold exactly. */
function whole(count: number): bigint {
  return BigInt(Math.min(count, Number.MAX_SAFE_INTEGER));
}
