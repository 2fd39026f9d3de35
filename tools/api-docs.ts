/**
 * Everything about the API that is generated from `proto/`: the comments that the served reference
 * needs, the committed OpenAPI document, and for each answer a JSON Schema with the baseline of
 * what readers were promised.
 */
import {
  createFileRegistry,
  fromBinary,
  getOption,
  type DescFile,
  type DescMessage,
  type DescMethod,
} from "@bufbuild/protobuf";
import {
  FileDescriptorSetSchema,
  type FileDescriptorProto,
  type SourceCodeInfo_Location,
} from "@bufbuild/protobuf/wkt";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApiText } from "../gateway/describe/describe.ts";
import { breaks, flatten, type Baseline } from "../gateway/describe/flatten.ts";
import { messageSchema, type JsonSchema } from "../gateway/describe/json-schema.ts";
import { openApi, type Comments, type Server } from "../gateway/describe/openapi.ts";
import { methodTable, type MethodTable } from "../gateway/methods.ts";
import { method as methodOption } from "../src/gen/steward/options/v1/options_pb.ts";
import { METRICS_ROUTE } from "../src/daemon/telemetry/telemetry.ts";
import { PREVIEW_ROUTE, THUMBNAIL_ROUTE } from "../src/dedup/api/archive.ts";
import { DELETE_PLAN_ROUTE } from "../src/dedup/api/delete-plan-file.ts";
import { CONFIG_EXPORT_ROUTE } from "../src/dedup/api/config-export.ts";
import { DUPLICATES_CSV_ROUTE } from "../src/dedup/api/duplicates-csv.ts";
import { JOB_PROGRESS_ROUTE } from "../src/dedup/api/jobs.ts";
import type { PlainRoute } from "../src/kernel/service.ts";
import { restMessage } from "../src/kernel/wire/rest-json.ts";
import { schemaVersion } from "../src/kernel/wire/style.ts";
import { FLOWS_CSV_ROUTE } from "../src/monitor/flowstore/flows-csv.ts";
import { SUPPORT_BUNDLE_ROUTE } from "../src/monitor/support-bundle.ts";
import { declaredServices } from "./declared-services.ts";
import { BUF } from "./generators.ts";

const root = join(import.meta.dirname, "..");
const schemas = join(root, "docs/schemas");
const DEFAULT_SERVER: Server = {
  url: "http://127.0.0.1:8400",
  description: "The default of `gateway.listen`.",
};

/** A file that is generated, relative to the repository. */
export interface GeneratedFile {
  readonly path: string;
  readonly text: string;
}

/** The OpenAPI document and all schemas, as they must be committed. */
export async function apiDocs(comments: Comments): Promise<readonly GeneratedFile[]> {
  const table = await declaredMethods();
  return [
    {
      path: "docs/api/openapi.json",
      text: openApiText(openApi(table, comments, [DEFAULT_SERVER])),
    },
    ...[...answersOf(table)].map(([name, message]) => ({
      path: `docs/schemas/${name}.schema.json`,
      text: schemaText(message, comments),
    })),
  ];
}

async function declaredMethods(): Promise<MethodTable> {
  const services = await declaredServices();
  return methodTable(
    services.map((desc) => ({ desc, handler: () => () => ({}) })),
    describedRoutes(),
  );
}

/** The plain routes that belong to the API, without a process that serves them. */
function describedRoutes(): readonly PlainRoute[] {
  const handle = (): Promise<never> => Promise.reject(new Error("only described"));
  return [
    JOB_PROGRESS_ROUTE,
    DELETE_PLAN_ROUTE,
    PREVIEW_ROUTE,
    THUMBNAIL_ROUTE,
    DUPLICATES_CSV_ROUTE,
    CONFIG_EXPORT_ROUTE,
    METRICS_ROUTE,
    SUPPORT_BUNDLE_ROUTE,
    FLOWS_CSV_ROUTE,
  ].map((route) => ({ ...route, handle }));
}

/** What REST answers with, by the name that its schema is published under. */
function answersOf(table: MethodTable): ReadonlyMap<string, DescMessage> {
  return new Map(
    table.methods
      .filter(({ rpc }) => rpc.methodKind === "unary")
      .map(({ rpc }) => [schemaName(rpc), restMessage(rpc)]),
  );
}

function schemaName(rpc: DescMethod): string {
  const { schema } = getOption(rpc, methodOption);
  return schema === "" ? restMessage(rpc).typeName : schema;
}

function schemaText(message: DescMessage, comments: Comments): string {
  const schema = messageSchema(message, { side: "answer", comment: (name) => comments[name] });
  return json({
    $schema: "http://json-schema.org/draft-07/schema#",
    title: message.typeName,
    ...schema,
  });
}

/**
 * Every promise that the committed schemas break, and every schema without a baseline or the
 * reverse; empty when all is well.
 */
export async function brokenPromises(): Promise<readonly string[]> {
  const answers = answersOf(await declaredMethods());
  const baselines = namesWith(".baseline.json").map((name) => [name, readBaseline(name)] as const);
  return compare(
    new Map(baselines),
    new Map(namesWith(".schema.json").map((name) => [name, committed(name, answers.get(name))])),
  );
}

/**
 * Every promise that is broken, by the documents' names; empty when readers of all baselines can
 * read what there is now.
 */
export function compare(
  promised: ReadonlyMap<string, Baseline>,
  now: ReadonlyMap<string, Baseline>,
): readonly string[] {
  const missing = [...now.keys()]
    .filter((name) => !promised.has(name))
    .map((name) => `${name}: no baseline`);
  const broken = [...promised].flatMap(([name, baseline]) => {
    const present = now.get(name);
    return present === undefined
      ? [`${name}: REMOVED`]
      : breaks(baseline, present).map((each) => `${name}: ${each}`);
  });
  return [...missing, ...broken];
}

/** What the committed schema of an answer promises. */
function committed(name: string, message: DescMessage | undefined): Baseline {
  const schema = JSON.parse(
    readFileSync(join(schemas, `${name}.schema.json`), "utf8"),
  ) as JsonSchema;
  return {
    schema_version: message === undefined ? 1 : schemaVersion(message),
    paths: flatten(schema),
  };
}

function namesWith(ending: string): string[] {
  return globSync(`*${ending}`, { cwd: schemas })
    .map((file) => file.slice(0, -ending.length))
    .sort();
}

/**
 * Writes comments, reference and schemas. New messages get their baseline; `accept` also takes the
 * present paths as promised. Throws when a promise is broken.
 */
export async function generateApiDocs(accept: boolean): Promise<void> {
  const comments = readComments();
  writeFileSync(join(root, "src/gen/comments.ts"), commentsModule(comments));
  rmSync(join(root, "docs/api"), { recursive: true, force: true });
  for (const old of globSync("*.schema.json", { cwd: schemas })) rmSync(join(schemas, old));
  for (const { path, text } of await apiDocs(comments)) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  for (const [name, message] of answersOf(await declaredMethods()))
    keepPromise(name, committed(name, message), accept);
  const broken = await brokenPromises();
  if (broken.length > 0)
    throw new Error(
      `the API breaks guaranteed paths; raise option (steward.options.v1.schema_version) of the message and run with --baseline:\n${broken.join("\n")}`,
    );
}

function keepPromise(name: string, now: Baseline, accept: boolean): void {
  const before = existsSync(baselinePath(name)) ? readBaseline(name) : undefined;
  const raised = before !== undefined && now.schema_version > before.schema_version;
  const harmless = before === undefined || breaks(before, now).length === 0;
  if (before === undefined || (accept && (raised || harmless)))
    writeFileSync(baselinePath(name), json(now));
}

function baselinePath(name: string): string {
  return join(schemas, `${name}.baseline.json`);
}

function readBaseline(name: string): Baseline {
  return JSON.parse(readFileSync(baselinePath(name), "utf8")) as Baseline;
}

// The generated code carries no comments: buf gives them with the places they stand at.
function readComments(): Comments {
  const built = spawnSync(BUF, ["build", "proto", "-o", "-#format=binpb"], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
  });
  if (built.status !== 0) throw new Error(`buf build: ${built.stderr.toString()}`);
  const set = fromBinary(FileDescriptorSetSchema, built.stdout);
  const comments: Record<string, string> = {};
  for (const file of createFileRegistry(set).files)
    if (/^steward\/(?!options|state)/.test(file.name))
      collect(file, commentAt(file.proto), comments);
  return Object.fromEntries(Object.entries(comments).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function collect(
  file: DescFile,
  textAt: (path: string) => string | undefined,
  comments: Record<string, string>,
): void {
  const keep = (name: string, path: string): void => {
    const text = textAt(path);
    if (text !== undefined) comments[name] = text;
  };
  const message = (desc: DescMessage, path: string): void => {
    keep(desc.typeName, path);
    desc.proto.field.forEach((field, index) =>
      keep(`${desc.typeName}.${field.name}`, `${path},2,${index}`),
    );
    desc.nestedMessages.forEach((nested) =>
      message(nested, `${path},3,${desc.proto.nestedType.indexOf(nested.proto)}`),
    );
  };
  file.messages.forEach((desc) => message(desc, `4,${file.proto.messageType.indexOf(desc.proto)}`));
  file.services.forEach((service, index) => {
    keep(service.typeName, `6,${index}`);
    service.methods.forEach((method, at) =>
      keep(`${service.typeName}.${method.name}`, `6,${index},2,${at}`),
    );
  });
}

function commentAt(file: FileDescriptorProto): (path: string) => string | undefined {
  const nodes = new Map(
    (file.sourceCodeInfo?.location ?? []).map((location) => [location.path.join(","), location]),
  );
  const clean = (location: SourceCodeInfo_Location | undefined): string =>
    [location?.leadingComments, location?.trailingComments]
      .filter((text) => text !== undefined)
      .join(" ")
      .replaceAll(/\s+/g, " ")
      .trim();
  return (path) => clean(nodes.get(path)) || undefined;
}

function commentsModule(comments: Comments): string {
  const rows = Object.entries(comments).map(
    ([name, text]) => `  ${JSON.stringify(name)}: ${JSON.stringify(text)},\n`,
  );
  return `/** The comments of proto/steward, by full name. Generated by tools/api-docs.ts. */\nexport const comments: Readonly<Record<string, string>> = {\n${rows.join("")}};\n`;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
