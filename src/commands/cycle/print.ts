/** Prints a cycle's outcome for people, or as JSON. */
import type { StewardError } from "../../kernel/base/errors.ts";
import { printable } from "../../kernel/base/text/printable.ts";
import { rootCause } from "../../kernel/client/failure.ts";
import { formatDuration } from "../../kernel/config/values/units.ts";
import type { ExpositionReport } from "../../kernel/telemetry/exposition/check.ts";
import type { CollectorResult } from "../../monitor/runner/cycle.ts";
import { exitCode, isAuthFailure, textOfError, type CycleOutcome } from "./outcome.ts";

/**
 * One line for each collector, one for each denied call and each error of the exposition, then the
 * verdict.
 */
export function formatOutcome(outcome: CycleOutcome): string {
  const { requested, results, denied = [], closeError, aclValidateSkipped, exposition } = outcome;
  const lines = [
    ...table(results),
    ...denied.map(
      ({ network, collector, call, scopes }) =>
        `${network} ${collector}: ${call} is denied${scopes.length === 0 ? "" : `; give the credential ${scopes.join(" or ")}`}`,
    ),
    ...(exposition?.errors ?? []).map(
      ({ class: kind, metric, message }) =>
        `${kind}${metric === undefined ? "" : ` ${metric}`}: ${message}`,
    ),
    ...(aclValidateSkipped
      ? ["acl: the policy was not sent for validation; -once and the daemon do that"]
      : []),
    ...(closeError === undefined ? [] : [`export: ${closeError}`]),
  ];
  return [...lines, ...`${requested.mode}: ${verdict(outcome)}`.split("\n")]
    .map((line) => `${printable(line)}\n`)
    .join("");
}

function table(results: readonly CollectorResult[]): string[] {
  const rows = results.map(({ network, collector, tookMs, error }) => ({
    network,
    collector,
    result: error === undefined ? "ok" : isAuthFailure(error) ? "REFUSED" : "FAILED",
    took: `${Math.round(tookMs)} ms`,
    error,
  }));
  const width = (of: (row: (typeof rows)[number]) => string): number =>
    Math.max(0, ...rows.map((row) => of(row).length));
  const widths = {
    network: width((row) => row.network),
    collector: width((row) => row.collector),
    result: width((row) => row.result),
    took: width((row) => row.took),
  };
  // A cause shared by several collectors is printed once.
  const firstOf = new Map<string, string>();
  const textOf = (network: string, collector: string, error: StewardError): string => {
    const cause = `${network} ${rootCause(error)}`;
    const first = firstOf.get(cause);
    if (first === undefined) firstOf.set(cause, collector);
    return first === undefined ? textOfError(error) : `as ${first}`;
  };
  return rows.map(
    ({ network, collector, result, took, error }) =>
      `${network.padEnd(widths.network)}  ${collector.padEnd(widths.collector)}  ${result.padEnd(widths.result)}  ${took.padStart(widths.took)}${error === undefined ? "" : `  ${textOf(network, collector, error)}`}`,
  );
}

function verdict(outcome: CycleOutcome): string {
  const { refused, idle, exposition, exportAttempted } = outcome;
  const code = exitCode(outcome);
  if (refused !== undefined) return `FAILED (exit=${code}): ${refused}`;
  if (exposition !== undefined)
    return `${code === 0 ? "OK" : "FAILED"} (${exposition.families} families, ${exposition.series} series, ${code === 0 ? "" : `${failures(outcome)}, `}exit=${code})${idle === undefined ? "" : `: ${idle}`}`;
  if (idle !== undefined) return `OK: ${idle} (exit=${code})`;
  return `${code === 0 ? `OK (${collectors(outcome)}, ${exportAttempted ? "exported" : "nothing exported"}` : `FAILED (${failures(outcome)}`}, exit=${code})`;
}

function collectors({ results }: CycleOutcome): string {
  const networks = new Set(results.map(({ network }) => network)).size;
  return `${results.length} collectors, ${networks} ${networks === 1 ? "network" : "networks"}`;
}

function failures({ results, closeError, exposition }: CycleOutcome): string {
  const failed = results.filter(({ error }) => error !== undefined);
  const refused = failed.filter(({ error }) => isAuthFailure(error)).length;
  const errors = exposition?.errors.length ?? 0;
  return [
    ...(failed.length === 0
      ? []
      : [
          `${failed.length} of ${results.length} collectors failed${refused === 0 ? "" : `, ${refused} because the credential is refused`}`,
        ]),
    ...(errors === 0 ? [] : [`${errors} ${errors === 1 ? "error" : "errors"} in the exposition`]),
    ...(closeError === undefined ? [] : ["not everything was exported"]),
  ].join(", ");
}

/** With its last line break. */
export function formatOutcomeJson(outcome: CycleOutcome): string {
  const {
    requested: { mode, timeoutMs },
    results,
    refused,
    closeError = refused,
    aclValidateSkipped,
    exportAttempted,
    exposition,
  } = outcome;
  const code = exitCode(outcome);
  const document = {
    mode,
    ok: code === 0,
    exit_code: code,
    deadline: formatDuration(timeoutMs),
    ...(mode === "exposition-check" ? {} : { export_attempted: exportAttempted }),
    ...(aclValidateSkipped ? { acl_validate_skipped: true } : {}),
    ...(closeError === undefined ? {} : { close_error: closeError }),
    results: results.map(resultJson),
    ...(mode === "exposition-check" ? { exposition: expositionJson(exposition) } : {}),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function resultJson({ network, collector, tookMs, error }: CollectorResult): object {
  return {
    network,
    collector,
    ok: error === undefined,
    duration_ms: Math.round(tookMs),
    auth_failure: isAuthFailure(error),
    ...(error === undefined ? {} : { error: textOfError(error) }),
  };
}

/** Without one, as when the configuration is not valid, nothing is well. */
function expositionJson(exposition: ExpositionReport | undefined): object {
  if (exposition === undefined) return { ok: false, families: 0, series: 0, bytes: 0, errors: [] };
  const { families, series, bytes, errors } = exposition;
  return {
    ok: errors.length === 0,
    families,
    series,
    bytes,
    errors: errors.map(({ class: kind, metric, message }) => ({
      class: kind,
      ...(metric === undefined ? {} : { metric }),
      message,
    })),
  };
}
