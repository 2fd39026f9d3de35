import { describe, expect, it } from "vitest";
import { Instrument } from "../../../../src/gen/steward/monitor/v1/export_pb.ts";
import { defineMetric } from "../../../../src/kernel/telemetry/catalogue.ts";
import {
  monitorMetrics,
  monitorRecords,
} from "../../../../src/monitor/catalogue/monitor-catalogue.ts";
import { createCatalogueRows } from "../../../../src/monitor/status/rows/catalogue-rows.ts";

const processStatus = defineMetric({
  name: "svc.pool.threads",
  kind: "updown",
  unit: "{thread}",
  attributes: ["pool.name"],
  group: "House",
  help: "Threads of a pool.",
});
const rows = createCatalogueRows([...monitorMetrics, processStatus, processStatus], monitorRecords);

describe("the catalogue in the documents", () => {
  it("has every metric once, by name, as the text exposition calls it", () => {
    const metrics = rows.metrics(
      new Map([
        ["svc.pool.threads", 4],
        ["vpn.devices.count", 7],
      ]),
    );
    expect(metrics).toHaveLength(monitorMetrics.length + 1);
    expect(metrics.map(({ name }) => name)).toEqual(metrics.map(({ name }) => name).toSorted());
    expect(metrics.find(({ name }) => name === "svc.pool.threads")).toMatchObject({
      instrument: Instrument.UPDOWNCOUNTER,
      expositionName: "svc_pool_threads",
      attributes: ["pool_name"],
      unit: "{thread}",
      group: "House",
      description: "Threads of a pool.",
      series: 4,
    });
    expect(metrics.find(({ name }) => name === "vpn.devices.count")).toMatchObject({
      instrument: Instrument.GAUGE,
      expositionName: "vpn_devices_count_ratio",
      series: 7,
    });
    expect(metrics.filter(({ series }) => series > 0)).toHaveLength(2);
    expect(metrics.every(({ description, group }) => description !== "" && group !== "")).toBe(
      true,
    );
  });

  it("has every record, a family by its form, its severity in words where records differ, always as the same list", () => {
    expect(rows.logEvents).toHaveLength(monitorRecords.length);
    expect(rows.logEvents.find(({ name }) => name.startsWith("vpn.webhook."))).toMatchObject({
      name: "vpn.webhook.<type>",
      severity: "INFO / WARN by type",
    });
    expect(rows.logEvents.find(({ name }) => name === "vpn.config.audit")).toMatchObject({
      severity: "INFO (WARN when the event has an error)",
    });
    expect(rows.logEvents.find(({ name }) => name === "vpn.acl.risky_rule")).toMatchObject({
      severity: "WARN",
      attributes: ["vpn.acl.section", "vpn.acl.rule"],
      group: "ACL",
    });
    expect(rows.logEvents).toBe(rows.logEvents);
  });

  it("calls a metric that an agent invented by its own name", () => {
    expect([
      rows.expositionName("tailscaled_inbound_bytes_total"),
      rows.expositionName("an.other"),
      rows.expositionName("vpn.devices.count"),
    ]).toEqual(["tailscaled_inbound_bytes_total", "an_other", "vpn_devices_count_ratio"]);
  });
});
