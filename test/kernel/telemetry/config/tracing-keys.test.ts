import { describe, expect, it } from "vitest";
import { formatFinding } from "../../../../src/kernel/config/findings.ts";
import { defineSchema } from "../../../../src/kernel/config/key.ts";
import { loadConfig } from "../../../../src/kernel/config/load.ts";
import { samplerUsed, tracingKeys } from "../../../../src/kernel/telemetry/config/tracing-keys.ts";

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
