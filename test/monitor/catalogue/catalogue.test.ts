import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { familyName } from "../../../src/kernel/telemetry/exposition/naming.ts";
import { processMetricRows } from "../../../src/kernel/telemetry/report/service-metrics.ts";
import { catalogue } from "../../../src/kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../../src/kernel/telemetry/types.ts";
import {
  monitorMetrics,
  monitorRecords,
} from "../../../src/monitor/catalogue/monitor-catalogue.ts";

/**
 * Groups of the process that no catalogue of the monitor lists, and its own additions to what it does
 * list.
 */
const PROCESS_GROUPS: ReadonlySet<string> = new Set(["Gateway", "State", "Pool", "Jobs"]);
const ADDITIONS: ReadonlySet<string> = new Set([
  "svc.export.lost",
  "process.resident_memory",
  "process.open_fds",
  "process.max_fds",
  "process.start_time",
  "svc.coordination.epoch",
  "svc.coordination.held",
]);
/** Node has no value for them. */
const WITHOUT_VALUE: readonly string[] = [
  "svc.runtime.gc.next_target",
  "svc.runtime.memory.heap_objects",
  "svc.runtime.memory.stack_inuse",
];

type Fields = Readonly<Record<string, string>>;

/** Lines of a file with a head, values perhaps in quotes. */
function readCsv(file: string): Fields[] {
  const lines = readFileSync(new URL(file, import.meta.url), "utf8")
    .trim()
    .split("\n")
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "",
      ),
    );
  const [head = [], ...rows] = lines;
  return rows.map((row) => Object.fromEntries(head.map((name, index) => [name, row[index] ?? ""])));
}

const sorted = (rows: readonly Fields[]): Fields[] =>
  rows.toSorted((left, right) => ((left["name"] ?? "") < (right["name"] ?? "") ? -1 : 1));

describe("The catalogue of metrics", () => {
  const rows: readonly AnyRow[] = catalogue(processMetricRows, monitorMetrics).filter(
    ({ name, group }) => !PROCESS_GROUPS.has(group) && !ADDITIONS.has(name),
  );
  const told = readCsv("./metrics.csv");

  it("has every metric of the facts as they have it, and no other", () => {
    const instruments = {
      gauge: "gauge",
      counter: "counter",
      updown: "updowncounter",
      histogram: "histogram",
    } as const;
    const ours = rows.map((row) => ({
      name: row.name,
      instrument: instruments[row.kind],
      unit: row.unit,
      attributes: row.attributes.join("|"),
      group: row.group,
      exposition_name: familyName(row),
    }));
    const theirs = told.map(
      ({
        name = "",
        instrument = "",
        unit = "",
        attributes = "",
        group = "",
        exposition_name = "",
      }) => ({ name, instrument, unit, attributes, group, exposition_name }),
    );
    expect(told).toHaveLength(293);
    expect(sorted(ours)).toEqual(sorted(theirs));
  });

  it("says of the three that Node has no value for why there is none", () => {
    expect(
      rows
        .filter(({ when }) => when?.includes("Node does not") ?? false)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(WITHOUT_VALUE);
  });
});

describe("The catalogue of log records", () => {
  it("has every record of the facts as they have it, and no other; the webhook's stands for a family", () => {
    const ours = monitorRecords.map(({ name, group, attributes, severity, family }) => ({
      name: family ? `${name}.<type>` : name,
      group,
      attributes: attributes.join("|"),
      severity: severity.toUpperCase(),
    }));
    const theirs = readCsv("./records.csv").map(
      ({ name = "", group = "", attributes = "", severity = "" }) => ({
        name,
        group,
        attributes,
        severity: severity.split(/[ |(/]/, 1)[0] ?? "",
      }),
    );
    expect(theirs).toHaveLength(17);
    expect(sorted(ours)).toEqual(sorted(theirs));
  });
});
