/**
 * Resources in the SDK's form: with its own name and version, and the schema URL of the semantic
 * conventions.
 */
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import type { Resource } from "@opentelemetry/resources";
import type { Attributes } from "../types.ts";

/** The version of the semantic conventions used by resources, metrics, logs and spans. */
export const SCHEMA_URL = "https://opentelemetry.io/schemas/1.40.0";

const SDK_PREFIX = "telemetry.sdk.";

/** `telemetry.sdk.*`. */
export const sdkAttributes: Attributes = Object.fromEntries(
  Object.entries(defaultResource().attributes).flatMap(([name, value]) =>
    name.startsWith(SDK_PREFIX) ? [[name, String(value)] as const] : [],
  ),
);

export function sdkResource(attributes: Attributes): Resource {
  return resourceFromAttributes({ ...attributes }, { schemaUrl: SCHEMA_URL });
}
