/** Serialises a method's REST response on any thread. */
import {
  create,
  getOption,
  hasOption,
  type DescField,
  type DescMessage,
  type DescMethod,
  type Message,
} from "@bufbuild/protobuf";
import { http as httpOption } from "../../gen/google/api/annotations_pb.ts";
import { method as methodOption } from "../../gen/steward/options/v1/options_pb.ts";
import { assert } from "../base/errors.ts";
import { isWellKnown, styleOf } from "./style.ts";
import { writeMessage, type WriteOptions } from "./write.ts";

const READABLE = 2;
interface Form {
  readonly options: WriteOptions;
  /** The field that is the whole REST response; undefined for the whole message. */
  readonly field: (DescField & { readonly message: DescMessage }) | undefined;
}
/** Reading an option parses it, so it is cached per method. */
const forms = new WeakMap<DescMethod, Form>();

/**
 * The message without its surface's envelope, or the field named by the http rule's
 * `response_body`. The admin's documents and dedup's downloads are also read by people: they are
 * indented.
 */
export function writeRestJson(method: DescMethod, message: Message): string {
  const { field, options } = formOf(method);
  if (field === undefined) return writeMessage(method.output, message, options);
  const inner = (message as unknown as Record<string, Message | undefined>)[field.localName];
  return writeMessage(field.message, inner ?? create(field.message), options);
}

/**
 * The message of a method's REST response. Throws when the http rule names a field that is not a
 * message.
 */
export function restMessage(method: DescMethod): DescMessage {
  return formOf(method).field?.message ?? method.output;
}

function formOf(method: DescMethod): Form {
  let form = forms.get(method);
  if (form === undefined)
    forms.set(method, (form = { options: layoutOf(method), field: bodyField(method) }));
  return form;
}

function bodyField(method: DescMethod): Form["field"] {
  const name =
    method.proto.options !== undefined && hasOption(method, httpOption)
      ? getOption(method, httpOption).responseBody
      : "";
  if (name === "") return undefined;
  const field = method.output.fields.find((candidate) => candidate.name === name);
  assert(
    field?.fieldKind === "message" && !isWellKnown(field.message.typeName),
    `${method.output.typeName} has no message field ${name} for its response body`,
  );
  return field;
}

function layoutOf(method: DescMethod): WriteOptions {
  const raw = method.proto.options !== undefined && getOption(method, methodOption).raw;
  const { dialect } = styleOf(method.parent.file);
  const readable = dialect === "monitor" ? !raw : dialect === "dedup" && raw;
  return { indent: readable ? READABLE : 0 };
}
