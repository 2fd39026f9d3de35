import { describe, expect, it } from "vitest";
import { formatFinding } from "../../../../src/kernel/config/findings.ts";
import { defineSchema } from "../../../../src/kernel/config/key.ts";
import { loadConfig, type LoadResult } from "../../../../src/kernel/config/load.ts";
import {
  resourceAttributes,
  resourceKeys,
} from "../../../../src/kernel/telemetry/config/resource-keys.ts";

const schema = defineSchema(resourceKeys);
const load = (yaml: string, environment: Record<string, string> = {}): LoadResult =>
  loadConfig({ file: "f.yaml", environment, schema, readFile: () => yaml });

function attributes(
  yaml: string,
  environment: Record<string, string> = {},
): Readonly<Record<string, string>> {
  const { config, findings } = load(yaml, environment);
  if (config === undefined) throw new Error(JSON.stringify(findings));
  return resourceAttributes(config, environment);
}

describe("the resource", () => {
  it("has the attributes of the file and of variables, and two with keys of their own", () => {
    expect(attributes("")).toEqual({});
    expect(
      attributes(
        "resource: {service_namespace: estate, deployment_environment: production, attributes: {team: a, rack.row: '7'}}",
        { STEWARD_RESOURCE__ATTRIBUTES__SITE: "north" },
      ),
    ).toEqual({
      "service.namespace": "estate",
      "deployment.environment.name": "production",
      team: "a",
      "rack.row": "7",
      site: "north",
    });
  });

  it("takes OpenTelemetry's only when asked, below its own, and without what may not be said", () => {
    const environment = {
      OTEL_RESOURCE_ATTRIBUTES: `team=b,owner=a%20b,service.name=other,vpn.network=x,broken=%zz,nothing,long=${"x".repeat(257)}`,
    };
    expect(attributes("", environment)).toEqual({});
    expect(attributes("resource: {from_env: true, attributes: {team: a}}", environment)).toEqual({
      team: "a",
      owner: "a b",
    });
  });

  it("has at most 32, those of the environment among them", () => {
    const environment = {
      OTEL_RESOURCE_ATTRIBUTES: Array.from({ length: 40 }, (_, index) => `a${index}=1`).join(","),
    };
    expect(Object.keys(attributes("resource: {from_env: true}", environment))).toHaveLength(32);
  });

  it.each([
    ["{service.name: x}", '"service.name" is set by Steward'],
    ["{service.version: x}", "is set by Steward"],
    ["{vpn.network: x}", "is set by Steward"],
    ["{svc.provider: x}", "is set by Steward"],
    [`{a: ${"x".repeat(257)}}`, '"a" must have at most 256 bytes'],
    [`{${"a".repeat(129)}: x}`, "must be a name of 1 to 128 bytes"],
    [
      `{${Array.from({ length: 33 }, (_, index) => `a${index}: x`).join(", ")}}`,
      "must have at most 32 entries, got 33",
    ],
  ])("refuses %.40s", (written, expected) => {
    expect(load(`resource: {attributes: ${written}}`).findings.map(formatFinding)).toEqual([
      expect.stringContaining(expected),
    ]);
  });

  it("refuses long values of its own keys", () => {
    expect(load(`resource: {service_namespace: ${"x".repeat(257)}}`).findings).toMatchObject([
      { severity: "error", path: "resource.service_namespace" },
    ]);
  });
});
