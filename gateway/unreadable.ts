/**
 * Protobuf that cannot be read: the library calls it a mistake of ours, and says neither what was
 * asked for nor what to do.
 */
import type { DescMessage } from "@bufbuild/protobuf";
import { Code as RpcCode, ConnectError } from "@connectrpc/connect";

/**
 * What the library writes of bytes that it was given to read; of what it cannot write it says
 * something else.
 */
const UNREADABLE = /^parse binary: (.*)$/s;
const SHOWN = 200;

/**
 * Makes the library's error about bytes that are no `input` the client's mistake, with the remedy.
 * Leaves any other as it is. Not for errors of handlers, who may be clients themselves.
 */
export function asBadInput(error: unknown, input: DescMessage): void {
  if (!(error instanceof ConnectError) || error.code !== RpcCode.Internal) return;
  const [, why] = UNREADABLE.exec(error.rawMessage) ?? [];
  if (why === undefined) return;
  // The library makes and writes this error itself: what it holds is all that can be put right in
  // between.
  Object.assign(error, {
    code: RpcCode.InvalidArgument,
    rawMessage: `the request is not a valid ${input.typeName}: ${why.slice(0, SHOWN)}; encode it by the service's .proto files, with text as UTF-8`,
  });
}
