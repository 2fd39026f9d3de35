/**
 * Gathers the .proto files Steward's own import but does not own (google.api, gRPC health and
 * reflection, buf.validate) from the npm packages that carry them into `.cache/foreign`, so that
 * `buf` works without a network and nothing foreign is committed. buf.validate ships only as a
 * compiled descriptor; it is printed back to source without its custom options.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
} from "@bufbuild/protobuf/wkt";
import { file_buf_validate_validate } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";

const root = join(import.meta.dirname, "..");
export const FOREIGN = join(root, ".cache/foreign");

/** Clears `.cache/foreign` and fills it anew. */
export function gatherForeignProtos(): void {
  rmSync(FOREIGN, { recursive: true, force: true });
  copy("protobufjs/google/api/annotations.proto", "google/api/annotations.proto");
  copy("protobufjs/google/api/http.proto", "google/api/http.proto", withResponseBody);
  copy("grpc-health-check/proto/health/v1/health.proto", "grpc/health/v1/health.proto");
  copy(
    "@grpc/reflection/build/proto/grpc/reflection/v1/reflection.proto",
    "grpc/reflection/v1/reflection.proto",
  );
  copy(
    "@grpc/reflection/build/proto/grpc/reflection/v1alpha/reflection.proto",
    "grpc/reflection/v1alpha/reflection.proto",
  );
  const target = join(FOREIGN, "buf/validate/validate.proto");
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, printFile(file_buf_validate_validate.proto));
}

function copy(
  from: string,
  to: string,
  change: (source: string) => string = (source) => source,
): void {
  const target = join(FOREIGN, to);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, change(readFileSync(join(root, "node_modules", from), "utf8")));
}

/**
 * The package's copy of google/api/http.proto is older than `response_body`, field 12 of HttpRule.
 */
function withResponseBody(source: string): string {
  const body = "string body = 7;";
  if (source.includes("response_body")) return source;
  if (!source.includes(body))
    throw new Error(`google/api/http.proto has no line "${body}" to put response_body after`);
  return source.replace(body, `${body}\n    string response_body = 12;`);
}

function printFile(file: FileDescriptorProto): string {
  const lines = [`syntax = "${file.syntax || "proto2"}";`, `package ${file.package};`];
  lines.push(...file.dependency.map((path) => `import "${path}";`));
  for (const extension of file.extension)
    lines.push(`extend ${extension.extendee} {`, printField(extension, file.syntax), "}");
  for (const message of file.messageType) lines.push(...printMessage(message, file.syntax));
  for (const item of file.enumType) lines.push(...printEnum(item));
  return `${lines.join("\n")}\n`;
}

function printMessage(message: DescriptorProto, syntax: string): string[] {
  const maps = new Set(
    message.nestedType.filter((nested) => nested.options?.mapEntry).map((nested) => nested.name),
  );
  const lines = [`message ${message.name} {`];
  for (const nested of message.nestedType)
    if (!maps.has(nested.name)) lines.push(...printMessage(nested, syntax));
  for (const item of message.enumType) lines.push(...printEnum(item));
  const loose = message.field.filter((field) => !hasOneof(field) || field.proto3Optional);
  lines.push(...loose.map((field) => printField(field, syntax)));
  message.oneofDecl.forEach((oneof, index) => {
    const members = message.field.filter(
      (field) => field.oneofIndex === index && !field.proto3Optional && hasOneof(field),
    );
    if (members.length)
      lines.push(
        `oneof ${oneof.name} {`,
        ...members.map((field) => printField(field, "oneof")),
        "}",
      );
  });
  for (const range of message.extensionRange)
    lines.push(
      `extensions ${range.start} to ${range.end === 536870912 ? "max" : (range.end ?? 1) - 1};`,
    );
  for (const range of message.reservedRange)
    lines.push(`reserved ${range.start} to ${(range.end ?? 1) - 1};`);
  if (message.reservedName.length)
    lines.push(`reserved ${message.reservedName.map((name) => JSON.stringify(name)).join(", ")};`);
  return [...lines, "}"];
}

// An unset proto2 field reads as its default (0), so only an own property tells.
function hasOneof(field: FieldDescriptorProto): boolean {
  return Object.hasOwn(field, "oneofIndex");
}

const scalar: Record<number, string> = Object.fromEntries(
  Object.entries(Type)
    .filter(([, value]) => typeof value === "number")
    .map(([name, value]) => [value, name.replace("TYPE_", "").toLowerCase()]),
);

function printField(field: FieldDescriptorProto, syntax: string): string {
  const type = field.typeName || (scalar[field.type ?? 0] ?? "");
  const label =
    field.label === Label.REPEATED
      ? "repeated "
      : syntax === "oneof"
        ? ""
        : field.label === Label.REQUIRED
          ? "required "
          : syntax === "proto3" && !field.proto3Optional
            ? ""
            : "optional ";
  return `${label}${type} ${field.name} = ${field.number}${field.defaultValue ? ` [default = ${printDefault(field)}]` : ""};`;
}

function printDefault(field: FieldDescriptorProto): string {
  return field.type === Type.STRING
    ? JSON.stringify(field.defaultValue)
    : (field.defaultValue ?? "");
}

function printEnum(item: EnumDescriptorProto): string[] {
  const numbers = item.value.map((value) => value.number);
  const alias = new Set(numbers).size < numbers.length ? ["option allow_alias = true;"] : [];
  return [
    `enum ${item.name} {`,
    ...alias,
    ...item.value.map((value) => `${value.name} = ${value.number};`),
    "}",
  ];
}

// `npm run prepare` runs it, so that `buf` reads `proto/` in a fresh clone.
if (import.meta.main) gatherForeignProtos();
