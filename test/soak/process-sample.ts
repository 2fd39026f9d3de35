/** What the kernel knows of a process: memory by kind, threads, descriptors and processor time. */
import { readdirSync, readFileSync } from "node:fs";

/** Sizes in MiB. `file` are mapped pages of files: LMDB's, the executable's and the libraries'. */
export interface ProcessSample {
  readonly atMs: number;
  readonly residentMiB: number;
  readonly anonymousMiB: number;
  readonly fileMiB: number;
  readonly sharedMiB: number;
  readonly threads: number;
  readonly descriptors: number;
  /** Since the process began. */
  readonly cpuSeconds: number;
}

/** `USER_HZ`, which Linux fixes for what it shows below /proc. */
const TICKS_PER_SECOND = 100;
/**
 * Fields of /proc/PID/stat after the name in parentheses: state is the first, utime the 12th, stime
 * the 13th.
 */
const USER_TIME_FIELD = 11;
const SYSTEM_TIME_FIELD = 12;

/** Undefined when there is no such process any more. */
export function sampleProcess(pid: number, atMs: number): ProcessSample | undefined {
  try {
    return readSample(pid, atMs);
  } catch (error) {
    // Gone before a file is opened, or while it is read.
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

function readSample(pid: number, atMs: number): ProcessSample {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? NaN);
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const after = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    atMs,
    residentMiB: field("VmRSS") / 1_024,
    anonymousMiB: field("RssAnon") / 1_024,
    fileMiB: field("RssFile") / 1_024,
    sharedMiB: field("RssShmem") / 1_024,
    threads: field("Threads"),
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    cpuSeconds:
      (Number(after[USER_TIME_FIELD]) + Number(after[SYSTEM_TIME_FIELD])) / TICKS_PER_SECOND,
  };
}
