/** `info`: build information. */
import { EngineInfoFieldsSchema } from "../../../gen/steward/tokens/v1/engine_pb.ts";
import { definePath } from "../../logical/define-path.ts";
import type { Path } from "../../logical/types.ts";
import type { EngineContext } from "../context.ts";

export function infoPath({ build }: EngineContext): Path {
  return definePath({
    pattern: "info",
    fields: EngineInfoFieldsSchema,
    unknown: "keep",
    unauthenticated: true,
    synopsis: "Display information about the GitHub secrets plugin.",
    description: "Build information. The strings are empty in a build without release injections.",
    operations: {
      read: () =>
        Promise.resolve({
          data: {
            build_branch: build.branch,
            build_date: build.date,
            build_revision: build.revision,
            build_user: build.user,
            build_version: build.version,
            project_docs: build.projectDocs,
            project_name: build.projectName,
          },
        }),
    },
  });
}
