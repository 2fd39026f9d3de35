/** OpenAPI 3.1 of everything that REST serves, from the table of methods: what is not declared there is not described, and the other way round. */
import type { DescField, DescMessage, DescMethod, DescService } from "@bufbuild/protobuf";
import { protoCamelCase } from "@bufbuild/protobuf/reflect";
import { Access } from "../../src/gen/steward/options/v1/options_pb.ts";
import { restMessage } from "../../src/kernel/wire/rest-json.ts";
import { fieldStyleOf, isWellKnown, jsonName, styleOf, type DialectName } from "../../src/kernel/wire/style.ts";
import type { Method, MethodTable, OtherRoute, RpcRoute } from "../methods.ts";
import { fieldSchema, messageSchema, type JsonSchema, type SchemaOptions } from "./json-schema.ts";
import { isRequired } from "./rules.ts";

/** A document as plain JSON. */
export interface OpenApi {
  readonly openapi: "3.1.0";
  readonly info: Readonly<Record<string, string>>;
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, unknown>>;
}

/** One verb of one path. */
export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary?: string;
  readonly security: readonly Readonly<Record<string, readonly never[]>>[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema; readonly example: unknown }>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

/** One variable of a path, or one name of a query. */
export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  readonly style?: "form";
  readonly explode?: boolean;
}

/** What belongs to a declaration's full name in its proto file. */
export type Comments = Readonly<Record<string, string>>;

const VERBS = new Set(["GET", "POST", "PUT", "PATCH", "DELETE"]);
const VERSION = "1";

/** The document. Verbs that OpenAPI does not know, such as LIST, are left out. */
export function openApi(table: MethodTable, comments: Comments): OpenApi {
  const messages = new Map<string, DescMessage>();
  const describe = createDescriber(comments, messages);
  const ids = new Set<string>();
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of table.routes.filter(({ verb }) => VERBS.has(verb))) {
    const path = pathText(route);
    const operation = route.kind === "rpc" ? rpcOperation(route, describe) : plainOperation(route);
    (paths[path] ??= {})[route.verb.toLowerCase()] = { ...operation, operationId: unlike(ids, operation.operationId) };
  }
  const services = [...new Set(table.methods.map(({ rpc }) => rpc.parent))];
  return {
    openapi: "3.1.0",
    info: { title: "Steward", version: VERSION, description: "The same methods are served over Connect, gRPC-Web and gRPC on the same port." },
    tags: services.map((service) => ({ name: serviceName(service), ...textOf(comments[service.typeName]) })),
    paths,
    components: { schemas: componentSchemas(describe, messages), securitySchemes },
  };
}

/** A service's name where everything is in one document: packages may have services of the same name, the document service's go without its package. */
function serviceName({ name, typeName }: DescService): string {
  const [, group = ""] = typeName.split(".");
  return group === "dedup" ? name : `${group}.${name}`;
}

/** The id of a method's operation, the same as long as the method has its name. */
export function operationIdOf(rpc: DescMethod): string {
  return `${serviceName(rpc.parent).replace(".", "_")}_${rpc.name}`;
}

/** A method with several routes is named anew for each after the first. */
function unlike(taken: Set<string>, id: string): string {
  const free = taken.has(id) ? `${id}_${taken.size}` : id;
  taken.add(free);
  return free;
}

interface Describer {
  readonly comments: Comments;
  readonly answer: SchemaOptions;
  readonly request: SchemaOptions;
}

// A reference is a promise: whatever is referred to becomes a component.
function createDescriber(comments: Comments, messages: Map<string, DescMessage>): Describer {
  const comment = (name: string): string | undefined => comments[name];
  const reference = (message: DescMessage): string => {
    messages.set(message.typeName, message);
    return `#/components/schemas/${message.typeName}`;
  };
  return { comments, answer: { side: "answer", comment, reference }, request: { side: "request", comment } };
}

// Describing one message may refer to others that nobody named before: the list grows while it is walked.
function componentSchemas({ answer }: Describer, messages: Map<string, DescMessage>): Record<string, JsonSchema> {
  const schemas: Record<string, JsonSchema> = { ...errorSchemas };
  for (const [name, message] of messages) schemas[name] = messageSchema(message, answer);
  return Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function rpcOperation(route: RpcRoute, describe: Describer): Operation {
  const { method, body } = route;
  const { rpc } = method;
  const fromPath = new Set(route.template.variables);
  const query = body === "*" ? [] : rpc.input.fields.filter((field) => !fromPath.has(field.name) && field.name !== body && isText(field));
  return {
    operationId: operationIdOf(rpc),
    tags: [serviceName(rpc.parent)],
    ...summaryOf(describe.comments[`${rpc.parent.typeName}.${rpc.name}`]),
    security: securityOf(method.access),
    parameters: [...rpc.input.fields.filter((field) => fromPath.has(field.name)).map((field) => parameter(field, "path", describe)), ...query.map((field) => parameter(field, "query", describe))],
    ...(body === "" ? {} : { requestBody: { content: { "application/json": bodyContent(method, body, fromPath, describe) } } }),
    responses: { [isNothing(method) ? 204 : method.httpStatus]: successOf(method, describe), default: failureOf(method.dialect) },
  };
}

function plainOperation(route: OtherRoute): Operation {
  return {
    operationId: `${route.verb}_${route.template.text.replaceAll(/[^A-Za-z0-9]+/g, "_")}`,
    tags: [], security: securityOf(route.access),
    parameters: route.template.variables.map((name) => ({ name: protoCamelCase(name), in: "path", required: true, schema: { type: "string" } })),
    responses: { 200: { description: "Not JSON, or a stream of events." }, default: failureOf(route.dialect) },
  };
}

/** The path with its variables under the names that requests and answers use. */
function pathText(route: RpcRoute | OtherRoute): string {
  const nameOf = route.kind === "plain" ? protoCamelCase : (name: string): string => variableName(route.method.rpc.input, name);
  return route.template.text.replaceAll(/\{([^}=]+)[^}]*\}/g, (_all, name: string) => `{${nameOf(name)}}`);
}

function variableName(input: DescMessage, name: string): string {
  const field = input.fields.find((candidate) => candidate.name === name);
  return field === undefined ? name : jsonName(field);
}

function isText(field: DescField): boolean {
  return field.fieldKind !== "map" && (field.message === undefined || isWellKnown(field.message.typeName));
}

function parameter(field: DescField, where: "path" | "query", { comments, request }: Describer): Parameter {
  const { description: _left, ...schema } = fieldSchema(field, request);
  const list = field.fieldKind === "list" ? { style: "form" as const, explode: !fieldStyleOf(field).comma } : {};
  return { name: jsonName(field), in: where, required: where === "path" || isRequired(field), ...textOf(comments[`${field.parent.typeName}.${field.name}`]), schema, ...list };
}

function bodyContent({ rpc }: Method, body: string, fromPath: ReadonlySet<string>, { request }: Describer): { schema: JsonSchema; example: unknown } {
  const one = rpc.input.fields.find((field) => field.name === body)?.message;
  const whole = messageSchema(one ?? rpc.input, request);
  const left = new Set(rpc.input.fields.filter((field) => one === undefined && fromPath.has(field.name)).map(jsonName));
  const properties = Object.fromEntries(Object.entries(whole.properties ?? {}).filter(([name]) => !left.has(name)));
  const required = ((whole["required"] ?? []) as readonly string[]).filter((name) => !left.has(name));
  const { required: _all, ...rest } = whole;
  const schema = { ...rest, properties, ...(required.length === 0 ? {} : { required }) };
  return { schema, example: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, exampleOf(each)])) };
}

/** A value that the schema takes. */
function exampleOf(schema: JsonSchema): unknown {
  if (schema.enum !== undefined) return schema.enum[0];
  switch (schema.type) {
    case "boolean": return false;
    case "integer": case "number": return typeof schema["minimum"] === "number" ? schema["minimum"] : 0;
    case "array": return schema.items === undefined || Number(schema["minItems"] ?? 0) === 0 ? [] : [exampleOf(schema.items)];
    case "object": return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, each]) => [name, exampleOf(each)]));
    case "string": return schema.format === "date-time" ? "2026-01-01T00:00:00Z" : "text";
    default: return null;
  }
}

function successOf(method: Method, { answer, comments }: Describer): unknown {
  const output = restMessage(method.rpc);
  const description = comments[output.typeName] ?? "Success.";
  if (styleOf(output.file).dialect !== "vault") return { description, content: { "application/json": { schema: { $ref: answer.reference?.(output) } } } };
  if (isNothing(method)) return { description: "Nothing to return." };
  const data = { $ref: answer.reference?.(output) };
  return { description, content: { "application/json": { schema: method.raw ? data : { allOf: [{ $ref: "#/components/schemas/VaultAnswer" }, { properties: { data } }] } } } };
}

// Vault's surface answers a message without fields with no body at all.
function isNothing({ dialect, rpc }: Method): boolean {
  return dialect === "vault" && rpc.output.fields.length === 0;
}

function failureOf(dialect: DialectName): unknown {
  if (dialect === "monitor") return { description: "One line that says why.", content: { "text/plain": { schema: { type: "string" } } } };
  return { description: "Why not.", content: { "application/json": { schema: { $ref: `#/components/schemas/${dialect === "dedup" ? "Error" : "VaultErrors"}` } } } };
}

function securityOf(access: Access): Operation["security"] {
  switch (access) {
    case Access.OPERATOR: return [{ operatorBearer: [] }, { operatorBasic: [] }];
    case Access.ADMIN: return [{ adminBearer: [] }, { adminBasic: [] }];
    case Access.SELF: return [{ vaultToken: [] }];
    default: return [];
  }
}

function textOf(text: string | undefined): { description?: string } {
  return text === undefined ? {} : { description: text };
}

function summaryOf(text: string | undefined): { summary?: string } {
  return text === undefined ? {} : { summary: text };
}

const text: JsonSchema = { type: "string" };

const errorSchemas: Readonly<Record<string, JsonSchema>> = {
  Error: {
    type: "object",
    properties: { error: { type: "object", properties: { code: text, message: { ...text, description: "The thing, the rule and the remedy." }, details: { type: "array", description: "Each finding.", items: { type: "object", additionalProperties: true } } } } },
  },
  VaultErrors: { type: "object", properties: { errors: { type: "array", items: text } } },
  VaultAnswer: {
    type: "object",
    properties: { request_id: text, lease_id: text, renewable: { type: "boolean" }, lease_duration: { type: "integer" }, data: {}, wrap_info: {}, warnings: {}, auth: {} },
  },
};

const securitySchemes: Readonly<Record<string, unknown>> = {
  operatorBearer: { type: "http", scheme: "bearer", description: "auth.token; nothing where none is set." },
  operatorBasic: { type: "http", scheme: "basic", description: "auth.token as the password, any user." },
  adminBearer: { type: "http", scheme: "bearer", description: "admin.auth.token, where it is set; else auth.token." },
  adminBasic: { type: "http", scheme: "basic", description: "The same as the password, any user." },
  vaultToken: { type: "apiKey", in: "header", name: "X-Vault-Token" },
};
