/** `doctor`: what is wrong with the engine's configuration, and how to fix it. */
import { EngineDoctorFieldsSchema } from "../../../gen/steward/tokens/v1/engine_pb.ts";
import { definePath } from "../../logical/define-path.ts";
import type { Path } from "../../logical/types.ts";
import type { EngineContext } from "../context.ts";
import { examine, policiesCheck } from "../doctor.ts";

/** Reads only; mints nothing. */
export function doctorPath(context: EngineContext): Path {
  return definePath({
    pattern: "doctor",
    fields: EngineDoctorFieldsSchema,
    synopsis: "Check the configuration against the platform.",
    description:
      "Whether the key signs, the clock is right, the app exists and, for an organization or installation, whether it is installed, active and has its permissions accepted; and what policies get wrong about this mount. Nothing is minted.",
    operations: {
      read: async ({ fields, mountPoint, signal }) => {
        using _slot = context.inFlight.enter();
        const examined = await examine(
          context,
          mountPoint,
          {
            installationId: fields.integer("installation_id") ?? 0,
            orgName: fields.text("org_name")?.trim() ?? "",
          },
          signal,
        );
        const policies = await policiesCheck(context);
        const checks = policies === undefined ? examined : [...examined, policies];
        return { data: { ok: checks.every((check) => check.ok), checks } };
      },
    },
  });
}
