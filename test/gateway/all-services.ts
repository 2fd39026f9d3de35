/**
 * Every service that the protos of this repository declare, over handlers that answer with nothing.
 */
import type { DescService } from "@bufbuild/protobuf";
import type { BoundService } from "../../src/kernel/service.ts";
import { declaredServices } from "../../tools/declared-services.ts";

const descs: readonly DescService[] = await declaredServices();

/** All of them, sorted by name. */
export function allServices(): BoundService[] {
  return descs.map((desc) => ({
    desc,
    handler: (method) =>
      method.methodKind === "server_streaming"
        ? async function* () {
            /* ends at once */
          }
        : () => ({}),
  }));
}
