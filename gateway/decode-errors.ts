/**
 * Adds remedies to Connect's errors about requests that it cannot decode. The library creates and
 * writes these errors; only their properties can be changed in between.
 */
import type { DescMessage } from "@bufbuild/protobuf";
import { Code as RpcCode, ConnectError } from "@connectrpc/connect";
import { nearest } from "../src/kernel/base/text/nearest.ts";

/**
 * The library's message for input it cannot parse; for output it cannot write the message differs.
 */
const UNREADABLE = /^parse binary: (.*)$/s;
const SHOWN_CHARACTERS = 200;

/**
 * Turns the library's error about bytes that are not an `input` into the client's error, with the
 * remedy. Leaves other errors unchanged. Not for errors of handlers, which may be clients
 * themselves.
 */
export function asBadInput(error: unknown, input: DescMessage): void {
  if (!(error instanceof ConnectError) || error.code !== RpcCode.Internal) return;
  const [, why] = UNREADABLE.exec(error.rawMessage) ?? [];
  if (why === undefined) return;
  Object.assign(error, {
    code: RpcCode.InvalidArgument,
    rawMessage: `the request is not a valid ${input.typeName}: ${why.slice(0, SHOWN_CHARACTERS)}; encode it by the service's .proto files, with text as UTF-8`,
  });
}

const UNKNOWN = /cannot decode message (\S+) from JSON: key "(.*)" is unknown/s;
const SHOWN_FIELDS = 20;

/**
 * Adds the remedy to an error about an unknown field of `input` or of a nested message. Leaves
 * other errors unchanged.
 */
export function withKnownFields(error: unknown, input: DescMessage): void {
  if (!(error instanceof ConnectError)) return;
  const [, typeName, key = ""] = UNKNOWN.exec(error.rawMessage) ?? [];
  const message = typeName === undefined ? undefined : messageWithin(input, typeName);
  if (message === undefined) return;
  const names = message.fields.map((field) => field.jsonName);
  const meant = nearest(key, names);
  const known =
    names.length === 0
      ? "no fields are allowed here"
      : `known are ${names.slice(0, SHOWN_FIELDS).join(", ")}`;
  Object.assign(error, {
    rawMessage: `${error.rawMessage}; ${meant === undefined ? known : `did you mean ${meant}?`}`,
  });
}

/** The nested message type of that name. Each type is visited once. */
function messageWithin(from: DescMessage, typeName: string): DescMessage | undefined {
  const seen = new Set([from]);
  for (const message of seen) {
    if (message.typeName === typeName) return message;
    for (const { message: inner } of message.fields) if (inner !== undefined) seen.add(inner);
  }
  return undefined;
}
