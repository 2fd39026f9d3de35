import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { reportComponents } from "../../../src/kernel/telemetry/house-report.ts";
import { reportProcess, watchThreads } from "../../../src/kernel/telemetry/runtime-report.ts";
import type { Row } from "../../../src/kernel/telemetry/types.ts";
import * as self from "../../../src/kernel/telemetry/self-metrics.ts";
import { parseExposition } from "./exposition-parser.ts";
import { scrape, spec, startTelemetry } from "./fixtures.ts";
import { familyName } from "../../../src/kernel/telemetry/exposition/naming.ts";

describe("The report of the runtime", () => {
  it("shows memory, collections and threads, and makes up nothing for what Node does not know", async () => {
    await using telemetry = await startTelemetry({ pull: true });
    const scope = telemetry.scope(spec());
    using _report = reportProcess(scope, { version: "1" });
    using _components = reportComponents(scope, () => [{ name: "gateway", errors: 2 }]);
    const made: object[] = [];
    // Enough for some collections of the young generation.
    for (let index = 0; index < 2_000_000; index++) if (made.push({ index }) > 1_000) made.length = 0;
    await telemetry.flush(5_000);
    const { samples } = parseExposition(await scrape(telemetry));
    const value = (row: Row<never, "gauge" | "counter">) => samples.find(({ name }) => name === familyName(row))?.value;
    expect(value(self.memoryAlloc)).toBeGreaterThan(1_000_000);
    expect(value(self.heapInuse)).toBeGreaterThan(1_000_000);
    expect(value(self.gcCpuFraction)).toBeLessThanOrEqual(1);
    expect(value(self.workers)).toBeGreaterThanOrEqual(1);
    expect(samples).toContainEqual({ name: "svc_component_errors_total", labels: { component: "gateway" }, value: 2 });
    expect([self.heapObjects, self.stackInuse, self.gcNextTarget].map(value)).toEqual([undefined, undefined, undefined]);
  });

  it("counts threads while they live", async () => {
    using threads = watchThreads();
    const worker = new Worker("setInterval(() => {}, 1000)", { eval: true });
    await new Promise((resolve) => worker.once("online", resolve));
    expect(threads.count()).toBe(2);
    await worker.terminate();
    expect(threads.count()).toBe(1);
  });
});
