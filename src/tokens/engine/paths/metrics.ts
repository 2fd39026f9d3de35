/** `metrics`: the engine's metrics as text. */
import { EngineMetricsFieldsSchema } from "../../../gen/steward/tokens/v1/engine_pb.ts";
import { definePath } from "../../logical/define-path.ts";
import type { Path } from "../../logical/types.ts";
import type { EngineContext } from "../context.ts";
import { EXPOSITION_TYPE } from "../metrics/engine-metrics.ts";

/** Responds with the text format, not a logical response. */
export function metricsPath({ metrics }: EngineContext): Path {
  return definePath({
    pattern: "metrics",
    fields: EngineMetricsFieldsSchema,
    unknown: "keep",
    unauthenticated: true,
    synopsis: "Display metrics about the GitHub secrets plugin.",
    description:
      "Durations of minting and revoking since the mount was loaded, in the text exposition format.",
    operations: {
      read: () =>
        Promise.resolve({
          raw: { status: 200, contentType: EXPOSITION_TYPE, body: metrics.render() },
        }),
    },
  });
}
