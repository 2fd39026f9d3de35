/** Rules over the keys of the ingress log and of the receivers. */
import { atKey, isChanged } from "../../../kernel/config/checks/key-finding.ts";
import type { Config } from "../../../kernel/config/config.ts";
import type { Finding } from "../../../kernel/config/findings.ts";
import type { Check } from "../../../kernel/config/load.ts";
import { streaming, streamOptions, streamingSchema } from "../../receivers/config/stream-keys.ts";
import { webhook, webhookOptions, webhookSchema } from "../../receivers/config/webhook-keys.ts";
import { ingressSchema, ingressWal } from "./ingress-keys.ts";

/** A body of the log is read into memory to be applied. */
const MAX_BODY_BYTES = 67_108_864;

/** Bodies have a limit and fit into the log; a log that nothing fills only drains. */
export const checkIngress: Check = {
  needs: [...ingressSchema, ...streamingSchema, ...webhookSchema],
  run(config) {
    if (!config.get(ingressWal.enabled)) return unused(config);
    const stream = streamOptions(config);
    const events = webhookOptions(config);
    if (stream === undefined && events === undefined)
      return [
        atKey(config, ingressWal.enabled, "warning", {
          rule: "is true, and no receiver is on: the log is only emptied",
          remedy: "set streaming.enabled or webhook.enabled, or set it to false.",
        }),
      ];
    const room = config.get(ingressWal.maxBytes);
    return [
      { key: streaming.maxBodyBytes, bytes: stream?.maxBodyBytes ?? 0 },
      { key: webhook.maxBodyBytes, bytes: events?.maxBodyBytes ?? 0 },
    ].flatMap(({ key, bytes }): Finding[] => [
      ...(bytes > MAX_BODY_BYTES
        ? [
            atKey(config, key, "error", {
              rule: `must be at most ${MAX_BODY_BYTES} bytes while ingress_wal.enabled is true`,
              remedy: "set it to 0 for its default, or to a size up to that.",
            }),
          ]
        : []),
      ...(bytes > room && bytes <= MAX_BODY_BYTES
        ? [
            atKey(config, ingressWal.maxBytes, "error", {
              rule: `is less than one body may have (${key.path}: ${bytes})`,
              remedy: `raise it, or lower ${key.path}.`,
            }),
          ]
        : []),
    ]);
  },
};

function unused(config: Config): Finding[] {
  const written = ingressSchema.find(
    (key) => key.path !== ingressWal.enabled.path && isChanged(config, key),
  );
  return written === undefined
    ? []
    : [
        atKey(config, written, "warning", {
          rule: `is ignored: ${ingressWal.enabled.path} is false`,
          remedy: "set it to true.",
        }),
      ];
}
