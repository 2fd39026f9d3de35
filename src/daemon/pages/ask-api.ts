/** Calls methods of the document API for a page: the answer is its REST JSON. */
import type { DescMessage, DescMethodUnary, MessageInitShape } from "@bufbuild/protobuf";
import { NotThere } from "../../../gateway/web/review/api.ts";
import { ownMessage, toStewardError } from "../../kernel/base/errors.ts";
import type { BoundService, Call } from "../../kernel/service.ts";
import { plainMessage } from "../../kernel/wire/write.ts";
import { callHandler } from "./call-handler.ts";

/** Rejects with a sentence that a reader may see, or with `NotThere`. */
export type Ask = <I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  init: MessageInitShape<I>,
) => Promise<unknown>;

export function createAsk(rpc: readonly BoundService[], call: Call): Ask {
  return async (method, init) => {
    try {
      return plainMessage(method.output, await callHandler(rpc, method, init, call));
    } catch (thrown) {
      const message = ownMessage(thrown);
      throw toStewardError(thrown).code === "not_found"
        ? new NotThere(message)
        : new Error(message, { cause: thrown });
    }
  };
}
