import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ExpositionCheck,
  type ExpositionReport,
} from "../../../../src/kernel/telemetry/exposition/check.ts";
import {
  escapeHelp,
  escapeLabelValue,
  formatValue,
  type ExpositionFormat,
} from "../../../../src/kernel/telemetry/exposition/text.ts";
import { duration, inFlight, level, requests, scrape, spec, startTelemetry } from "../fixtures.ts";

const promtool = spawnSync("promtool", ["--version"]).status === 0;
if (!promtool)
  process.stderr.write(
    "skipped: promtool is not on this machine, so the check was not held against it\n",
  );

/** The text in pieces of a few bytes, so that lines and characters are cut. */
function check(
  text: string | Uint8Array,
  format: ExpositionFormat = "text",
  piece = 7,
): ExpositionReport {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const under = new ExpositionCheck(format);
  for (let from = 0; from < bytes.length; from += piece)
    under.add(bytes.subarray(from, from + piece));
  return under.end();
}

function errors(text: string, format: ExpositionFormat = "text"): string[] {
  return check(text, format).errors.map(
    ({ class: kind, metric = "", message }) => `${kind} ${metric}: ${message}`,
  );
}

const HISTOGRAM =
  '# TYPE h histogram\nh_bucket{a="1",le="1"} 2\nh_bucket{a="1",le="+Inf"} 3\nh_sum{a="1"} 4\nh_count{a="1"} 3\n';

describe("The check of an exposition", () => {
  it("counts families, samples and bytes of what is sound", () => {
    const text = `# HELP up Whether.\n# TYPE up gauge\nup 1\n# TYPE c_total counter\nc_total{a="é\\n\\"\\\\"} 2\n${HISTOGRAM}`;
    expect(check(text)).toEqual({
      families: 3,
      series: 6,
      bytes: Buffer.byteLength(text),
      errors: [],
    });
  });

  it.each<[string, string]>([
    [
      '# TYPE x gauge\nx{a="1",b="2"} 1\nx{b="2",a="1"} 2\n',
      "duplicate_series x: two samples have the same labels (a, b)",
    ],
    ["# TYPE x gauge\nx 1\nx 2\n", "duplicate_series x: two samples have the same labels (none)"],
    [
      '# TYPE x gauge\nx{a="1",a="2"} 1\n',
      "label_inconsistent x: a label occurs twice in one sample",
    ],
    [
      '# TYPE x gauge\nx{__name__="y"} 1\n',
      "label_inconsistent x: a label begins with __, which is reserved",
    ],
    ["# TYPE x gauge\n# TYPE x counter\nx 1\n", "type_mismatch x: TYPE comes twice"],
    ["# TYPE x wave\nx 1\n", "type_mismatch x: the type is unknown"],
    ['x 1\nx{a="2"} 1\n', "type_mismatch x: the family has no TYPE"],
    ["# TYPE x histogram\nx 1\n", "type_mismatch x: a sample of a histogram cannot have this name"],
    ["# TYPE x counter\nx -1\n", "other x: a counter is negative or not a number"],
    [
      "# TYPE x gauge\nx 1\n# TYPE y gauge\ny 1\n# HELP x Late.\n",
      "other x: the lines of a family are not together",
    ],
    ["# TYPE x gauge\nx 1\n# HELP x Late.\n", "other x: HELP comes after samples"],
    [
      "# TYPE x gauge\nx{a=1} 1\n",
      "other x: a line is not a sample: name, labels, quotes or value are invalid",
    ],
    [
      "# TYPE x gauge\nx one\n",
      "other x: a line is not a sample: name, labels, quotes or value are invalid",
    ],
    ["# TYPE 1x gauge\n", "other : a line with # is not HELP, TYPE or UNIT of a metric"],
    ["# TYPE x gauge\nx 1", "other : the last line has no line feed"],
    [HISTOGRAM.replace(',le="1"', ""), "label_inconsistent h: a bucket has no le"],
    [
      HISTOGRAM.replace("h_sum{", 'h_sum{le="1",'),
      "label_inconsistent h: le is allowed only on buckets",
    ],
    [
      HISTOGRAM.replace("} 3\nh_sum", "} 1\nh_sum").replace('_count{a="1"} 3', '_count{a="1"} 1'),
      "other h: the buckets of a histogram are not cumulative",
    ],
    [HISTOGRAM.replace("+Inf", "0.5"), "other h: the buckets of a histogram do not ascend"],
    [HISTOGRAM.replace("+Inf", "2"), "other h: a histogram has no bucket +Inf"],
    [
      HISTOGRAM.replace('_count{a="1"} 3', '_count{a="1"} 4'),
      "other h: the count of a histogram differs from its last bucket",
    ],
  ])("finds what is wrong in %j", (text, error) => {
    expect(errors(text)).toContain(error);
  });

  it("holds OpenMetrics to its own rules", () => {
    expect(
      errors('# TYPE c counter\nc_total 1\n# TYPE t info\nt_info{a="1"} 1\n# EOF\n', "openmetrics"),
    ).toEqual([]);
    expect(errors("# TYPE c counter\nc_total 1\n", "openmetrics")).toEqual([
      "other : there is no # EOF at the end",
    ]);
    expect(errors("# TYPE c counter\nc 1\n# EOF\n", "openmetrics")).toEqual([
      "type_mismatch c: a sample of a counter cannot have this name",
    ]);
    expect(errors("# EOF\n# TYPE c counter\n", "openmetrics")).toEqual([
      "other : something follows # EOF",
    ]);
    expect(errors("\n# EOF\n", "openmetrics")).toEqual(["other : there is an empty line"]);
    expect(errors("# TYPE t info\nt_info 2\n# EOF\n", "openmetrics")).toEqual([
      "other t: an info is not 1",
    ]);
  });

  it("knows exemplars, which OpenMetrics has at buckets and counters, with labels of up to 128 characters", () => {
    const exemplar =
      ' # {trace_id="0af7651916cd43dd8448eb211c80319c",span_id="b7ad6b7169203331"} 0.5 1700000000.123';
    const sum = 'h_sum{a="1"} 4';
    const openly = (text: string): string[] => errors(`${text}# EOF\n`, "openmetrics");
    const marked = (text: string, mark: string): string =>
      text.replace('le="1"} 2', `le="1.0"} 2${mark}`);
    expect(openly(marked(HISTOGRAM, exemplar))).toEqual([]);
    expect(openly(marked(HISTOGRAM, " # {} 0.5"))).toEqual([]);
    expect(openly(`# TYPE c counter\nc_total 1${exemplar}\n`)).toEqual([]);
    expect(openly(HISTOGRAM.replace('le="1"', 'le="1.0"').replace(sum, sum + exemplar))).toEqual([
      "other h_sum: there is an exemplar on a sample that is neither a bucket nor a counter",
    ]);
    expect(openly(marked(HISTOGRAM, ` # {a="${"x".repeat(127)}"} 0.5`))).toEqual([]);
    expect(openly(marked(HISTOGRAM, ` # {a="${"x".repeat(128)}"} 0.5`))).toEqual([
      "other h_bucket: the labels of an exemplar are longer than 128 characters",
    ]);
    for (const broken of [
      " # {",
      ' # {a="1"',
      ' # {a="1"}',
      ' # {a="1"} x',
      `${exemplar}${exemplar}`,
      `${exemplar} # {`,
      " # a",
    ]) {
      expect(openly(marked(HISTOGRAM, broken))[0], broken).toBe(
        "other h_bucket: a line is not a sample: name, labels, quotes or value are invalid",
      );
    }
    expect(errors(HISTOGRAM.replace('le="1"} 2', `le="1"} 2${exemplar}`))).toEqual([
      "other h_bucket: there is an exemplar, which the text format does not support",
    ]);
  });

  it("tells bytes that are not UTF-8, in the middle and at the end", () => {
    const text = new TextEncoder().encode('# TYPE x gauge\nx{a="é"} 1\n');
    const at = text.indexOf(0xc3);
    expect(check(text.with(at + 1, 0x20)).errors).toEqual([
      { class: "other", metric: undefined, message: "the text is not UTF-8" },
    ]);
    expect(check(text.subarray(0, at + 1)).errors).toEqual([
      { class: "other", metric: undefined, message: "the text is not UTF-8" },
    ]);
  });

  it("keeps a hundred errors and no values of labels", () => {
    const { errors: found } = check(
      `# TYPE x gauge\n${'x{a="secret"} 1\n'.repeat(500)}`,
      "text",
      4096,
    );
    expect(found).toHaveLength(100);
    expect(JSON.stringify(found)).not.toContain("secret");
  });

  it("accepts whatever is written by the rules, in any pieces, and reads equal labels in any order as one series", () => {
    const series = fc.uniqueArray(
      fc.tuple(fc.string({ unit: "binary" }), fc.string({ unit: "binary" })),
      { selector: ([a, b]) => JSON.stringify([a.toWellFormed(), b.toWellFormed()]), minLength: 1 },
    );
    fc.assert(
      fc.property(
        series,
        fc.string({ unit: "binary" }),
        fc.double(),
        fc.integer({ min: 1, max: 50 }),
        (rows, help, value, piece) => {
          const head = `# HELP x ${escapeHelp(help, "text")}\n# TYPE x gauge\n`;
          const line = (labels: readonly string[]): string =>
            `x{${labels.join(",")}} ${formatValue(value)}\n`;
          const pairs = rows.map(([a, b]) => [
            `a="${escapeLabelValue(a)}"`,
            `b="${escapeLabelValue(b)}"`,
          ]);
          const text = head + pairs.map(line).join("");
          expect(check(text, "text", piece)).toEqual({
            families: 1,
            series: rows.length,
            bytes: Buffer.byteLength(text),
            errors: [],
          });
          const twice = check(text + line((pairs[0] ?? []).toReversed()), "text", piece);
          expect(twice.errors.map(({ class: kind }) => kind)).toEqual(["duplicate_series"]);
        },
      ),
    );
  });

  it("never throws, whatever the bytes", () => {
    const line = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.constantFrom(
        "# TYPE x histogram",
        "# TYPE x counter",
        "# HELP x y",
        'x_bucket{le="1"} 1',
        "x 1",
        'x{a="',
        "# EOF",
        "",
      ),
    );
    fc.assert(
      fc.property(
        fc.array(line),
        fc.constantFrom<ExpositionFormat>("text", "openmetrics"),
        (lines, format) => {
          const { errors: found, series } = check(lines.join("\n"), format);
          expect(found.length).toBeLessThanOrEqual(100);
          expect(series).toBeGreaterThanOrEqual(0);
        },
      ),
    );
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        check(bytes);
      }),
    );
  });
});

describe("The check and the renderer", () => {
  it("agree on every kind of metric, in both formats", async () => {
    await using telemetry = await startTelemetry({ pull: true });
    for (const name of ["one", "two"]) {
      const scope = telemetry.scope(spec(name, { constants: { network: name } }));
      for (let each = 0; each < 3; each += 1) {
        scope.add(requests, each, { route: `/é\n"\\${each}` });
        scope.gauge(level, each, { "host.name": `${each}`, state: undefined });
        scope.add(inFlight, -each, {});
        scope.record(duration, each, { route: "/" });
      }
    }
    for (const format of ["text", "openmetrics"] as const) {
      const report = check(await scrape(telemetry, { format }), format, 100);
      expect(report.errors).toEqual([]);
      expect(report.series).toBeGreaterThan(20);
    }
  });

  it.skipIf(!promtool)("refuse what Prometheus' own checker refuses", () => {
    const judged = (text: string): boolean =>
      spawnSync("promtool", ["check", "metrics"], { input: text }).status !== 1;
    const sound = `# HELP up Whether.\n# TYPE up gauge\nup 1\n`;
    for (const text of [
      sound,
      sound + HISTOGRAM.replace("# TYPE", "# HELP h A histogram.\n# TYPE"),
    ])
      expect([errors(text), judged(text)]).toEqual([[], true]);
    for (const text of [
      `${sound}up{a=1} 1\n`,
      "# TYPE x wave\nx 1\n",
      "# HELP x a\n# TYPE x gauge\n# TYPE x counter\nx 1\n",
      `${sound}up one\n`,
      "# TYPE x gauge\nx 1",
    ]) {
      expect([text, errors(text).length > 0, judged(text)]).toEqual([text, true, false]);
    }
  });
});
