import fs from "node:fs";
import { open } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../../src/kernel/base/clock.ts";
import { reportComponents } from "../../../../src/kernel/telemetry/report/service-report.ts";
import { softLimit, watchOpenFiles } from "../../../../src/kernel/telemetry/report/open-files.ts";
import {
  reportProcess,
  watchThreads,
} from "../../../../src/kernel/telemetry/report/runtime-report.ts";
import type { Row } from "../../../../src/kernel/telemetry/types.ts";
import * as self from "../../../../src/kernel/telemetry/report/self-metrics.ts";
import { parseExposition } from "../exposition-parser.ts";
import { scrape, spec, startTelemetry } from "../fixtures.ts";
import type { SeriesScope } from "../../../../src/kernel/telemetry/writer/scope.ts";
import { createTelemetryWriter } from "../../../../src/kernel/telemetry/writer/writer.ts";
import { familyName } from "../../../../src/kernel/telemetry/exposition/naming.ts";

describe("The report of the runtime", () => {
  it("shows memory, collections and threads, and makes up nothing for what Node does not know", async () => {
    await using telemetry = await startTelemetry({ pull: true });
    const scope = telemetry.scope(spec());
    using _report = reportProcess(scope, { version: "1" });
    using _components = reportComponents(scope, () => [{ name: "gateway", errors: 2 }]);
    const made: object[] = [];
    // Enough for some collections of the young generation.
    for (let index = 0; index < 2_000_000; index++)
      if (made.push({ index }) > 1_000) made.length = 0;
    await telemetry.flush(30_000);
    const { samples } = parseExposition(await scrape(telemetry));
    const value = (row: Row<never, "gauge" | "counter">) =>
      samples.find(({ name }) => name === familyName(row))?.value;
    expect(value(self.memoryAlloc)).toBeGreaterThan(1_000_000);
    expect(value(self.heapInuse)).toBeGreaterThan(1_000_000);
    expect(value(self.gcCpuFraction)).toBeLessThanOrEqual(1);
    expect(value(self.workers)).toBeGreaterThanOrEqual(1);
    expect(samples).toContainEqual({
      name: "svc_component_errors_total",
      labels: { component: "gateway" },
      value: 2,
    });
    expect([self.heapObjects, self.stackInuse, self.gcNextTarget].map(value)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("shows resident memory, start and uptime of the process, which agree with each other", async () => {
    await using telemetry = await startTelemetry({ pull: true });
    using _report = reportProcess(telemetry.scope(spec()), { version: "1" });
    await telemetry.flush(30_000);
    const { samples } = parseExposition(await scrape(telemetry));
    const value = (name: string): number =>
      samples.find((sample) => sample.name === name)?.value ?? Number.NaN;
    expect(value("process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
    expect(
      Math.abs(
        value("process_start_time_seconds") + value("process_uptime_seconds") - Date.now() / 1_000,
      ),
    ).toBeLessThan(60);
  });

  it.skipIf(process.platform !== "linux")(
    "follows the files that are open, and shows how many may be",
    async () => {
      const before = watchOpenFiles()?.count() ?? Number.NaN;
      const files = await Promise.all(Array.from({ length: 5 }, () => open(import.meta.filename)));
      expect((watchOpenFiles()?.count() ?? Number.NaN) - before).toBe(5);
      for (const file of files) await file.close();
      expect(watchOpenFiles()?.count()).toBe(before);
      await using telemetry = await startTelemetry({ pull: true });
      using _report = reportProcess(telemetry.scope(spec()), { version: "1" });
      await telemetry.flush(30_000);
      const { samples } = parseExposition(await scrape(telemetry));
      expect(samples.find(({ name }) => name === "process_open_fds")?.value).toBeGreaterThan(3);
      expect(
        softLimit(
          "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 524288               files     \n",
        ),
      ).toBe(1_024);
      expect(
        softLimit(
          "Max open files            unlimited            unlimited            files     \n",
        ),
      ).toBeUndefined();
    },
  );

  it.skipIf(process.platform !== "linux")(
    "leaves out the resident memory while no file can be opened, counts all files as open, and shows everything else",
    () => {
      const scope = createTelemetryWriter({ clock: systemClock }).scope(spec()) as SeriesScope;
      using _report = reportProcess(scope, { version: "1" });
      const shown = (): readonly string[] => {
        scope.snapshot(() => undefined);
        return scope
          .cardinality()
          .metrics.filter(({ series }) => series > 0)
          .map(({ name }) => name)
          .toSorted();
      };
      const before = shown();
      const watched = watchOpenFiles();
      const restore = useUpFiles();
      const during = shown();
      const files = watched?.count();
      restore();
      expect(before.filter((name) => !during.includes(name))).toEqual([
        "process.resident_memory",
        "svc.runtime.memory.sys",
      ]);
      expect(during).toContain("svc.runtime.memory.heap_alloc");
      expect(files).toBe(watched?.limit);
      expect(scope.cardinality().refused.invalid).toBe(0);
      expect(shown()).toEqual(before);
    },
  );

  it("counts threads while they live", async () => {
    using threads = watchThreads();
    const worker = new Worker("setInterval(() => {}, 1000)", { eval: true });
    await new Promise((resolve) => worker.once("online", resolve));
    expect(threads.count()).toBe(2);
    await worker.terminate();
    expect(threads.count()).toBe(1);
  });
});

/** From now on reading /proc fails, until the returned function is called or the test ends. */
function useUpFiles(): () => void {
  const { memoryUsage } = process;
  const { readdirSync } = fs;
  const fail = (): never => {
    throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
  };
  const restore = (): void => {
    process.memoryUsage = memoryUsage;
    fs.readdirSync = readdirSync;
    syncBuiltinESMExports();
  };
  onTestFinished(restore);
  process.memoryUsage = Object.assign(fail, { rss: fail });
  fs.readdirSync = fail;
  syncBuiltinESMExports();
  return restore;
}
