import { expect, it } from "vitest";
import { documentsCount, syncInterval } from "../../../src/dedup/telemetry/metrics.ts";
import { createDedupReport } from "../../../src/dedup/telemetry/report.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import type { Scope } from "../../../src/kernel/telemetry/types.ts";

it("figures in memory are measured while the store cannot be read", () => {
  const measured = new Map<unknown, number>();
  let observe = (): void => undefined;
  const scope = {
    add: () => undefined,
    gauge: (row: unknown, value: number) => measured.set(row, value),
    observe(run: () => void) {
      observe = run;
      return { [Symbol.dispose]: () => undefined };
    },
  } as unknown as Scope;
  createDedupReport({ scope, tracing: undefined }, { ai: false }).observe({
    documents: () => 7,
    pendingGroups: () => 0,
    lastSyncAtMs: () => {
      throw new StewardError("not_ready", "dedup.mdb is closed after a failed write");
    },
    syncIntervalMs: 60_000,
    archives: () => [],
    pendingResults: () => undefined,
  });
  observe();
  expect([measured.get(documentsCount), measured.get(syncInterval)]).toEqual([7, 60]);
});
