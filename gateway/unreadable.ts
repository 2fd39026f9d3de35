/**
 * Makes unreadable protobuf the client's error: the library reports it as internal, without a
 * remedy.
 */
import type { DescMessage } from "@bufbuild/protobuf";
import { Code as RpcCode, ConnectError } from "@connectrpc/connect";

/**
 * The library's message for input it cannot parse; for output it cannot write the message differs.
 */
const UNREADABLE = /^parse binary: (.*)$/s;
const SHOWN = 200;

/**
 * Turns the library's error about bytes that are not an `input` into the client's error, with the
 * remedy. Leaves other errors unchanged. Not for errors of handlers, which may be clients
 * themselves.
 */
export function asBadInput(error: unknown, input: DescMessage): void {
  if (!(error instanceof ConnectError) || error.code !== RpcCode.Internal) return;
  const [, why] = UNREADABLE.exec(error.rawMessage) ?? [];
  if (why === undefined) return;
  // The library creates and writes this error; only its properties can be changed in between.
  Object.assign(error, {
    code: RpcCode.InvalidArgument,
    rawMessage: `the request is not a valid ${input.typeName}: ${why.slice(0, SHOWN)}; encode it by the service's .proto files, with text as UTF-8`,
  });
}
