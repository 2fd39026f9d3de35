/**
 * Detects partial success responses: the exporters report them only to the SDK's diagnostics, so
 * they are read there.
 */
import { diag, DiagLogLevel } from "@opentelemetry/api";
import type { Signal } from "../../status.ts";

/** Calls `rejected` for each partial success. Other diagnostics are known from results already. */
export function watchPartialSuccess(rejected: (signal: Signal, items: number) => void): void {
  const silent = (): void => undefined;
  const warn = (message: string, ...more: unknown[]): void => {
    if (!message.startsWith("Received Partial Success") || typeof more[0] !== "string") return;
    const answer = JSON.parse(more[0]) as {
      readonly rejectedDataPoints?: unknown;
      readonly rejectedLogRecords?: unknown;
      readonly rejectedSpans?: unknown;
    };
    if (answer.rejectedDataPoints !== undefined)
      rejected("metrics", Number(answer.rejectedDataPoints));
    if (answer.rejectedLogRecords !== undefined)
      rejected("logs", Number(answer.rejectedLogRecords));
    if (answer.rejectedSpans !== undefined) rejected("traces", Number(answer.rejectedSpans));
  };
  diag.setLogger(
    { error: silent, warn, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
