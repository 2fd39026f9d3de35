/**
 * Everything that the daemon tells of simulated networks with fixed seeds, on a clock that stands:
 * the whole exposition, the whole OTLP requests and the whole status, line by line.
 * `STEWARD_TEST_GOLDEN=1` writes the files in `golden/` anew; what changed in them is then to be
 * read, line by line too. What is not compared stands in `golden/normalise.ts`.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { familyName, labelName } from "../../src/kernel/telemetry/exposition/naming.ts";
import { parseExposition, type Document } from "../kernel/telemetry/exposition-parser.ts";
import { STAGE_BEGINS_MS } from "../monitor/stage.ts";
import type { ReceivedPoint } from "../support/otlp/decode.ts";
import { removeTemporaryFolders } from "./daemon.ts";
import { ABSENT, CATALOGUE, ONLY_PUSHED } from "./golden/absent.ts";
import {
  isVarying,
  named,
  normaliseExposition,
  normaliseLogs,
  normaliseMetrics,
  normaliseStatus,
} from "./golden/normalise.ts";
import { runGolden, type GoldenRun } from "./golden/run.ts";
import { SCENES, type SceneName } from "./golden/scenes.ts";

/** What is read of the status. */
interface StatusFacts {
  readonly metrics: readonly {
    readonly name: string;
    readonly exposition_name: string;
    readonly series?: number;
  }[];
  readonly networks: readonly {
    readonly name: string;
    readonly device_cache: { readonly devices: number };
    readonly collectors: readonly {
      readonly name: string;
      readonly runs: number;
      readonly last_success: boolean;
      readonly last_duration_ms: number;
    }[];
    readonly api: {
      readonly endpoints: readonly {
        readonly endpoint: string;
        readonly requests: number;
        readonly retries: number;
      }[];
    };
  }[];
}

const rewrite = process.env["STEWARD_TEST_GOLDEN"] === "1";
const folder = join(import.meta.dirname, "golden");
/** So many differing lines are shown. */
const SHOWN = 20;

afterAll(removeTemporaryFolders);

const runs = new Map<SceneName, GoldenRun>();
beforeAll(async () => {
  for (const scene of SCENES) runs.set(scene, await runGolden(scene));
});

function runOf(scene: SceneName): GoldenRun {
  const run = runs.get(scene);
  if (run === undefined) throw new Error(`the scene ${scene} did not run`);
  return run;
}

/** Compares whole texts; a difference is shown by its lines, since the texts are long. */
function compare(scene: SceneName, file: string, text: string): void {
  const path = join(folder, `${scene}.${file}`);
  const told = named(text, runOf(scene).names);
  if (rewrite) writeFileSync(path, told);
  const golden = readFileSync(path, "utf8");
  const [expected, found] = [new Set(golden.split("\n")), new Set(told.split("\n"))];
  const only = (lines: Set<string>, others: Set<string>): string[] =>
    [...lines].filter((line) => !others.has(line)).slice(0, SHOWN);
  expect({ missing: only(expected, found), unexpected: only(found, expected) }, path).toEqual({
    missing: [],
    unexpected: [],
  });
  expect(told === golden, `${path}: the lines are the same, in another order or number`).toBe(true);
}

describe.each(SCENES)("what the daemon tells of the scene %s", (scene) => {
  it("is this exposition", () => {
    compare(scene, "exposition.txt", normaliseExposition(runOf(scene).exposition));
  });

  it("is these OTLP requests of metrics", () => {
    compare(scene, "metrics.txt", normaliseMetrics(runOf(scene).points, STAGE_BEGINS_MS));
  });

  it("is these OTLP log records", () => {
    compare(scene, "logs.txt", normaliseLogs(runOf(scene).logs, STAGE_BEGINS_MS));
  });

  it("is this status", () => {
    compare(scene, "status.json", normaliseStatus(runOf(scene).status));
  });
});

describe("the catalogue and what is told", () => {
  const expositions = (): Document[] =>
    SCENES.map((scene) => parseExposition(runOf(scene).exposition));
  const points = (): ReceivedPoint[] => SCENES.flatMap((scene) => runOf(scene).points.flat());
  const listed = (list: Readonly<Record<string, readonly string[]>>): string[] =>
    Object.values(list).flat();

  it("each row is told by a scene, or is listed as absent with a reason", () => {
    const families = new Set(expositions().flatMap(({ types }) => [...types.keys()]));
    const pushed = new Set(points().map(({ metric }) => metric));
    const rows = [...CATALOGUE.values()];
    expect(
      rows
        .filter((row) => !families.has(familyName(row)))
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual([...listed(ABSENT), ...listed(ONLY_PUSHED)].toSorted());
    expect(
      rows
        .filter(({ name }) => !pushed.has(name))
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(listed(ABSENT).toSorted());
    expect(new Set(listed(ABSENT)).size).toBe(listed(ABSENT).length);
  });

  it("kind, unit and help are the row's in each form, and no label is none of its own", () => {
    const constants = ["vpn.network", "svc.provider"];
    for (const {
      metric,
      kind,
      monotonic,
      unit,
      description,
      attributes,
      sentAs,
      histogram,
    } of points()) {
      expect([metric, sentAs]).toEqual([metric, histogram === undefined ? "double" : undefined]);
      const row = CATALOGUE.get(metric);
      if (row === undefined) {
        expect(metric).toMatch(/^tailscaled_/);
        continue;
      }
      const kinds = {
        counter: ["sum", true],
        updown: ["sum", false],
        gauge: ["gauge", false],
        histogram: ["histogram", false],
      } as const;
      expect({ metric, kind: [kind, monotonic], unit, description }).toEqual({
        metric,
        kind: kinds[row.kind],
        unit: row.unit,
        description: row.help,
      });
      expect(
        Object.keys(attributes).filter(
          (name) => !row.attributes.includes(name) && !constants.includes(name),
        ),
        metric,
      ).toEqual([]);
    }
    const rows = new Map([...CATALOGUE.values()].map((row) => [familyName(row), row]));
    for (const { types, helps } of expositions()) {
      for (const [family, type] of types) {
        const row = rows.get(family);
        if (row !== undefined)
          expect([family, type, helps.get(family)]).toEqual([
            family,
            row.kind === "updown" ? "gauge" : row.kind,
            row.help,
          ]);
      }
    }
  });
});

describe.each(SCENES)("the forms of the scene %s agree", (scene) => {
  const series = (name: string, labels: Readonly<Record<string, unknown>>): string => {
    const sorted = Object.keys(labels).toSorted();
    return `${name} ${sorted.map((label) => `${label}=${JSON.stringify(String(labels[label]))}`).join(" ")}`;
  };
  const forwarded = (metric: string): boolean => metric.startsWith("tailscaled_");
  /** What the pull, the status and the stop themselves change. */
  const changing = (metric: string): boolean =>
    isVarying(metric) ||
    /^svc\.(gateway|metrics\.scrape|series|export|processor|log)\./.test(metric);

  /** What a point is in the exposition: suffix, further labels, value. Buckets count up there. */
  function samplesOf({
    value,
    histogram,
  }: ReceivedPoint): [suffix: string, more: Readonly<Record<string, string>>, value: number][] {
    if (histogram === undefined) return [["", {}, value]];
    let below = 0;
    const buckets = histogram.counts.map(
      (count, index): [string, Record<string, string>, number] => {
        below += count;
        return [
          "_bucket",
          { le: String(histogram.bounds[index] ?? Number.POSITIVE_INFINITY) },
          below,
        ];
      },
    );
    return [...buckets, ["_sum", {}, histogram.sum], ["_count", {}, histogram.count]];
  }

  it("each series is told once, and each sample of the exposition is a point with the same value", () => {
    const { points, exposition } = runOf(scene);
    const samples = new Map<string, number>();
    for (const { name, labels, value } of parseExposition(exposition).samples) {
      const bound =
        labels["le"] === undefined
          ? {}
          : { le: String(Number(labels["le"].replace("+Inf", "Infinity"))) };
      const key = series(name, { ...labels, ...bound });
      expect(samples.has(key), key).toBe(false);
      samples.set(key, value);
    }
    const differing: string[] = [];
    for (const point of points.flat()) {
      const row = CATALOGUE.get(point.metric);
      if (changing(point.metric) || (row === undefined && !forwarded(point.metric))) continue;
      const family = row === undefined ? point.metric : familyName(row);
      const labels = Object.fromEntries(
        Object.entries(point.attributes).map(([name, value]) => [labelName(name), value]),
      );
      for (const [suffix, more, value] of samplesOf(point)) {
        const key = series(`${family}${suffix}`, { ...labels, ...more });
        const pulled = samples.get(key);
        if (pulled !== value) differing.push(`${key}: ${pulled} pulled, ${value} pushed`);
      }
    }
    expect(differing.slice(0, SHOWN)).toEqual([]);
  });

  it("the status counts the series, devices, runs and calls that the exposition tells", () => {
    const { exposition } = runOf(scene);
    const status = runOf(scene).status as StatusFacts;
    const { samples, types } = parseExposition(exposition);
    const counted = new Map<string, number>();
    for (const { name } of samples) {
      const family = types.has(name) ? name : name.replace(/_count$/, "");
      if (types.has(family)) counted.set(family, (counted.get(family) ?? 0) + 1);
    }
    const known = status.metrics.filter(({ name }) => !changing(name));
    expect(known.map(({ exposition_name: family, series = 0 }) => [family, series])).toEqual(
      known.map(({ exposition_name: family }) => [family, counted.get(family) ?? 0]),
    );
    const of = (name: string, labels: Readonly<Record<string, string>>): number => {
      const wanted = Object.entries(labels);
      const found = samples.filter(
        (sample) =>
          sample.name === name && wanted.every(([label, value]) => sample.labels[label] === value),
      );
      return found.reduce((sum, { value }) => sum + value, 0);
    };
    for (const { name: network, device_cache: cache, collectors, api } of status.networks) {
      expect([network, cache.devices]).toEqual([
        network,
        of("vpn_devices_count_ratio", { vpn_network: network }),
      ]);
      for (const { name, runs, last_success: good, last_duration_ms: tookMs } of collectors) {
        const labels = { vpn_network: network, vpn_collector: name };
        expect([network, name, { runs, good: Number(good), tookMs }]).toEqual([
          network,
          name,
          {
            runs: of("svc_scrape_duration_histogram_seconds_count", labels),
            good: of("svc_scrape_success_ratio", labels),
            tookMs: Math.round(of("svc_scrape_duration_seconds", labels) * 1_000),
          },
        ]);
      }
      for (const { endpoint, requests, retries } of api.endpoints) {
        const labels = { vpn_network: network, endpoint };
        expect([network, endpoint, requests, retries]).toEqual([
          network,
          endpoint,
          of("svc_api_requests_total", labels),
          of("svc_api_retries_total", labels),
        ]);
      }
    }
  });
});
