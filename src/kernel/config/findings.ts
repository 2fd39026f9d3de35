/** Findings about a configuration: collected in one pass and listed line by line. */
import { printable } from "../base/text/printable.ts";

/** A line of the file (from 1) or an environment variable. */
export interface SourceLocation {
  readonly line?: number;
  readonly variable?: string;
}

/** Errors prevent the start, warnings do not. */
export interface Finding extends SourceLocation {
  readonly severity: "error" | "warning";
  /** The key, e.g. `dedup.archives[0].path`; else the variable or the file. */
  readonly path: string;
  /** The violated rule, e.g. `must be true or false, got "maybe"`. */
  readonly rule: string;
  /** What to do about it. */
  readonly remedy?: string;
  /** The known name most similar to an unknown one. */
  readonly nearest?: string;
}

/** A finding without location and severity, as returned by rules and types. */
export interface Complaint {
  readonly rule: string;
  readonly remedy?: string;
}

/**
 * `ERROR gateway.listen: must be …, got "x" (line 3) — remedy`, as listed by `-validate`. One line,
 * safe on a terminal.
 */
export function formatFinding(finding: Finding): string {
  const { message, remediation } = findingText(finding);
  const subject = finding.path === "" ? "" : ` ${finding.path}`;
  return printable(
    `${finding.severity.toUpperCase()}${subject}: ${message}${remediation === undefined ? "" : ` — ${remediation}`}`,
  );
}

/** The rule with its location and remedy. */
export function findingText(finding: Finding): {
  readonly message: string;
  readonly remediation: string | undefined;
} {
  const where =
    finding.line !== undefined
      ? ` (line ${finding.line})`
      : finding.variable !== undefined && finding.variable !== finding.path
        ? ` (${finding.variable})`
        : "";
  const advice = [
    finding.nearest === undefined ? undefined : `did you mean ${finding.nearest}?`,
    finding.remedy,
  ].filter((part) => part !== undefined);
  return {
    message: `${finding.rule}${where}`,
    remediation: advice.length === 0 ? undefined : advice.join(" "),
  };
}

/** Errors first, otherwise in the order found. */
export function orderFindings(findings: readonly Finding[]): Finding[] {
  return [
    ...findings.filter((finding) => finding.severity === "error"),
    ...findings.filter((finding) => finding.severity === "warning"),
  ];
}
