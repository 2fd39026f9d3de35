/**
 * Generates the OpenAPI description of mounts from their declared paths
 * (`sys/internal/specs/openapi`).
 */
import type { Kind } from "./coerce.ts";
import { kindsOf } from "./fields.ts";
import { fieldHelp } from "./help.ts";
import { compilePattern } from "./pattern.ts";
import type { Backend, Path } from "./types.ts";

export type OpenApiNode = Readonly<Record<string, unknown>>;

export interface DescribedMount {
  /** With a trailing slash, `auth/` included, e.g. `github/`. */
  readonly point: string;
  readonly backend: Pick<Backend, "type" | "paths">;
  readonly tag: "secrets" | "auth" | "system";
}

export function openApiDocument(
  mounts: readonly DescribedMount[],
  info: { readonly title: string; readonly version: string; readonly description: string },
): OpenApiNode {
  const paths = Object.fromEntries(
    mounts
      .flatMap((mount) => Object.entries(mountPaths(mount)))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  return { openapi: "3.0.2", info, paths, components: { schemas: {} } };
}

/** Path items of one mount, by `/<point><path>`. */
export function mountPaths(mount: DescribedMount): Record<string, OpenApiNode> {
  return Object.fromEntries(
    mount.backend.paths.flatMap((path) =>
      [path.pattern, ...(path.also ?? [])].map((pattern) => {
        const list = Object.keys(path.operations).join() === "list";
        return [
          `/${mount.point}${templated(pattern)}${list && !pattern.endsWith("/") ? "/" : ""}`,
          pathItem(mount, path, pattern),
        ] as const;
      }),
    ),
  );
}

function templated(pattern: string): string {
  return pattern.replaceAll(/:([a-z0-9_]+)\*?/g, "{$1}");
}

function pathItem(mount: DescribedMount, path: Path, pattern: string): OpenApiNode {
  const kinds = kindsOf(path.fields, path.coerce);
  const variables = compilePattern(pattern).variables;
  const { operations } = path;
  const write = operations.create ?? operations.update;
  const id = (verb: string): string =>
    [mount.backend.type, verb, ...pattern.split(/[^a-zA-Z0-9]+/)]
      .filter((part) => part !== "")
      .join("-")
      .replaceAll("_", "-");
  const base = { tags: [mount.tag] };
  const fields = [...kinds].filter(([name]) => !variables.includes(name));
  // Writable paths are rarely read with fields; only read-only paths describe them as query
  // parameters.
  const query = (write === undefined ? fields : []).map(([name, kind]) => ({
    name,
    in: "query",
    description: fieldHelp(path, name),
    schema: schemaOf(kind),
  }));
  const item: Record<string, unknown> = {
    description: path.synopsis,
    ...(path.unauthenticated === true ? { "x-vault-unauthenticated": true } : {}),
    ...(path.sudo === true ? { "x-vault-sudo": true } : {}),
    ...(operations.create !== undefined && path.exists !== undefined
      ? { "x-vault-createSupported": true }
      : {}),
  };
  if (variables.length > 0)
    item["parameters"] = variables.map((name) => ({
      name,
      in: "path",
      required: true,
      description: fieldHelp(path, name),
      schema: { type: "string" },
    }));
  if (operations.read !== undefined)
    item["get"] = {
      ...base,
      operationId: id("read"),
      ...(query.length === 0 ? {} : { parameters: query }),
      responses: OK,
    };
  else if (operations.list !== undefined)
    item["get"] = { ...base, operationId: id("list"), parameters: [LIST], responses: OK };
  if (write !== undefined)
    item["post"] = { ...base, operationId: id("write"), ...bodyOf(path, fields), responses: OK };
  if (operations.patch !== undefined)
    item["patch"] = {
      ...base,
      operationId: id("patch"),
      ...bodyOf(path, fields, "application/merge-patch+json"),
      responses: OK,
    };
  if (operations.delete !== undefined)
    item["delete"] = {
      ...base,
      operationId: id("delete"),
      responses: { "204": { description: "empty body" } },
    };
  return item;
}

const OK = { "200": { description: "OK" } };
const LIST = {
  name: "list",
  in: "query",
  required: true,
  description: "Must be set to `true`",
  schema: { type: "string", enum: ["true"] },
};

function bodyOf(
  path: Path,
  fields: readonly (readonly [string, Kind])[],
  type = "application/json",
): OpenApiNode {
  if (fields.length === 0) return {};
  const properties = Object.fromEntries(
    fields.map(([name, kind]) => [name, { ...schemaOf(kind), description: fieldHelp(path, name) }]),
  );
  return {
    requestBody: {
      required: true,
      content: { [type]: { schema: { type: "object", properties } } },
    },
  };
}

const SCHEMAS: Readonly<Record<Kind, OpenApiNode>> = {
  text: { type: "string" },
  integer: { type: "integer", format: "int64" },
  boolean: { type: "boolean" },
  duration: { type: "string", format: "duration" },
  texts: { type: "array", items: { type: "string" } },
  comma_texts: { type: "array", items: { type: "string" } },
  integers: { type: "array", items: { type: "integer" } },
  comma_integers: { type: "array", items: { type: "integer" } },
  pairs: { type: "object", additionalProperties: { type: "string" } },
  any: {},
};

function schemaOf(kind: Kind): OpenApiNode {
  return SCHEMAS[kind];
}
