import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  ExpositionReader,
  linesOf,
  type Sample,
} from "../../../src/monitor/nodemetrics/exposition.ts";

function read(text: string): { samples: Sample[]; skipped: number } {
  const reader = new ExpositionReader();
  const samples = [...linesOf(text)].flatMap((line) => reader.read(line) ?? []);
  return { samples, skipped: reader.skipped };
}

const short = ({ name, labels, value, cumulative }: Sample): string =>
  `${name}${JSON.stringify(Object.fromEntries(labels))} ${value}${cumulative ? " total" : ""}`;

describe("The exposition of an agent", () => {
  it("is read as a real agent writes it: TYPE before HELP, families without a sample", () => {
    const { samples, skipped } = read(readFileSync(new URL("agent.txt", import.meta.url), "utf8"));
    expect(skipped).toBe(0);
    expect(samples.map(short)).toContain(
      'tailscaled_inbound_bytes_total{"path":"direct_ipv4"} 500 total',
    );
    expect(samples.map(short)).toContain("tailscaled_home_derp_region_id{} 900");
    expect(samples.some(({ name }) => name === "tailscaled_inbound_dropped_packets_total")).toBe(
      false,
    );
  });

  it("has bounded values of labels, and leaves out lines whose names are too long", () => {
    const long = "x".repeat(100_000);
    const { samples, skipped } = read(
      `a{l="${long}1"} 1\na{l="${long}2"} 1\n${long} 1\na{${long}="v"} 1\nb 1`,
    );
    expect(samples.map(({ name }) => name)).toEqual(["a", "a", "b"]);
    expect(new Set(samples.slice(0, 2).map(({ labels }) => labels.get("l"))).size).toBe(2);
    expect(samples[0]?.labels.get("l")).toMatch(/^x{1004}…~[0-9a-f]{16}$/);
    expect(skipped).toBe(2);
  });

  it("knows what is a running total: counters, and the parts of histograms and summaries", () => {
    const { samples } = read(
      [
        "# TYPE a counter",
        "a 1",
        "# TYPE b counter",
        "b_total 2",
        "# TYPE h histogram",
        'h_bucket{le="1"} 3',
        "h_sum 4",
        "h_count 5",
        "# TYPE s summary",
        's{quantile="0.5"} 6',
        "s_sum 7",
        "s_count 8",
        "# TYPE g gauge",
        "g 9",
        "untold 10",
        "some_total 11",
        "g_count 12",
      ].join("\n"),
    );
    expect(samples.filter(({ cumulative }) => cumulative).map(({ value }) => value)).toEqual([
      1, 2, 3, 4, 5, 7, 8,
    ]);
  });

  it("takes escapes, blanks, timestamps, exemplars and odd numbers", () => {
    const { samples, skipped } = read(
      [
        'a{ x = "1\\"2\\\\3\\n4" , y="}" , } 5 1700000000000',
        "b +Inf",
        "c -Inf",
        "d NaN",
        "e 1e-3",
        "f .5",
        'g{x=""} 1 # {trace="t"} 2',
        "\t h\t7 ",
      ].join("\r\n"),
    );
    expect(skipped).toBe(0);
    expect(samples.map(({ labels }) => [...labels])[0]).toEqual([
      ["x", '1"2\\3\n4'],
      ["y", "}"],
    ]);
    expect(samples.map(({ value }) => value)).toEqual([
      5,
      Infinity,
      -Infinity,
      NaN,
      0.001,
      0.5,
      1,
      7,
    ]);
  });

  it("leaves broken lines out and counts them", () => {
    const { samples, skipped } = read(
      ["good 1", "1bad 2", 'open{x="1 3', "novalue", "word x", "{} 4", "a{x=1} 5", "last 6"].join(
        "\n",
      ),
    );
    expect(samples.map(({ name }) => name)).toEqual(["good", "last"]);
    expect(skipped).toBe(6);
  });

  it("never throws, whatever the text", () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom(...Array.from('ab{}="\\,#TYPE \n\t19.eE+-')),
          maxLength: 200,
        }),
        (text) => {
          read(text);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("gives back what was written", () => {
    const name = fc.stringMatching(/^[a-z_:][a-z0-9_:]{0,8}$/);
    const labels = fc.dictionary(
      fc.stringMatching(/^[a-z_][a-z0-9_]{0,5}$/),
      fc.string({ maxLength: 8 }),
      { maxKeys: 4 },
    );
    fc.assert(
      fc.property(name, labels, fc.double({ noNaN: true }), (written, given, value) => {
        const text = Object.entries(given)
          .map(
            ([key, each]) =>
              `${key}="${each.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`,
          )
          .join(",");
        fc.pre(!Object.values(given).some((each) => /[\r\u2028\u2029]/.test(each)));
        const { samples } = read(`${written}{${text}} ${value}`);
        expect(samples).toHaveLength(1);
        expect(samples[0]?.name).toBe(written);
        expect(Object.fromEntries(samples[0]?.labels ?? [])).toEqual({ ...given });
        expect(
          samples[0]?.value === value || Math.abs((samples[0]?.value ?? 0) - value) === 0,
        ).toBe(true);
      }),
    );
  });
});
