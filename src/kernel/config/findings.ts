/**
 * What is wrong, or worth knowing, about a configuration: collected in one pass and shown line by
 * line.
 */
import { printable } from "../base/printable.ts";
import type { SourceLocation } from "./raw.ts";

/** One remark about a configuration. Errors keep the process from starting, warnings do not. */
export interface Finding extends SourceLocation {
  readonly severity: "error" | "warning";
  /** The key, e.g. `dedup.archives[0].path`; the variable or the file when no key is concerned. */
  readonly path: string;
  /** The rule that is broken, e.g. `must be true or false, got "maybe"`. */
  readonly rule: string;
  /** What to do about it. */
  readonly remedy?: string;
  /** The known name that the unknown one resembles most. */
  readonly nearest?: string;
}

/** A finding without its place and severity, as rules and types return it. */
export interface Complaint {
  readonly rule: string;
  readonly remedy?: string;
}

/**
 * `ERROR gateway.listen: must be …, got "x" (line 3) — remedy`, the form of `-validate`. One line,
 * safe on a terminal.
 */
export function formatFinding(finding: Finding): string {
  const { message, remediation } = findingText(finding);
  const subject = finding.path === "" ? "" : ` ${finding.path}`;
  return printable(
    `${finding.severity.toUpperCase()}${subject}: ${message}${remediation === undefined ? "" : ` — ${remediation}`}`,
  );
}

/** What is wrong with its place, and what to do about it. */
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

/** Errors first, each severity in the order found, as `-validate` lists them. */
export function orderFindings(findings: readonly Finding[]): Finding[] {
  return [
    ...findings.filter((finding) => finding.severity === "error"),
    ...findings.filter((finding) => finding.severity === "warning"),
  ];
}
