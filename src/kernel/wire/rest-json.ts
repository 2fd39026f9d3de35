/** The JSON of a method's answer over REST, whichever thread writes it. */
import { getOption, type DescMethod, type Message } from "@bufbuild/protobuf";
import { method as methodOption } from "../../gen/steward/options/v1/options_pb.ts";
import { styleOf } from "./style.ts";
import { writeMessage, type WriteOptions } from "./write.ts";

const READABLE = 2;
/** Reading an option parses it: once for a method is enough. */
const forms = new WeakMap<DescMethod, WriteOptions>();

/** The message without its surface's envelope. The admin's documents and dedup's downloads are for people too: they are indented. */
export function writeRestJson(method: DescMethod, message: Message): string {
  let form = forms.get(method);
  if (form === undefined) forms.set(method, form = formOf(method));
  return writeMessage(method.output, message, form);
}

function formOf(method: DescMethod): WriteOptions {
  const raw = method.proto.options !== undefined && getOption(method, methodOption).raw;
  const { dialect } = styleOf(method.parent.file);
  const readable = dialect === "monitor" ? !raw : dialect === "dedup" && raw;
  return { indent: readable ? READABLE : 0 };
}
