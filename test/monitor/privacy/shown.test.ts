import { describe, expect, it } from "vitest";
import { processResource } from "../../../src/kernel/telemetry/resource.ts";
import { createTelemetryWriter } from "../../../src/kernel/telemetry/writer/writer.ts";
import type { SeriesScope } from "../../../src/kernel/telemetry/writer/scope.ts";
import { piiFilterCategory } from "../../../src/monitor/catalogue/publishing.ts";
import { createRedaction } from "../../../src/monitor/privacy/redaction.ts";
import { reportPrivacy } from "../../../src/monitor/privacy/report.ts";
import { networkInstanceId, networkShown } from "../../../src/monitor/privacy/shown.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";
import { categories, hiding } from "./fixtures.ts";

describe("What is on everything", () => {
  it("shows the network's name unless that is hidden, also as part of an instance's id", () => {
    expect([networkShown(hiding()), networkShown(hiding("network_name"))]).toEqual([true, false]);
    expect(networkInstanceId("host", "corp.test", hiding("hostnames"))).toBe("host/corp.test");
    const hashed = networkInstanceId("host", "corp.test", hiding("network_name"));
    expect(hashed).toMatch(/^host\/[0-9a-f]{12}$/);
    expect(networkInstanceId("host", "lab.test", hiding("network_name"))).not.toBe(hashed);
  });

  it("takes the host's name from the resource", () => {
    expect(
      processResource({ version: "1.2.3", hostnames: hiding("hostnames").hostnames }),
    ).not.toHaveProperty(["host.name"]);
    expect(processResource({ version: "1.2.3", hostnames: hiding().hostnames })).toHaveProperty([
      "host.name",
    ]);
  });
});

describe("The report of privacy", () => {
  it("says of each category whether it is exported, and is itself never hidden", () => {
    const options = hiding(...categories.filter((name) => name !== "emails"));
    const redact = createRedaction(options);
    const scope = createTelemetryWriter({ clock: createManualClock() }).scope({
      name: "process",
      resource: {},
      constants: {},
      ...(redact && { redact }),
    }) as SeriesScope;
    const report = reportPrivacy(scope, options);
    scope.snapshot(() => undefined);
    expect(scope.series(piiFilterCategory)).toBe(14);
    const values = [...scope.table.indexes()].flatMap((index) =>
      [...index.numbers()].map((number) => scope.table.columns.value[number]),
    );
    expect(values.filter((value) => value === 1)).toHaveLength(1);
    report[Symbol.dispose]();
  });
});
