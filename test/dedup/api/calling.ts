/**
 * Calls the handlers of a bound service as a surface does: with a whole request message, giving a
 * whole answer.
 */
import { create } from "@bufbuild/protobuf";
import type {
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
  DescMessage,
} from "@bufbuild/protobuf";
import {
  createCall,
  type BoundService,
  type Call,
  type StreamHandler,
  type UnaryHandler,
} from "../../../src/kernel/service.ts";

export const call: Call = createCall({ signal: new AbortController().signal, requestId: "test" });

/** The answer to one request. */
export async function ask<I extends DescMessage, O extends DescMessage>(
  service: BoundService,
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
): Promise<MessageShape<O>> {
  const handler = service.handler(method) as unknown as UnaryHandler<I, O>;
  return create(method.output, await handler(create(method.input, request), call));
}

/** Every message of a stream. */
export async function follow<I extends DescMessage, O extends DescMessage>(
  service: BoundService,
  method: DescMethodServerStreaming<I, O>,
  request: MessageInitShape<I>,
): Promise<MessageShape<O>[]> {
  const handler = service.handler(method) as unknown as StreamHandler<I, O>;
  const messages: MessageShape<O>[] = [];
  for await (const message of handler(create(method.input, request), call))
    messages.push(create(method.output, message));
  return messages;
}
