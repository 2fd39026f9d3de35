/**
 * Binds a request's path, query and body to its message by a `google.api.http` rule. Text of path
 * and query is coerced by field type and then read as strictly as JSON; all problems are found in
 * one pass.
 */
import {
  create,
  ScalarType,
  type DescField,
  type DescMessage,
  type Message,
} from "@bufbuild/protobuf";
import { assert } from "../base/errors.ts";
import { BAD_REQUEST, createIssues, invalidRequest } from "./issues.ts";
import { readJsonText, type JsonText } from "./json-text.ts";
import { elementTake, prepareReader, readBody, setField } from "./read.ts";
import { acceptedNames, fieldStyleOf, isWellKnown, jsonName } from "./style.ts";
import type { Reading, Take } from "./values.ts";

/** The http binding of a method. */
export interface BindRule {
  readonly input: DescMessage;
  /** Names of the path variables, each a scalar or enum field. */
  readonly variables: readonly string[];
  /** `*`, a field's name, or empty for none. */
  readonly body: string;
  readonly ignoreUnknown: boolean;
}

interface RequestParts {
  /** Path variables, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The raw query, with or without its question mark. */
  readonly search: string;
  /** Empty when the rule has no body; already parsed where it may be large. */
  readonly body: Uint8Array | JsonText | undefined;
}

/** Binds the requests of one route. */
export interface Binder {
  readonly readsBody: boolean;
  /** Throws `invalid` with all findings; with the rule `bad_request` when the path is wrong. */
  bind(parts: RequestParts): Message;
}

/**
 * Compiles a rule. Throws when it names an unknown field, or leaves a field that text cannot
 * express.
 */
export function createBinder(rule: BindRule): Binder {
  const { input } = rule;
  prepareReader(input);
  const variables = rule.variables.map((name) => textField(input, name));
  const fromPath = new Set(variables.map((variable) => variable.field));
  const bodyField =
    rule.body === "" || rule.body === "*" ? undefined : messageField(input, rule.body);
  const query =
    rule.body === "*"
      ? []
      : input.fields
          .filter((field) => !fromPath.has(field) && field !== bodyField)
          .map((field) => queryField(field));
  return {
    readsBody: rule.body !== "",
    bind(parts) {
      const message = create(input);
      const reading: Reading = {
        path: [],
        issues: createIssues(),
        ignoreUnknown: rule.ignoreUnknown,
      };
      for (const variable of variables)
        takeTexts(variable, [parts.params[variable.field.name] ?? ""], message, reading);
      const pathIsWrong = reading.issues.found.length > 0;
      bindQuery(query, parts.search, message, reading);
      const body = rule.body === "" ? undefined : textOf(parts.body);
      if (body !== undefined) takeBody(input, bodyField, message, body, reading, fromPath);
      if (reading.issues.found.length > 0)
        throw invalidRequest(reading.issues.found, pathIsWrong ? BAD_REQUEST : undefined);
      return message;
    },
  };
}

interface TextField {
  readonly field: DescField;
  readonly names: readonly string[];
  readonly take: Take;
  readonly toValue: (text: string) => unknown;
}

function textField(input: DescMessage, name: string): TextField {
  const field = input.fields.find((candidate) => candidate.name === name);
  assert(
    field !== undefined && (field.fieldKind === "scalar" || field.fieldKind === "enum"),
    `${input.typeName} has no scalar field ${name} for its path variable`,
  );
  return queryField(field);
}

function queryField(field: DescField): TextField {
  const possible =
    field.fieldKind !== "map" &&
    (field.message === undefined || isWellKnown(field.message.typeName)) &&
    field.scalar !== ScalarType.BYTES;
  assert(possible, `${field.parent.typeName}.${field.name} cannot be given in a path or query`);
  return { field, names: acceptedNames(field), take: elementTake(field), toValue: coercion(field) };
}

function messageField(input: DescMessage, name: string): DescField {
  const field = input.fields.find((candidate) => candidate.name === name);
  assert(
    field?.fieldKind === "message" && !isWellKnown(field.message.typeName),
    `${input.typeName} has no message field ${name} for its body`,
  );
  return field;
}

const WHOLE = /^-?\d+$/;
const DECIMAL = /^-?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

/**
 * Text in the form of the field's type becomes a value of it; other text stays text and is refused
 * as such.
 */
function coercion(field: DescField): (text: string) => unknown {
  switch (field.scalar) {
    case undefined:
    case ScalarType.STRING:
      return (text) => text;
    case ScalarType.BOOL:
      return (text) => (text === "true" ? true : text === "false" ? false : text);
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return (text) => (DECIMAL.test(text) ? Number(text) : text);
    default:
      return (text) => (WHOLE.test(text) ? Number(text) : text);
  }
}

function bindQuery(
  fields: readonly TextField[],
  search: string,
  message: Message,
  reading: Reading,
): void {
  if (fields.length === 0 || search === "") return;
  const query = new URLSearchParams(search);
  for (const field of fields) {
    const texts = field.names.flatMap((name) => query.getAll(name));
    if (texts.length > 0) takeTexts(field, texts, message, reading);
  }
}

function takeTexts(
  field: TextField,
  texts: readonly string[],
  message: Message,
  reading: Reading,
): void {
  const style = fieldStyleOf(field.field);
  if (style.flag) {
    if (texts.length === 1 && texts[0] === "true") setField(message, field.field, true, reading);
    return;
  }
  if (style.lenient) {
    takeLenient(field, texts[0] ?? "", message);
    return;
  }
  reading.path.push(jsonName(field.field));
  if (field.field.fieldKind === "list")
    setField(
      message,
      field.field,
      takeAll(field, style.comma ? splitAtCommas(texts) : texts, reading),
      reading,
    );
  else if (texts.length > 1)
    reading.issues.add(reading.path, "must be given once", "duplicate_field");
  else {
    const taken = field.take(field.toValue(texts[0] ?? ""), reading);
    if (taken !== undefined) setField(message, field.field, taken, reading);
  }
  reading.path.pop();
}

/** Unreadable text leaves the field unset. */
function takeLenient({ field, take, toValue }: TextField, text: string, message: Message): void {
  const reading: Reading = { path: [], issues: createIssues(), ignoreUnknown: false };
  const value = toValue(text);
  const taken = take(
    field.scalar === ScalarType.INT32 && typeof value === "number" ? nearestInt32(value) : value,
    reading,
  );
  if (taken !== undefined) setField(message, field, taken, reading);
}

function nearestInt32(value: number): number {
  return Math.max(-(2 ** 31), Math.min(value, 2 ** 31 - 1));
}

function takeAll(field: TextField, texts: readonly string[], reading: Reading): unknown[] {
  return texts.map((text, index) => {
    reading.path.push(index);
    const taken = field.take(field.toValue(text), reading);
    reading.path.pop();
    return taken;
  });
}

/** `a,b` and `a, b`; an empty parameter is an empty list. */
function splitAtCommas(texts: readonly string[]): string[] {
  return texts
    .filter((text) => text !== "")
    .flatMap((text) => text.split(",").map((part) => part.trim()));
}

function textOf(body: RequestParts["body"]): JsonText | undefined {
  return body instanceof Uint8Array ? readJsonText(body) : body;
}

/** The whole body, or the body as one field. */
function takeBody(
  input: DescMessage,
  field: DescField | undefined,
  message: Message,
  body: JsonText,
  reading: Reading,
  fromPath: ReadonlySet<DescField>,
): void {
  if (field?.message === undefined) return readBody(input, message, body, reading, fromPath);
  const inner = create(field.message);
  reading.path.push(jsonName(field));
  readBody(field.message, inner, body, reading);
  setField(message, field, inner, reading);
  reading.path.pop();
}
