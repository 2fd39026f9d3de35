import { describe, expect, it } from "vitest";
import { formatFinding } from "../../../../src/kernel/config/findings.ts";
import { defineSchema } from "../../../../src/kernel/config/key.ts";
import { loadConfig } from "../../../../src/kernel/config/load.ts";
import {
  samplerUsed,
  samplingOf,
  tracingKeys,
} from "../../../../src/kernel/telemetry/config/tracing-keys.ts";

const schema = defineSchema(tracingKeys);

function problems(yaml: string, environment: Record<string, string> = {}): string[] {
  return loadConfig({
    file: "f.yaml",
    environment,
    schema,
    checks: [samplerUsed],
    readFile: () => yaml,
  }).findings.map(formatFinding);
}

describe("A sampler of a share of the requests", () => {
  it.each(["traceidratio", "parentbased_traceidratio"])(
    "is worth a warning when the share is nothing: %s",
    (sampler) => {
      expect(problems(`tracing: {enabled: true, sampler: ${sampler}, sampler_arg: 0}`)).toEqual([
        `WARNING tracing.sampler_arg: is 0, with which the sampler ${sampler} begins no trace (line 1) — write the share of requests to trace, e.g. 0.1, or set tracing.enabled to false.`,
      ]);
    },
  );

  it("is judged by OpenTelemetry's own variables, too", () => {
    expect(
      problems("tracing: {enabled: true}", {
        OTEL_TRACES_SAMPLER: "traceidratio",
        OTEL_TRACES_SAMPLER_ARG: "0",
      }),
    ).toEqual([
      expect.stringContaining(
        "WARNING tracing.sampler_arg: is 0, with which the sampler traceidratio begins no trace (OTEL_TRACES_SAMPLER_ARG)",
      ),
    ]);
  });

  it("is judged for each kind of work by its own keys, else by those of requests", () => {
    const of = (yaml: string): string[] =>
      problems(`tracing: {enabled: true, ${yaml}}`).map((text) => text.split(":", 1)[0] ?? "");
    expect(of("sampler: traceidratio, sampler_arg: 0")).toEqual(["WARNING tracing.sampler_arg"]);
    expect(of("samplers: {scrape: {sampler: traceidratio, arg: 0}}")).toEqual([
      "WARNING tracing.samplers.scrape.arg",
    ]);
    expect(of("sampler: traceidratio, samplers: {receiver: {arg: 0}}")).toEqual([
      "WARNING tracing.samplers.receiver.arg",
    ]);
    expect(of("samplers: {background: {sampler: always_off}}")).toEqual([]);
  });

  it("is what was configured for the kind of work, else for requests", () => {
    const { config } = loadConfig({
      file: "f.yaml",
      environment: {},
      schema,
      readFile: () =>
        "tracing: {sampler: traceidratio, sampler_arg: 0.5, samplers: {scrape: {sampler: always_off}, receiver: {arg: 0.25}}}",
    });
    if (config === undefined) throw new Error("it is valid");
    expect([
      samplingOf(config),
      samplingOf(config, "scrape"),
      samplingOf(config, "receiver"),
      samplingOf(config, "background"),
    ]).toEqual([
      { sampler: "traceidratio", ratio: 0.5 },
      { sampler: "always_off", ratio: 0.5 },
      { sampler: "traceidratio", ratio: 0.25 },
      { sampler: "traceidratio", ratio: 0.5 },
    ]);
  });

  it.each([
    "enabled: false, sampler: traceidratio, sampler_arg: 0",
    "enabled: true, sampler: traceidratio, sampler_arg: 0.01",
    "enabled: true, sampler: traceidratio",
    "enabled: true, sampler: parentbased_always_on, sampler_arg: 0",
    "enabled: true, sampler: always_off, sampler_arg: 0",
  ])("is worth none otherwise: %s", (yaml) => {
    expect(problems(`tracing: {${yaml}}`)).toEqual([]);
  });
});
