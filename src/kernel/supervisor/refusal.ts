/**
 * Keeps the process running when the stored data of one service is unusable: that service refuses
 * its requests with the reason. Only a restart ends this: the file must be repaired or restored
 * while Steward is stopped.
 */
import { DISK } from "../base/system/disk-faults.ts";
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
 * Errors that still abort the start of the process: it is being stopped, or the service manager's
 * restart may succeed.
 */
const ENDS_START: ReadonlySet<Code> = new Set(["cancelled", "deadline", "disk_full"]);
const LOOK = "stop Steward, run `steward check`, and see docs/recovery.md";

/** The started service, or the error for all its requests. */
export type Start<T> =
  | { readonly service: T; readonly refusal?: undefined }
  | { readonly service?: undefined; readonly refusal: StewardError };

/**
 * Starts a service. An error opening its stores becomes its refusal (`not_ready`, with reason and
 * remedy); errors of `ENDS_START`, transient disk faults and the reason of an aborted signal are
 * thrown.
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

/** Health of a component whose service refuses: does not close the process's readiness. */
export function refusing(refusal: StewardError): Health {
  return { ok: false, refusing: true, reason: errorWithRemedy(refusal) };
}
