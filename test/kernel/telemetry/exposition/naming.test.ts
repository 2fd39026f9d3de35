import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  familyName,
  labelName,
  labelNames,
} from "../../../../src/kernel/telemetry/exposition/naming.ts";
import type { Kind } from "../../../../src/kernel/telemetry/types.ts";

const contract = readFileSync(new URL("./exposition-names.csv", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .slice(1)
  .map((line) => line.split(",") as [string, string, string, string]);
const kinds: Readonly<Record<string, Kind>> = {
  gauge: "gauge",
  counter: "counter",
  updowncounter: "updown",
  histogram: "histogram",
};
const family = (name: string, unit: string, kind: Kind): string =>
  familyName({ name, unit, kind, verbatim: false });

describe("familyName", () => {
  it("gives every metric of the contract its exposition name", () => {
    expect(contract.length).toBeGreaterThan(290);
    const wrong = contract.filter(
      ([name, kind, unit, exposition]) => family(name, unit, kinds[kind] ?? "gauge") !== exposition,
    );
    expect(wrong).toEqual([]);
  });

  it.each([
    ["api.calls", "1", "counter", "api_calls_total"],
    ["bytes.total", "By", "counter", "bytes_total"],
    ["hit", "1", "gauge", "hit_ratio"],
    ["export.duration", "s", "histogram", "export_duration_seconds"],
    ["lat", "ms", "gauge", "lat_milliseconds"],
    ["pct", "%", "gauge", "pct_percent"],
    ["bandwidth", "By/s", "gauge", "bandwidth_bytes_per_second"],
    ["devices", "{device}", "gauge", "devices"],
    ["uptime.seconds", "s", "gauge", "uptime_seconds"],
    ["svc.jobs_total", "{job}", "counter", "svc_jobs_total"],
    ["total.things", "1", "counter", "things_total"],
    ["a.ratio.b", "1", "gauge", "a_b_ratio"],
    ["in.flight", "1", "updown", "in_flight"],
    ["size", "1", "histogram", "size"],
    ["2fast", "", "gauge", "_2fast"],
    ["a..b--c", "", "gauge", "a_b_c"],
  ] as const)("makes of %s in %s (%s) %s", (name, unit, kind, expected) => {
    expect(family(name, unit, kind)).toBe(expected);
  });

  it("leaves a verbatim name as it is", () => {
    expect(
      familyName({ name: "paperless_documents_total", unit: "1", kind: "gauge", verbatim: true }),
    ).toBe("paperless_documents_total");
  });

  it("gives a valid name for any name with a letter in it, and none of its words twice at the end", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        fc.string(),
        fc.constantFrom<Kind>("gauge", "counter", "updown", "histogram"),
        (rest, unit, kind) => {
          const name = family(`x${rest}`, unit, kind);
          expect(name).toMatch(/^[a-zA-Z_:][a-zA-Z0-9_:]*$/);
          expect(name).not.toMatch(/_total_total$|_ratio_ratio$/);
          expect(name.endsWith("_total")).toBe(
            kind === "counter" ||
              (name.endsWith("_total") && kind !== "gauge") ||
              `x${rest}${unit}`.includes("total"),
          );
        },
      ),
    );
  });
});

describe("labelNames", () => {
  it("maps attributes to labels, the one already spelt so first, and leaves out what a target or a constant owns", () => {
    expect(labelName("2x.y-z")).toBe("_2x_y_z");
    expect([
      ...labelNames(
        ["host.name", "host_name", "a.b", "a-b", "service.name", "job", "vpn.network"],
        ["vpn_network"],
      ),
    ]).toEqual([
      ["a-b", "a_b"],
      ["host_name", "host_name"],
    ]);
  });

  it("never gives one label to two attributes", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ minLength: 1 })), (attributes) => {
        const labels = [...labelNames(attributes).values()];
        expect(new Set(labels).size).toBe(labels.length);
      }),
    );
  });
});
