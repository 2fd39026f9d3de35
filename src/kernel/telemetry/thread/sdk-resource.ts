/**
 * Resources as the SDK has them: with its own name and version, and the schema that names of
 * attributes are read by.
 */
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import type { Resource } from "@opentelemetry/resources";
import type { Attributes } from "../types.ts";

/** The version of the semantic conventions whose names resources, metrics, logs and spans use. */
export const SCHEMA_URL = "https://opentelemetry.io/schemas/1.40.0";

const SDK_PREFIX = "telemetry.sdk.";

/** `telemetry.sdk.*`: which SDK makes what is exported. */
export const sdkAttributes: Attributes = Object.fromEntries(
  Object.entries(defaultResource().attributes).flatMap(([name, value]) =>
    name.startsWith(SDK_PREFIX) ? [[name, String(value)] as const] : [],
  ),
);

/** The resource for a provider. */
export function sdkResource(attributes: Attributes): Resource {
  return resourceFromAttributes({ ...attributes }, { schemaUrl: SCHEMA_URL });
}
