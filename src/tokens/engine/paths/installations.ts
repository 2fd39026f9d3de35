/** `installations`: lists the app's installations. */
import { EngineInstallationsFieldsSchema } from "../../../gen/steward/tokens/v1/engine_pb.ts";
import { definePath } from "../../logical/define-path.ts";
import type { Path } from "../../logical/types.ts";
import type { EngineContext } from "../context.ts";

/** Maps login to installation id. */
export function installationsPath(context: EngineContext): Path {
  return definePath({
    pattern: "installations",
    fields: EngineInstallationsFieldsSchema,
    synopsis: "Find the installations of the GitHub App.",
    description:
      "The installation id of each organization and user account that the app is installed in.",
    operations: {
      read: async ({ mountPoint, signal }) => {
        const session = await context.sessions.current(mountPoint);
        using _slot = context.inFlight.enter();
        const all = await session.installations.list(signal);
        return { data: Object.fromEntries(all.map(({ login, id }) => [login, id])) };
      },
    },
  });
}
