/** Declares kinds of jobs. */
import { assert } from "../base/errors.ts";
import type { JobType } from "./types.ts";

/** A kind of job whatever it takes and gives. */
export type AnyJobType = JobType<unknown, unknown>;

/** Declares a kind of job once; the shares of its phases add up to 1. */
export function defineJob<I, R>(type: JobType<I, R>): JobType<I, R> {
  const sum = Object.values(type.phases).reduce((total, share) => total + share, 0);
  assert(Math.abs(sum - 1) < 1e-9, `the phases of ${type.type} add up to 1 and not to ${sum}`);
  return type;
}
