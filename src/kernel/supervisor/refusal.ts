/**
 * A service whose stored data keeps it from starting refuses its requests and says why, while the
 * rest of the process works. Only a restart ends that: the file has to be repaired or restored
 * while Steward does not run.
 */
import { DISK } from "../base/disk-faults.ts";
import {
  errorWithRemedy,
  ownMessage,
  StewardError,
  toStewardError,
  type Code,
} from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Health } from "./component.ts";

/**
 * Errors that still end the start of the process: it is being stopped, or a restart by the service
 * manager may do better.
 */
const ENDS_START: ReadonlySet<Code> = new Set(["cancelled", "deadline", "disk_full"]);
const LOOK = "stop Steward, run `steward check`, and see docs/recovery.md";

/** Either the started service or the error that all its requests get. */
export type Start<T> =
  | { readonly service: T; readonly refusal?: undefined }
  | { readonly service?: undefined; readonly refusal: StewardError };

/**
 * Starts a service. What keeps it from opening its stores becomes its refusal (`not_ready`, with
 * reason and remedy); errors of `ENDS_START`, faults of the disk that may pass, and the reason of
 * an aborted signal are thrown.
 */
export async function startOrRefuse<T>(
  name: string,
  {
    start,
    signal,
    log,
  }: { readonly start: () => Promise<T>; readonly signal: AbortSignal; readonly log: Log },
): Promise<Start<T>> {
  try {
    return { service: await start() };
  } catch (thrown) {
    const error = toStewardError(thrown);
    if (signal.aborted || ENDS_START.has(error.code) || error.rule === DISK) throw thrown;
    const remedy = error.remedy ?? LOOK;
    const why = error.code === "internal" ? { error } : { reason: error.message };
    log.error(
      "the service refuses all requests because its stored data cannot be used; the other services run",
      { service: name, ...why, remedy },
    );
    return {
      refusal: new StewardError("not_ready", `${name} is out of service: ${ownMessage(thrown)}`, {
        rule: "refusing",
        remedy,
        cause: thrown,
      }),
    };
  }
}

/** The health of a component whose service refuses: it does not close the process's readiness. */
export function refusing(refusal: StewardError): Health {
  return { ok: false, refusing: true, reason: errorWithRemedy(refusal) };
}
