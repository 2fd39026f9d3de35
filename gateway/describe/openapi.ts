/**
 * OpenAPI 3.1 of the REST API from the method table: every rpc with an http rule, and every plain
 * route with a description. Pages, assets and profiles are not part of the API.
 */
import type { DescField, DescMessage, DescMethod, DescService } from "@bufbuild/protobuf";
import { protoCamelCase } from "@bufbuild/protobuf/reflect";
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import { assert } from "../../src/kernel/base/errors.ts";
import { restMessage } from "../../src/kernel/wire/rest-json.ts";
import { fieldStyleOf, isWellKnown, jsonName, styleOf } from "../../src/kernel/wire/style.ts";
import type { Method, MethodTable, OtherRoute, RpcRoute } from "../methods.ts";
import { createFailureDescriber, type FailureDescriber, type OperationFacts } from "./failures.ts";
import { fieldSchema, messageSchema, type JsonSchema, type SchemaOptions } from "./json-schema.ts";
import { isRequired } from "./rules.ts";

/** A document as plain JSON. */
export interface OpenApi {
  readonly openapi: "3.1.0";
  readonly info: Readonly<Record<string, unknown>> & { readonly description: string };
  readonly servers: readonly Server[];
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, unknown>>;
}

export interface Server {
  readonly url: string;
  readonly description: string;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  /** One line, without a full stop. */
  readonly summary?: string;
  /** The whole text where it is more than the summary. */
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly never[]>>[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema: JsonSchema; readonly example: unknown }>
    >;
  };
  readonly responses: Readonly<Record<string, unknown>>;
}

/** A path or query parameter. */
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly style?: "form";
  readonly explode?: boolean;
}

/** Comments of a proto file by full name. */
export type Comments = Readonly<Record<string, string>>;

const VERBS = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);
const VERSION = "1";
const DESCRIPTION =
  "The same methods are served over Connect, gRPC-Web and gRPC on the same port. " +
  "Unknown query parameters are ignored, unknown fields of a body are refused.";

/** Relative to the document: correct wherever it was fetched, also behind a proxy. */
const SAME_SERVER: Server = {
  url: "/",
  description: "The server that this document was fetched from.",
};

/**
 * Verbs unknown to OpenAPI, such as LIST, are omitted. Throws when two operations have the same id.
 */
export function openApi(
  table: MethodTable,
  comments: Comments,
  servers: readonly Server[] = [SAME_SERVER],
): OpenApi {
  const messages = new Map<string, DescMessage>();
  const describe = createDescriber(comments, messages);
  const takeId = createIds();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of table.routes.filter(({ verb }) => VERBS.has(verb))) {
    const operation =
      route.kind === "rpc" ? rpcOperation(route, describe) : plainOperation(route, describe);
    if (operation === undefined) continue;
    const operationId = takeId(operation.operationId, route.kind === "rpc" ? route.method : route);
    (paths[pathText(route)] ??= {})[route.verb.toLowerCase()] = { ...operation, operationId };
  }
  const services = [...new Set(table.methods.map(({ rpc }) => rpc.parent))];
  return {
    openapi: "3.1.0",
    info: {
      title: "Steward",
      version: VERSION,
      description: DESCRIPTION,
      license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
    },
    servers,
    tags: services
      .map((service) => ({ name: serviceName(service), ...textOf(comments[service.typeName]) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    paths,
    components: {
      schemas: componentSchemas(describe, messages),
      responses: describe.failures.components(),
      securitySchemes,
    },
  };
}

/** Numbers the further routes of a method in the order of its bindings: `getJob`, `getJob_2`. */
function createIds(): (id: string, owner: object) => string {
  const taken = new Map<string, { readonly owner: object; readonly routes: number }>();
  return (id, owner) => {
    const before = taken.get(id);
    assert(
      before === undefined || before.owner === owner,
      `two operations have the id ${id}; rename one rpc or route`,
    );
    const routes = (before?.routes ?? 0) + 1;
    taken.set(id, { owner, routes });
    return routes === 1 ? id : `${id}_${routes}`;
  };
}

/** A service's name as a tag: with its package, except for the document service. */
function serviceName({ name, typeName }: DescService): string {
  const group = groupOf(typeName);
  return group === "dedup" ? name : `${group}.${name}`;
}

/** `tokens` of `steward.tokens.v1.SystemService`. */
function groupOf(typeName: string): string {
  return typeName.split(".")[1] ?? "";
}

/**
 * The operation id of a method, e.g. `listJobs` or `tokensGetHealth`. Clients are generated from
 * it: it depends on the rpc's own name and package alone, so that adding another method never
 * changes it.
 */
export function operationIdOf(rpc: DescMethod): string {
  const group = groupOf(rpc.parent.typeName);
  return group === "dedup" ? rpc.localName : `${group}${rpc.name}`;
}

interface Describer {
  readonly comments: Comments;
  readonly failures: FailureDescriber;
  readonly answer: SchemaOptions;
  readonly request: SchemaOptions;
}

// Every referenced message must become a component.
function createDescriber(comments: Comments, messages: Map<string, DescMessage>): Describer {
  const comment = (name: string): string | undefined => comments[name];
  const reference = (message: DescMessage): string => {
    messages.set(message.typeName, message);
    return `#/components/schemas/${message.typeName}`;
  };
  return {
    comments,
    failures: createFailureDescriber(),
    answer: { side: "answer", comment, reference },
    request: { side: "request", comment },
  };
}

// Describing one message may reference further ones: the list grows during the iteration.
function componentSchemas(
  { answer }: Describer,
  messages: Map<string, DescMessage>,
): Record<string, JsonSchema> {
  const schemas: Record<string, JsonSchema> = { ...errorSchemas };
  for (const [name, message] of messages) schemas[name] = messageSchema(message, answer);
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function rpcOperation(route: RpcRoute, describe: Describer): Operation {
  const { method, body } = route;
  const { rpc } = method;
  const fromPath = new Set(route.template.variables);
  const query =
    body === "*"
      ? []
      : rpc.input.fields.filter(
          (field) => !fromPath.has(field.name) && field.name !== body && isText(field),
        );
  const parameters = [
    ...rpc.input.fields
      .filter((field) => fromPath.has(field.name))
      .map((field) => parameter(field, "path", describe)),
    ...query.map((field) => parameter(field, "query", describe)),
  ];
  const success = successOf(method, describe);
  const successStatuses = [isNothing(method) ? 204 : method.httpStatus, ...method.otherStatuses];
  return {
    operationId: operationIdOf(rpc),
    tags: [serviceName(rpc.parent)],
    ...summaryOf(describe.comments[`${rpc.parent.typeName}.${rpc.name}`]),
    security: method.noToken ? [] : securityOf(method.access),
    parameters,
    ...(body === ""
      ? {}
      : {
          requestBody: {
            content: { "application/json": bodyContent(method, body, fromPath, describe) },
          },
        }),
    responses: {
      ...Object.fromEntries(successStatuses.map((status) => [status, success])),
      ...describe.failures.failuresOf({
        ...factsOf(route, parameters),
        hasBody: body !== "",
        answered: successStatuses,
      }),
    },
  };
}

function factsOf(
  { access, dialect, verb }: RpcRoute | OtherRoute,
  parameters: readonly Parameter[],
): OperationFacts {
  return {
    dialect,
    hasVariables: parameters.some((each) => each.in === "path"),
    hasInput: parameters.length > 0 || verb !== "GET",
    hasBody: false,
    needsToken: access !== Access.PUBLIC,
    isWrite: verb !== "GET",
    answered: [],
  };
}

function plainOperation(route: OtherRoute, { failures }: Describer): Operation | undefined {
  const { describe } = route.plain;
  if (describe === undefined) return undefined;
  const { operationId, tag, text, contentType, query = {}, variables = {}, others = {} } = describe;
  const texts = (where: Parameter["in"], each: Readonly<Record<string, string>>): Parameter[] =>
    Object.entries(each).map(([name, description]) => ({
      name,
      in: where,
      required: where === "path",
      description,
      schema: { type: "string" },
    }));
  const parameters = [...texts("path", variables), ...texts("query", query)];
  return {
    operationId,
    tags: [tag],
    ...summaryOf(text),
    security: securityOf(route.access),
    parameters,
    responses: {
      200: textAnswer(describe.answer, contentType),
      ...failures.failuresOf(factsOf(route, parameters)),
      ...Object.fromEntries(
        Object.entries(others).map(([status, when]) => [status, textAnswer(when, "text/plain")]),
      ),
    },
  };
}

function textAnswer(description: string, contentType: string): unknown {
  const schema =
    contentType === "application/json"
      ? { type: "object", additionalProperties: true }
      : { type: "string" };
  return { description, content: { [contentType]: { schema } } };
}

/** The path with its variables named as in requests and responses. */
function pathText(route: RpcRoute | OtherRoute): string {
  const nameOf =
    route.kind === "plain"
      ? protoCamelCase
      : (name: string): string => variableName(route.method.rpc.input, name);
  return route.template.text.replaceAll(
    /\{([^}=]+)[^}]*\}/g,
    (_all, name: string) => `{${nameOf(name)}}`,
  );
}

function variableName(input: DescMessage, name: string): string {
  const field = input.fields.find((candidate) => candidate.name === name);
  return field === undefined ? name : jsonName(field);
}

function isText(field: DescField): boolean {
  return (
    field.fieldKind !== "map" &&
    (field.message === undefined || isWellKnown(field.message.typeName))
  );
}

function parameter(
  field: DescField,
  where: "path" | "query",
  { comments, request }: Describer,
): Parameter {
  const { description: _left, ...schema } = fieldSchema(field, request);
  const list =
    field.fieldKind === "list"
      ? { style: "form" as const, explode: !fieldStyleOf(field).comma }
      : {};
  return {
    name: jsonName(field),
    in: where,
    required: where === "path" || isRequired(field),
    ...textOf(comments[`${field.parent.typeName}.${field.name}`]),
    schema,
    ...list,
  };
}

function bodyContent(
  { rpc, example }: Method,
  body: string,
  fromPath: ReadonlySet<string>,
  { request }: Describer,
): { schema: JsonSchema; example: unknown } {
  const one = rpc.input.fields.find((field) => field.name === body)?.message;
  const whole = messageSchema(one ?? rpc.input, request);
  const left = new Set(
    rpc.input.fields.filter((field) => one === undefined && fromPath.has(field.name)).map(jsonName),
  );
  const properties = Object.fromEntries(
    Object.entries(whole.properties ?? {}).filter(([name]) => !left.has(name)),
  );
  const required = ((whole["required"] ?? []) as readonly string[]).filter(
    (name) => !left.has(name),
  );
  const { required: _all, ...rest } = whole;
  const schema = { ...rest, properties, ...(required.length === 0 ? {} : { required }) };
  if (example !== "") return { schema, example: JSON.parse(example) as unknown };
  return {
    schema,
    example: Object.fromEntries(
      Object.entries(properties).map(([name, each]) => [name, exampleOf(each)]),
    ),
  };
}

/** A valid example value. */
function exampleOf(schema: JsonSchema): unknown {
  if (schema.enum !== undefined) return schema.enum[0];
  switch (schema.type) {
    case "boolean":
      return false;
    case "integer":
    case "number":
      return typeof schema["minimum"] === "number" ? schema["minimum"] : 0;
    case "array":
      return schema.items === undefined || Number(schema["minItems"] ?? 0) === 0
        ? []
        : [exampleOf(schema.items)];
    case "object":
      return Object.fromEntries(
        Object.entries(schema.properties ?? {}).map(([name, each]) => [name, exampleOf(each)]),
      );
    case "string":
      return schema.format === "date-time" ? "2026-01-01T00:00:00Z" : "text";
    default:
      return null;
  }
}

function successOf(method: Method, { answer, comments }: Describer): unknown {
  const output = restMessage(method.rpc);
  const description = comments[output.typeName] ?? "Success.";
  if (styleOf(output.file).dialect !== "vault")
    return {
      description,
      content: { "application/json": { schema: { $ref: answer.reference?.(output) } } },
    };
  if (isNothing(method)) return { description: "Nothing to return." };
  const data = { $ref: answer.reference?.(output) };
  return {
    description,
    content: {
      "application/json": {
        schema: method.raw
          ? data
          : { allOf: [{ $ref: "#/components/schemas/VaultAnswer" }, { properties: { data } }] },
      },
    },
  };
}

// Vault's surface answers a message without fields with an empty body.
function isNothing({ dialect, rpc }: Method): boolean {
  return dialect === "vault" && rpc.output.fields.length === 0;
}

function securityOf(access: Access): Operation["security"] {
  switch (access) {
    case Access.OPERATOR:
      return [{ operatorBearer: [] }, { operatorBasic: [] }];
    case Access.ADMIN:
      return [{ adminBearer: [] }, { adminBasic: [] }];
    case Access.SELF:
      return [{ vaultToken: [] }];
    default:
      return [];
  }
}

function textOf(text: string | undefined): { description?: string } {
  return text === undefined ? {} : { description: text };
}

/** The first sentence as the summary; the whole text as description where there is more. */
function summaryOf(text: string | undefined): { summary?: string; description?: string } {
  if (text === undefined) return {};
  const [first = text] = /^.*?\.(?=\s+[A-Z0-9`])/.exec(text) ?? [];
  return { summary: first.replace(/\.$/, ""), ...(first === text ? {} : { description: text }) };
}

const text: JsonSchema = { type: "string" };

const errorSchemas: Readonly<Record<string, JsonSchema>> = {
  Error: {
    type: "object",
    description: "An error of the document service.",
    properties: {
      error: {
        type: "object",
        properties: {
          code: { ...text, description: "For programs, e.g. `VALIDATION_FAILED`." },
          message: { ...text, description: "For people: what failed, why, and what to do." },
          details: {
            type: "array",
            description: "One entry for each field or check that failed.",
            items: { type: "object", additionalProperties: true },
          },
        },
      },
    },
  },
  VaultErrors: {
    type: "object",
    description: "An error in Vault's form.",
    properties: { errors: { type: "array", items: text } },
  },
  VaultAnswer: {
    type: "object",
    description: "Vault's envelope around every answer.",
    properties: {
      request_id: text,
      lease_id: text,
      renewable: { type: "boolean" },
      lease_duration: { type: "integer" },
      data: {},
      wrap_info: {},
      warnings: {},
      auth: {},
    },
  },
};

const securitySchemes: Readonly<Record<string, unknown>> = {
  operatorBearer: {
    type: "http",
    scheme: "bearer",
    description: "`auth.token`; not needed while none is set.",
  },
  operatorBasic: {
    type: "http",
    scheme: "basic",
    description: "`auth.token` as the password, with any user name.",
  },
  adminBearer: {
    type: "http",
    scheme: "bearer",
    description: "`admin.auth.token` where it is set, else `auth.token`.",
  },
  adminBasic: {
    type: "http",
    scheme: "basic",
    description: "The same token as the password, with any user name.",
  },
  vaultToken: {
    type: "apiKey",
    in: "header",
    name: "X-Vault-Token",
    description: "A token of the tokens service; `Authorization: Bearer` works as well.",
  },
};
