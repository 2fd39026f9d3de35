/** Renders what would be scraped, in both formats and without a port, and validates it. */
import { toStewardError } from "../../kernel/base/errors.ts";
import {
  ExpositionCheck,
  type ExpositionError,
  type ExpositionReport,
} from "../../kernel/telemetry/exposition/check.ts";
import type { ExpositionFormat } from "../../kernel/telemetry/exposition/text.ts";
import type { LedgerView } from "../../kernel/telemetry/status.ts";
import type { Telemetry } from "../../kernel/telemetry/telemetry.ts";

type Exposing = Pick<Telemetry, "expose" | "flush" | "status">;

/**
 * Figures are those of the text format; errors specific to OpenMetrics are marked. Never rejects.
 */
export async function checkExpositions(
  telemetry: Exposing,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<ExpositionReport> {
  const text = await checkOne(telemetry, "text", signal);
  // The flush brings the ledger up to date.
  await telemetry.flush(deadlineMs);
  const { ledger } = telemetry.status();
  const left = ledger === undefined ? [] : leftOut(ledger);
  const openmetrics = await checkOne(telemetry, "openmetrics", signal);
  const known = new Set(text.errors.map(identity));
  const further = openmetrics.errors
    .filter((error) => !known.has(identity(error)))
    .map((error): ExpositionError => ({ ...error, message: `OpenMetrics: ${error.message}` }));
  return { ...text, errors: [...text.errors, ...left, ...further] };
}

async function checkOne(
  telemetry: Exposing,
  format: ExpositionFormat,
  signal: AbortSignal,
): Promise<ExpositionReport> {
  const check = new ExpositionCheck(format);
  try {
    for await (const piece of telemetry.expose({ format }, signal).body) check.add(piece);
    return check.end();
  } catch (thrown) {
    return {
      ...check.end(),
      errors: [
        { class: "collector_error", metric: undefined, message: toStewardError(thrown).message },
      ],
    };
  }
}

/** What the renderer left out, so that the text itself is sound. */
function leftOut({
  exposition: { duplicateSeries, conflictingFamilies },
  snapshotsSkipped,
}: LedgerView): ExpositionError[] {
  const errors: ExpositionError[] = [];
  if (duplicateSeries > 0)
    errors.push({
      class: "duplicate_series",
      metric: undefined,
      message: `${duplicateSeries} series were dropped because others have the same labels`,
    });
  if (conflictingFamilies > 0)
    errors.push({
      class: "type_mismatch",
      metric: undefined,
      message: `${conflictingFamilies} metrics were dropped because their names are used by metrics of another type`,
    });
  if (snapshotsSkipped > 0)
    errors.push({
      class: "collector_error",
      metric: undefined,
      message: `${snapshotsSkipped} sets of series were dropped because they arrived too late`,
    });
  return errors;
}

function identity({ class: kind, metric = "", message }: ExpositionError): string {
  return `${kind} ${metric.replace(/_total$/, "")} ${message}`;
}
