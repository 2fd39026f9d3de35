/** Failures of a disk that may pass: what the system calls them, and what people are told. */
import { systemCodeOf } from "./errors.ts";

/** The rule of an error that passes with the fault of the disk. */
export const DISK = "disk";

/** A failure that may pass. */
export interface DiskFault {
  readonly kind: "full" | "failing";
  /** What the disk does, as the end of a sentence about a file. */
  readonly why: string;
  readonly remedy: string;
}

const FULL: DiskFault = {
  kind: "full",
  why: "its disk is full",
  remedy: "free space on its disk; Steward recovers by itself",
};
const LOOK_AT_DISK =
  "look for disk errors in the system log, then replace the disk or mount it writable; Steward retries every few seconds and recovers by itself";
/** By the system's name of the error or its text, which LMDB passes on. */
const FAULTS: readonly (readonly [RegExp, DiskFault])[] = [
  [/\b(?:ENOSPC|EDQUOT|EFBIG)\b|No space left|Disk quota|File too large/i, FULL],
  [
    /\bEIO\b|Input\/output error/i,
    { kind: "failing", why: "its disk reports input/output errors", remedy: LOOK_AT_DISK },
  ],
  [
    /\bEROFS\b|Read-only file ?system/i,
    { kind: "failing", why: "its file system is read-only", remedy: LOOK_AT_DISK },
  ],
];

/**
 * The fault that an error of the system or of LMDB speaks of; undefined when it is of another kind.
 */
export function diskFaultOf(thrown: unknown): DiskFault | undefined {
  const text = `${systemCodeOf(thrown) ?? ""} ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  return FAULTS.find(([pattern]) => pattern.test(text))?.[1];
}
