/** The ready-made shapes of values. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { ValueCodec } from "./types.ts";

/**
 * Values that are protobuf messages. Fields this version does not know are kept, so a newer row
 * survives an older reader.
 */
export function protobufCodec<D extends DescMessage>(schema: D): ValueCodec<MessageShape<D>> {
  return {
    write: (value) => toBinary(schema, value),
    read: (bytes) => fromBinary(schema, bytes),
  };
}

/** Values that are bytes already. What `read` returns is a copy that the caller may keep. */
export const bytesCodec: ValueCodec<Uint8Array> = {
  write: (value) => value,
  read: (bytes) => new Uint8Array(bytes),
};
