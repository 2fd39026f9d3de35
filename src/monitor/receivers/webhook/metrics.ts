/** Metrics of the webhook receiver, in the scope of the network. */
import type { Scope } from "../../../kernel/telemetry/types.ts";
import {
  webhookDuplicates,
  webhookEvents,
  webhookInflight,
  webhookRejected,
  webhookRequestDuration,
  webhookSchemaDrift,
} from "../../catalogue/receivers.ts";

export interface WebhookMetrics {
  inFlight(change: 1 | -1): void;
  took(seconds: number): void;
  /** Nothing is counted for an undefined reason. */
  rejected(reason: string | undefined): void;
  event(type: string): void;
  duplicate(): void;
  version(isKnown: boolean): void;
}

/** Counts nothing without a scope: the network is not open, or not known yet. */
export function webhookMetrics(scope: Scope | undefined): WebhookMetrics {
  return {
    inFlight: (change) => scope?.add(webhookInflight, change, {}),
    took: (seconds) => scope?.record(webhookRequestDuration, seconds, {}),
    rejected(reason) {
      if (reason !== undefined) scope?.add(webhookRejected, 1, { reason });
    },
    event: (type) => scope?.add(webhookEvents, 1, { "vpn.webhook.type": type }),
    duplicate: () => scope?.add(webhookDuplicates, 1, {}),
    version: (isKnown) =>
      scope?.add(webhookSchemaDrift, 1, {
        field: "version",
        status: isKnown ? "known" : "unknown",
      }),
  };
}
