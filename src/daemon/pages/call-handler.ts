/** Calls an rpc handler in this process, without HTTP. */
import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { BoundService, Call } from "../../kernel/service.ts";

/** Rejects with what the handler throws, and when no service has the method. */
export async function callHandler<I extends DescMessage, O extends DescMessage>(
  rpc: readonly BoundService[],
  method: DescMethodUnary<I, O>,
  init: MessageInitShape<I>,
  call: Call,
): Promise<MessageShape<O>> {
  const service = rpc.find(({ desc }) => desc.typeName === method.parent.typeName);
  const handler = service?.handler(method) as
    | ((request: MessageShape<I>, call: Call) => Promise<MessageInitShape<O>>)
    | undefined;
  if (handler === undefined) throw new Error(`${method.parent.typeName} is not served`);
  return create(method.output, await handler(create(method.input, init), call));
}
