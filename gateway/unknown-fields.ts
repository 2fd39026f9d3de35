/** Suggests the intended name of an unknown field in Connect's and gRPC's JSON. */
import type { DescMessage } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { nearest } from "../src/kernel/base/nearest.ts";

const UNKNOWN = /cannot decode message (\S+) from JSON: key "(.*)" is unknown/s;
const SHOWN = 20;

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
      : `known are ${names.slice(0, SHOWN).join(", ")}`;
  // The library creates and writes this error; only its text can be changed in between.
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
