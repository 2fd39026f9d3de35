/** Exports the collected data and reports what was not delivered. */
import { formatDuration } from "../../kernel/config/values/units.ts";
import type { TelemetryOptions } from "../../kernel/telemetry/options.ts";
import { signals, type LedgerView } from "../../kernel/telemetry/status.ts";
import type { Telemetry } from "../../kernel/telemetry/telemetry.ts";

/** Whether there is anything to send to. */
export function hasReceiver({ metrics, logs, traces }: TelemetryOptions): boolean {
  return metrics !== undefined || logs !== undefined || traces !== undefined;
}

/** Undefined when everything was accepted. */
export async function exportAll(
  telemetry: Pick<Telemetry, "flush" | "status">,
  deadlineMs: number,
): Promise<string | undefined> {
  const isWhole = await telemetry.flush(deadlineMs);
  const { ledger, thread } = telemetry.status();
  const found = ledger === undefined ? [] : undelivered(ledger);
  if (thread === "failed") found.push("the telemetry thread ended");
  if (!isWhole)
    found.push(
      `the export did not finish within ${formatDuration(Math.round(deadlineMs))}; raise -preflight-timeout`,
    );
  return found.length === 0 ? undefined : found.join("; ");
}

function undelivered({ signals: ledgers, logs }: LedgerView): string[] {
  const found = signals.flatMap((signal) => {
    const { requests, failures, lastFailureClass, lastFailureMessage, itemsRejected } =
      ledgers[signal];
    return [
      ...(failures === 0
        ? []
        : [
            `${signal}: ${failures} of ${requests} requests failed (${lastFailureClass}: ${lastFailureMessage})`,
          ]),
      ...(itemsRejected === 0
        ? []
        : [`${signal}: the receiver refused ${itemsRejected} of the items`]),
    ];
  });
  return logs.dropped === 0
    ? found
    : [
        ...found,
        `logs: ${logs.dropped} records were dropped because the queue was full; raise otlp.batch.logs.max_queue_size`,
      ];
}
