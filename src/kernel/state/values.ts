/** Value codecs. */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { ValueCodec } from "./types.ts";

/** Protobuf messages. Unknown fields are kept, so a newer row survives an older reader. */
export function protobufCodec<D extends DescMessage>(schema: D): ValueCodec<MessageShape<D>> {
  return {
    write: (value) => toBinary(schema, value),
    read: (bytes) => fromBinary(schema, bytes),
  };
}

/** Raw bytes. `read` returns a copy owned by the caller. */
export const bytesCodec: ValueCodec<Uint8Array> = {
  write: (value) => value,
  read: (bytes) => new Uint8Array(bytes),
};
