/** The JSON of a method's answer over REST, whichever thread writes it. */
import { getOption, type DescMethod, type Message } from "@bufbuild/protobuf";
import { method as methodOption } from "../../gen/steward/options/v1/options_pb.ts";
import { styleOf } from "./style.ts";
import { writeMessage } from "./write.ts";

const READABLE = 2;

/** The message without its surface's envelope. The admin's documents and dedup's downloads are for people too: they are indented. */
export function writeRestJson(method: DescMethod, message: Message): string {
  const raw = method.proto.options !== undefined && getOption(method, methodOption).raw;
  const { dialect } = styleOf(method.parent.file);
  const readable = dialect === "monitor" ? !raw : dialect === "dedup" && raw;
  return writeMessage(method.output, message, { indent: readable ? READABLE : 0 });
}
