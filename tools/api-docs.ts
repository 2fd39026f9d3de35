/**
 * Everything about the API that is generated from `proto/`: the comments that the served reference needs, the committed
 * OpenAPI document, and for each answer a JSON Schema with the baseline of what readers were promised.
 */
import { createFileRegistry, fromBinary, type DescFile, type DescMessage } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, type FileDescriptorProto, type SourceCodeInfo_Location } from "@bufbuild/protobuf/wkt";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApiText } from "../gateway/describe/describe.ts";
import { breaks, flatten, type Baseline } from "../gateway/describe/flatten.ts";
import { messageSchema } from "../gateway/describe/json-schema.ts";
import { openApi, type Comments } from "../gateway/describe/openapi.ts";
import { methodTable } from "../gateway/methods.ts";
import { declaredServices } from "./declared-services.ts";
import { SCHEMA_VERSIONS } from "./schema-versions.ts";

const root: string = join(import.meta.dirname, "..");
const schemas: string = join(root, "docs/schemas");

/** A file that is generated, relative to the repository. */
export interface GeneratedFile {
  readonly path: string;
  readonly text: string;
}

/** The OpenAPI document and all schemas, as they must be committed. */
export async function apiDocs(comments: Comments): Promise<readonly GeneratedFile[]> {
  const services = await declaredServices();
  const table = methodTable(services.map((desc) => ({ desc, handler: () => () => ({}) })), []);
  const answers = new Map(table.methods.filter(({ rpc }) => rpc.methodKind === "unary").map(({ rpc }) => [rpc.output.typeName, rpc.output]));
  return [
    { path: "docs/api/openapi.json", text: openApiText(openApi(table, comments)) },
    ...[...answers.values()].map((message) => ({ path: `docs/schemas/${message.typeName}.schema.json`, text: schemaText(message, comments) })),
  ];
}

function schemaText(message: DescMessage, comments: Comments): string {
  const schema = messageSchema(message, { side: "answer", comment: (name) => comments[name] });
  return json({ $schema: "http://json-schema.org/draft-07/schema#", title: message.typeName, ...schema });
}

/** What a schema promises now. */
export function baselineOf(schemaJson: string): Baseline {
  const schema = JSON.parse(schemaJson) as { title: string };
  return { schema_version: SCHEMA_VERSIONS[schema.title] ?? 1, paths: flatten(schema) };
}

/** Every promise that the committed schemas break, and every schema without a baseline or the reverse; empty when all is well. */
export function brokenPromises(): readonly string[] {
  const names = (ending: string): string[] => globSync(`*${ending}`, { cwd: schemas }).map((file) => file.slice(0, -ending.length)).sort();
  const missing = names(".schema.json").filter((name) => !existsSync(baselinePath(name))).map((name) => `${name}: no baseline`);
  return [...missing, ...names(".baseline.json").flatMap((name) => {
    const path = join(schemas, `${name}.schema.json`);
    if (!existsSync(path)) return [`${name}: REMOVED`];
    return breaks(readBaseline(name), baselineOf(readFileSync(path, "utf8"))).map((each) => `${name}: ${each}`);
  })];
}

/** Writes comments, reference and schemas. New messages get their baseline; `accept` also takes the present paths as promised. Throws when a promise is broken. */
export async function generateApiDocs(accept: boolean): Promise<void> {
  const comments = readComments();
  writeFileSync(join(root, "src/gen/comments.ts"), commentsModule(comments));
  rmSync(join(root, "docs/api"), { recursive: true, force: true });
  for (const old of globSync("*.schema.json", { cwd: schemas })) rmSync(join(schemas, old));
  for (const { path, text } of await apiDocs(comments)) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  for (const file of globSync("*.schema.json", { cwd: schemas })) keepPromise(file.slice(0, -".schema.json".length), accept);
  const broken = brokenPromises();
  if (broken.length > 0) throw new Error(`the API breaks what it promised; raise the version in tools/schema-versions.ts and run with --baseline:\n${broken.join("\n")}`);
}

function keepPromise(name: string, accept: boolean): void {
  const now = baselineOf(readFileSync(join(schemas, `${name}.schema.json`), "utf8"));
  const before = existsSync(baselinePath(name)) ? readBaseline(name) : undefined;
  const raised = before !== undefined && now.schema_version > before.schema_version;
  const harmless = before === undefined || breaks(before, now).length === 0;
  if (before === undefined || (accept && (raised || harmless))) writeFileSync(baselinePath(name), json(now));
}

function baselinePath(name: string): string {
  return join(schemas, `${name}.baseline.json`);
}

function readBaseline(name: string): Baseline {
  return JSON.parse(readFileSync(baselinePath(name), "utf8")) as Baseline;
}

// The generated code carries no comments: buf gives them with the places they stand at.
function readComments(): Comments {
  const built = spawnSync(join(root, "node_modules/.bin/buf"), ["build", "proto", "-o", "-#format=binpb"], { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  if (built.status !== 0) throw new Error(`buf build: ${built.stderr.toString()}`);
  const set = fromBinary(FileDescriptorSetSchema, built.stdout);
  const comments: Record<string, string> = {};
  for (const file of createFileRegistry(set).files) if (/^steward\/(?!options|state)/.test(file.name)) collect(file, commentAt(file.proto), comments);
  return Object.fromEntries(Object.entries(comments).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function collect(file: DescFile, textAt: (path: string) => string | undefined, comments: Record<string, string>): void {
  const keep = (name: string, path: string): void => {
    const text = textAt(path);
    if (text !== undefined) comments[name] = text;
  };
  const message = (desc: DescMessage, path: string): void => {
    keep(desc.typeName, path);
    desc.proto.field.forEach((field, index) => keep(`${desc.typeName}.${field.name}`, `${path},2,${index}`));
    desc.nestedMessages.forEach((nested) => message(nested, `${path},3,${desc.proto.nestedType.indexOf(nested.proto)}`));
  };
  file.messages.forEach((desc) => message(desc, `4,${file.proto.messageType.indexOf(desc.proto)}`));
  file.services.forEach((service, index) => {
    keep(service.typeName, `6,${index}`);
    service.methods.forEach((method, at) => keep(`${service.typeName}.${method.name}`, `6,${index},2,${at}`));
  });
}

function commentAt(file: FileDescriptorProto): (path: string) => string | undefined {
  const places = new Map((file.sourceCodeInfo?.location ?? []).map((location) => [location.path.join(","), location]));
  const clean = (location: SourceCodeInfo_Location | undefined): string => [location?.leadingComments, location?.trailingComments].filter((text) => text !== undefined).join(" ").replaceAll(/\s+/g, " ").trim();
  return (path) => clean(places.get(path)) || undefined;
}

function commentsModule(comments: Comments): string {
  const rows = Object.entries(comments).map(([name, text]) => `  ${JSON.stringify(name)}: ${JSON.stringify(text)},\n`);
  return `/** The comments of proto/steward, by full name. Generated by tools/api-docs.ts. */\nexport const comments: Readonly<Record<string, string>> = {\n${rows.join("")}};\n`;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
