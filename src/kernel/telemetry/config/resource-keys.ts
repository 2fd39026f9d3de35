/** Keys of the OpenTelemetry resource. */
import type { Config } from "../../config/config.ts";
import type { Complaint } from "../../config/findings.ts";
import { defineKeyGroup, keysOf, readKeyGroup } from "../../config/key-group.ts";
import type { Environment, Schema } from "../../config/key.ts";
import { mapOfTexts } from "../../config/values/maps.ts";
import { boolean, text } from "../../config/values/types.ts";

const MAX_ATTRIBUTES = 32;
const MAX_KEY_LENGTH = 128;
const MAX_VALUE_LENGTH = 256;

interface ResourceSection {
  readonly serviceNamespace: string;
  readonly deploymentEnvironment: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly fromEnv: boolean;
}

const resourceSection = defineKeyGroup<ResourceSection>("resource", {
  serviceNamespace: {
    type: text,
    default: "",
    rule: value,
    help: "service.namespace of all telemetry. Empty: none.",
  },
  deploymentEnvironment: {
    type: text,
    default: "",
    rule: value,
    help: "deployment.environment.name of all telemetry, e.g. production. Empty: none.",
  },
  attributes: {
    type: mapOfTexts({ limit: MAX_ATTRIBUTES }),
    default: new Map(),
    rule: attributesRule,
    help: "Additional resource attributes of all telemetry.",
  },
  fromEnv: {
    type: boolean,
    default: false,
    help: "Also reads attributes from OTEL_RESOURCE_ATTRIBUTES; resource.* takes precedence.",
  },
});

export const resourceKeys: Schema = keysOf(resourceSection);

/**
 * Resource attributes, including `service.namespace`. Reserved ones from the environment are
 * dropped.
 */
export function resourceAttributes(
  config: Config,
  environment: Environment,
): Readonly<Record<string, string>> {
  const { serviceNamespace, deploymentEnvironment, attributes, fromEnv } = readKeyGroup(
    config,
    resourceSection,
  );
  const foreign = fromEnv ? parsePairs(environment["OTEL_RESOURCE_ATTRIBUTES"] ?? "") : [];
  const allowed = foreign.filter(
    ([name, text]) => brokenName(name) === undefined && value(text) === undefined,
  );
  const merged = Object.entries({
    ...Object.fromEntries(allowed),
    ...Object.fromEntries(attributes),
  }).slice(0, MAX_ATTRIBUTES);
  const named = {
    "service.namespace": serviceNamespace,
    "deployment.environment.name": deploymentEnvironment,
  };
  return {
    ...Object.fromEntries(merged),
    ...Object.fromEntries(Object.entries(named).filter(([, text]) => text !== "")),
  };
}

function attributesRule(attributes: ReadonlyMap<string, string>): Complaint | undefined {
  for (const [name, text] of attributes) {
    const broken = brokenName(name) ?? value(text);
    if (broken !== undefined)
      return { ...broken, rule: `${JSON.stringify(name.slice(0, 60))} ${broken.rule}` };
  }
  return undefined;
}

/** Attributes that Steward sets itself are not allowed. */
function brokenName(name: string): Complaint | undefined {
  if (name === "" || Buffer.byteLength(name) > MAX_KEY_LENGTH)
    return { rule: `must be a name of 1 to ${MAX_KEY_LENGTH} bytes` };
  if (name.startsWith("service.") || name === "vpn.network" || name === "svc.provider")
    return {
      rule: "is set by Steward",
      remedy: "remove it; resource.service_namespace sets service.namespace.",
    };
  return undefined;
}

function value(written: string): Complaint | undefined {
  return Buffer.byteLength(written) <= MAX_VALUE_LENGTH
    ? undefined
    : { rule: `must have at most ${MAX_VALUE_LENGTH} bytes` };
}

/**
 * Parses `a=1,b=2` with percent-encoded values, as in OpenTelemetry's variables. Invalid pairs are
 * dropped.
 */
function parsePairs(written: string): (readonly [string, string])[] {
  return written.split(",").flatMap((pair) => {
    const cut = pair.indexOf("=");
    if (cut < 1) return [];
    try {
      return [[pair.slice(0, cut).trim(), decodeURIComponent(pair.slice(cut + 1).trim())] as const];
    } catch {
      return [];
    }
  });
}
