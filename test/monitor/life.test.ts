import { describe, expect, it } from "vitest";
import { createNetwork } from "../../src/demo/network/network.ts";
import type { Credential } from "../../src/demo/network/keys.ts";
import type { Network } from "../../src/demo/network/network.ts";
import { startTailscale } from "../../src/demo/tailscale/tailscale.ts";
import type { Tailscale } from "../../src/demo/tailscale/types.ts";
import type { Clock } from "../../src/kernel/base/clock.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import type { ApiState } from "../../src/monitor/capability/operation.ts";
import type { Freshness } from "../../src/monitor/runner/freshness.ts";
import {
  createStageClock,
  STAGE_BEGINS_MS,
  startStage,
  type Stage,
  type StageClock,
} from "./stage.ts";
import { everyCollector, tailscaleNetwork } from "./stage-options.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * HOUR_MS;
const KEY_WARN_MS = 7 * DAY_MS;
const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });

/** A control plane whose clock is right, whatever becomes of the monitor's. */
async function startPlane(clock: StageClock, seed: number): Promise<Tailscale> {
  const right: Clock = { ...clock, now: () => STAGE_BEGINS_MS + clock.monotonic() };
  return await startTailscale({
    clock: right,
    ids: systemIds,
    log,
    network: createNetwork({ seed, devices: 14, talkers: 3 }),
    gzip: false,
  });
}

/** The scenery: devices, users and keys by the hour, logs by the half hour, all others as told. */
async function raise(
  seed: number,
  othersMs = HOUR_MS,
): Promise<
  {
    readonly clock: StageClock;
    readonly plane: Tailscale;
    readonly stage: Stage;
    readonly network: Network;
  } & AsyncDisposable
> {
  const clock = createStageClock();
  const plane = await startPlane(clock, seed);
  const collectors = everyCollector(othersMs);
  const { devices, flowlogs, auditlogs } = collectors;
  const options = tailscaleNetwork(plane, {
    ...collectors,
    users: { intervalMs: HOUR_MS },
    keys: { intervalMs: HOUR_MS, expiryWarnMs: KEY_WARN_MS },
    devices: devices && {
      ...devices,
      intervalMs: HOUR_MS,
      collectPosture: false,
      collectDeviceInvites: false,
    },
    flowlogs: flowlogs && { ...flowlogs, intervalMs: HOUR_MS / 2 },
    auditlogs: auditlogs && { ...auditlogs, intervalMs: HOUR_MS / 2 },
  });
  const { provider } = options;
  // Without a wish it gets what the client has.
  const modest =
    provider.kind === "tailscale" && provider.auth?.method === "oauth"
      ? { ...options, provider: { ...provider, auth: { ...provider.auth, scopes: [] } } }
      : options;
  const stage = await startStage(clock, modest, {
    progress: () => Object.values(plane.requests()).reduce((sum, count) => sum + count, 0),
  });
  return {
    clock,
    plane,
    stage,
    network: plane.estate.network,
    async [Symbol.asyncDispose]() {
      await stage[Symbol.asyncDispose]();
      await plane.stop();
    },
  };
}

const idsOf = (lines: readonly string[]): string[] =>
  [...new Set(lines.map((line) => /host_id="([^"]+)"/.exec(line)?.[1] ?? ""))].toSorted();
const stateOf = (stage: Stage, collector: string): ApiState | undefined =>
  stage
    .status()
    .capabilities.find((row) => row.collector === collector && row.subrequest === undefined)?.state;
const freshness = (stage: Stage, collector: string): Freshness =>
  stage.collector(collector).freshness;
const seriesOf = (stage: Stage, metric: string): string[] =>
  stage.exposition(({ name }) => name === metric);

/** A key that works no more although its time is not up. */
const isSpent = ({ revokedMs, used = false, reusable = true }: Credential): boolean =>
  revokedMs !== undefined || (used && !reusable);

/** The windows of the flow log that were asked for and answered, as they are told. */
function windowsOf(
  plane: Tailscale,
  known: Map<number, { readonly fromMs: number; readonly toMs: number }>,
): void {
  for (const { operation, query, atMs } of plane.seen()) {
    const params = new URLSearchParams(query);
    if (operation === "flow_logs")
      known.set(atMs, {
        fromMs: Date.parse(params.get("start") ?? ""),
        toMs: Date.parse(params.get("end") ?? ""),
      });
  }
}

describe("The life of a network", () => {
  it("for a week: whoever leaves is gone with the next run, keys that end are told of once a run, every window of the log follows the one before", async () => {
    await using scene = await raise(5, 6 * HOUR_MS);
    const { clock, plane, stage, network } = scene;
    const windows = new Map<number, { readonly fromMs: number; readonly toMs: number }>();
    const everThere = new Set<string>();
    const kinds = { gone: 0, warned: 0, invalid: 0 };
    stage.records();
    for (let hour = 0; hour < 7 * 24; hour++) {
      await clock.advance(HOUR_MS);
      const ranMs = stage.collector("devices").last?.startedMs ?? 0;
      const there = network.devices.at(ranMs);
      for (const { legacyId } of there) everThere.add(legacyId);
      expect(idsOf(seriesOf(stage, "vpn.device.last_seen")), `hour ${hour}`).toEqual(
        there.map(({ legacyId }) => legacyId).toSorted(),
      );
      expect(stage.value("svc.enrich.cache_size")).toBe(there.length);
      const keysMs = stage.collector("keys").last?.startedMs ?? 0;
      const ending = network
        .credentials(keysMs)
        .filter(
          (key) =>
            !isSpent(key) &&
            (key.expiresMs ?? 0) > keysMs &&
            (key.expiresMs ?? Infinity) - keysMs <= KEY_WARN_MS,
        );
      const warned = stage.records().filter((record) => record.includes(" vpn.key.expiring "));
      expect(warned, `hour ${hour}`).toHaveLength(ending.length);
      const invalid = seriesOf(stage, "vpn.keys.count")
        .filter((line) => line.includes('vpn_key_invalid="true"'))
        .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
      expect(invalid).toBe(
        network
          .credentials(keysMs)
          .filter((key) => isSpent(key) || (key.expiresMs ?? Infinity) <= keysMs).length,
      );
      kinds.warned += warned.length;
      kinds.invalid += invalid;
      windowsOf(plane, windows);
    }
    kinds.gone = everThere.size - network.devices.at(clock.now()).length;
    expect(
      Math.min(kinds.gone, kinds.warned, kinds.invalid),
      JSON.stringify(kinds),
    ).toBeGreaterThan(0);
    const inOrder = [...windows.values()];
    expect(inOrder.length).toBeGreaterThan(330);
    // The first one has no overlap.
    for (const [index, { fromMs }] of inOrder.entries())
      if (index > 0) expect(fromMs).toBe((inOrder[index - 1]?.toMs ?? 0) - 300_000);
    expect(stage.status()).toMatchObject({ failing: 0 });
    expect(
      stage
        .status()
        .collectors.every(
          (each) => each.failures === 0 && each.freshness === "ok" && !each.overdue,
        ),
    ).toBe(true);
    expect(
      stage
        .status()
        .capabilities.filter(
          ({ active, state }) => active && !["supported", "disabled", "unknown"].includes(state),
        ),
    ).toEqual([]);
    // The checkpoint is as old as the lag and one interval, no more.
    expect(stage.collector("flowlogs").checkpoint).toMatchObject({ stuck: false });
  });

  it("scopes that are taken away show as such, what was said grows old and ends, and both come back", async () => {
    await using scene = await raise(6);
    const { clock, plane, stage } = scene;
    await clock.advance(2 * HOUR_MS);
    expect([stateOf(stage, "users"), freshness(stage, "users")]).toEqual(["supported", "ok"]);
    const before = seriesOf(stage, "vpn.users.count");
    expect(before.length).toBeGreaterThan(0);
    const { clientId: id, clientSecret: secret } = plane.credentials;
    plane.estate.client({
      id,
      secret,
      scopes: ["devices:core:read", "auth_keys:read", "logs:network:read", "feature_settings:read"],
    });
    plane.estate.revokeTokens();
    const seen: string[] = [];
    for (let hour = 0; hour < 7; hour++) {
      await clock.advance(HOUR_MS);
      seen.push(
        `${stateOf(stage, "users")} ${freshness(stage, "users")} ${seriesOf(stage, "vpn.users.count").length === 0 ? "ended" : "shown"}`,
      );
    }
    expect(seen).toEqual([
      "scope_denied ok shown",
      "scope_denied warning shown",
      "scope_denied warning shown",
      "scope_denied warning shown",
      "scope_denied stale ended",
      "scope_denied stale ended",
      "scope_denied stale ended",
    ]);
    expect([stateOf(stage, "devices"), freshness(stage, "devices")]).toEqual(["supported", "ok"]);
    expect(stage.status().failing).toBeGreaterThan(5);
    plane.estate.client({ id, secret, scopes: ["all:read"] });
    plane.estate.revokeTokens();
    await clock.advance(HOUR_MS);
    expect([stateOf(stage, "users"), freshness(stage, "users")]).toEqual(["supported", "ok"]);
    expect(seriesOf(stage, "vpn.users.count").length).toBeGreaterThan(0);
    expect(stage.status().failing).toBe(0);
  });

  it("an hour without the control plane: everything said stays, nothing is asked more often than configured, and all is caught up with", async () => {
    await using scene = await raise(7);
    const { clock, plane, stage } = scene;
    await clock.advance(2 * HOUR_MS);
    const shown = idsOf(seriesOf(stage, "vpn.device.last_seen"));
    const asked = { ...plane.requests() };
    plane.faults.next("*", { kind: "reset" }, Infinity);
    await clock.advance(65 * MINUTE_MS);
    expect(stage.status().failing).toBe(stage.status().collectors.length);
    expect(idsOf(seriesOf(stage, "vpn.device.last_seen"))).toEqual(shown);
    expect([
      stateOf(stage, "devices"),
      freshness(stage, "devices"),
      freshness(stage, "flowlogs"),
    ]).toEqual(["transient_failure", "warning", "warning"]);
    // One run of devices, two or three of the logs, each of two attempts.
    expect((plane.requests().devices ?? 0) - (asked.devices ?? 0)).toBeLessThanOrEqual(4);
    expect((plane.requests().flow_logs ?? 0) - (asked.flow_logs ?? 0)).toBeLessThanOrEqual(6);
    plane.faults.clear();
    await clock.advance(1.5 * HOUR_MS);
    expect(stage.status()).toMatchObject({ failing: 0 });
    const { checkpoint } = stage.collector("flowlogs");
    expect(checkpoint?.lagMs).toBeLessThan(10 * MINUTE_MS);
    expect(stage.value("svc.scrape.success", 'vpn_collector="devices"')).toBe(1);
  });

  it("a log that cannot be read falls behind and is stuck, and catches up by windows of an hour", async () => {
    await using scene = await raise(8);
    const { clock, plane, stage } = scene;
    await clock.advance(HOUR_MS);
    const { markMs = 0 } = stage.collector("flowlogs").checkpoint ?? {};
    plane.faults.next("flow_logs", { kind: "status", status: 500 }, Infinity);
    const stuck: boolean[] = [];
    for (let half = 0; half < 6; half++) {
      await clock.advance(HOUR_MS / 2);
      stuck.push(stage.collector("flowlogs").checkpoint?.stuck ?? false);
      expect(stage.collector("flowlogs").checkpoint?.markMs).toBe(markMs);
    }
    // Stuck is what lags by more than its lag and three intervals, an hour and 32 minutes.
    expect(stuck).toEqual([false, false, true, true, true, true]);
    plane.faults.clear();
    const windows = new Map<number, { readonly fromMs: number; readonly toMs: number }>();
    const marks: number[] = [];
    for (let half = 0; half < 8; half++) {
      await clock.advance(HOUR_MS / 2);
      marks.push((stage.collector("flowlogs").checkpoint?.markMs ?? 0) - markMs);
    }
    windowsOf(plane, windows);
    expect(marks.slice(0, 3).map((mark) => mark / HOUR_MS)).toEqual([1, 2, 3]);
    expect(stage.collector("flowlogs").checkpoint).toMatchObject({ stuck: false });
    expect(Math.max(...[...windows.values()].map(({ fromMs, toMs }) => toMs - fromMs))).toBe(
      HOUR_MS + 300_000,
    );
  });

  it("a wall clock that jumps an hour ahead and back again loses no flow and counts none twice", async () => {
    await using scene = await raise(9);
    const { clock, plane, stage, network } = scene;
    const windows: { readonly fromMs: number; readonly toMs: number }[] = [];
    const seen = new Map<number, { readonly fromMs: number; readonly toMs: number }>();
    await clock.advance(2 * HOUR_MS);
    clock.step(HOUR_MS);
    await clock.advance(2 * HOUR_MS);
    expect(stage.status().failing).toBe(0);
    clock.step(-HOUR_MS);
    await clock.advance(6 * HOUR_MS);
    expect(stage.status().failing).toBe(0);
    expect(
      stage
        .status()
        .collectors.every(
          (each) => (each.freshnessMs ?? -1) >= 0 && each.freshness === "ok" && !each.overdue,
        ),
    ).toBe(true);
    windowsOf(plane, seen);
    windows.push(...seen.values());
    const fromMs = Math.min(...windows.map((window) => window.fromMs));
    const { markMs: toMs = 0 } = stage.collector("flowlogs").checkpoint ?? {};
    const happened = Array.from({ length: (toMs - fromMs) / MINUTE_MS + 1 }, (_, minute) =>
      network.flows.inMinute(Math.ceil(fromMs / MINUTE_MS) + minute),
    )
      .flat()
      .filter((report) => report.fromMs >= fromMs && report.fromMs < toMs);
    const connections = happened
      .filter(({ loggedMs }) => loggedMs <= clock.now())
      .reduce(
        (sum, { traffic }) =>
          sum + Object.values(traffic).reduce((all, list) => all + list.length, 0),
        0,
      );
    const late = happened
      .filter((report) => report.loggedMs - report.fromMs > 7 * MINUTE_MS)
      .reduce(
        (sum, { traffic }) =>
          sum + Object.values(traffic).reduce((all, list) => all + list.length, 0),
        0,
      );
    const counted = seriesOf(stage, "vpn.network.flows").reduce(
      (sum, line) => sum + Number(line.split(" ").at(-1)),
      0,
    );
    expect(counted).toBeLessThanOrEqual(connections);
    expect(counted).toBeGreaterThanOrEqual(connections - late);
  });
});
