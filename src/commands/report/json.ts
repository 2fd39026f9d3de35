/** The report as one JSON object, written piece by piece. */
import type { DedupReport } from "./types.ts";

/**
 * Pieces that together are `{summary, parameters, groups}`, one group a line; each group is made
 * only when its turn comes.
 */
export function* formatJson(report: DedupReport): Generator<string> {
  yield `{"summary":${encodeJson(report.summary)},\n"parameters":${encodeJson(report.parameters)},\n"groups":[`;
  let separator = "\n";
  for (const group of report.groups) {
    yield `${separator}${encodeJson(group)}`;
    separator = ",\n";
  }
  yield "]}\n";
}

/** Safe for a terminal: JSON leaves DEL and the C1 controls as they are, and it would obey them. */
export function encodeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
