/** Disk failures that may pass: their system codes and their messages. */
import { systemCodeOf } from "../errors.ts";

/** The rule of an error that passes with the disk's fault. */
export const DISK = "disk";

/** A failure that may pass. */
export interface DiskFault {
  readonly kind: "full" | "failing";
  /** The end of a sentence about a file. */
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
/** By system error code or text, which LMDB passes on. */
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

/** The fault of a system or LMDB error; undefined for other errors. */
export function diskFaultOf(thrown: unknown): DiskFault | undefined {
  const text = `${systemCodeOf(thrown) ?? ""} ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  return FAULTS.find(([pattern]) => pattern.test(text))?.[1];
}
