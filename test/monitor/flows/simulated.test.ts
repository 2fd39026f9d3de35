import { describe, expect, it } from "vitest";
import { createNetwork } from "../../../src/demo/network/network.ts";
import { auditLogs, flowLogs } from "../../../src/demo/tailscale/logs.ts";
import { createAuditIntake } from "../../../src/monitor/audit/intake.ts";
import { memoryLog } from "../../kernel/telemetry/fixtures.ts";
import { keepingScope, NOW_MS, openIntake, unhurried } from "./fixtures.ts";

const network = createNetwork({ seed: 7 });
const logsOf = (body: unknown) =>
  (body as { readonly logs: readonly Record<string, unknown>[] }).logs;
const flowsOf = (fromMinutes: number, toMinutes: number) =>
  logsOf(
    flowLogs(
      network,
      { fromMs: NOW_MS - fromMinutes * 60_000, toMs: NOW_MS - toMinutes * 60_000 },
      { nowMs: NOW_MS, embed: true, added: [] },
    ),
  );

/** The sum of the lines' values. */
function total(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
}

describe("A simulated network", () => {
  it("has no flow refused, none counted twice by overlapping windows, and keeps its bytes through the roll-up", async () => {
    const { intake, series } = openIntake({ flow: { metricsMode: "both", rollupTopN: 3 } });
    const windows = [flowsOf(30, 10), flowsOf(15, 2), flowsOf(30, 2)];
    for (const records of windows)
      expect((await intake.accept({ records, source: "poll" }, unhurried)).refused).toEqual({});
    intake.flush();
    const connections = flowsOf(30, 2).flatMap((each) =>
      ["virtualTraffic", "subnetTraffic", "exitTraffic", "physicalTraffic"].flatMap(
        (member) => (each[member] ?? []) as readonly Record<string, number>[],
      ),
    );
    expect(connections.length).toBeGreaterThan(50);
    expect(total(series("vpn.network.flows{"))).toBe(connections.length);
    const bytes = connections.reduce(
      (sum, { txBytes = 0, rxBytes = 0 }) => sum + txBytes + rxBytes,
      0,
    );
    expect([total(series("vpn.network.io{")), total(series("vpn.network.io.rollup{"))]).toEqual([
      bytes,
      bytes,
    ]);
    expect(series("vpn.network.io.rollup{").some((line) => line.includes('"__other__"'))).toBe(
      true,
    );
    expect(series("vpn.network.dedup")).toEqual([]);
  });

  it("has no audit event refused, and uses no word that is not known", async () => {
    const { scope, clock, series } = keepingScope();
    const log = memoryLog();
    const intake = createAuditIntake({
      options: { name: "corp.test", selfObservability: true },
      scope,
      clock,
      log,
      annotations: { publish: () => undefined },
      events: { record: () => undefined },
    });
    const records = logsOf(
      auditLogs(
        network,
        { fromMs: NOW_MS - 30 * 86_400_000, toMs: NOW_MS },
        { nowMs: NOW_MS, added: [] },
      ),
    );
    expect(records.length).toBeGreaterThan(5);
    const { accepted, refused } = await intake.accept({ records, source: "poll" }, unhurried);
    expect(refused).toEqual({});
    expect(accepted).toBe(total(series("vpn.config.audit.events{")));
    expect(log.lines).toEqual([]);
  });
});
