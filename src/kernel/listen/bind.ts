/** Binds ports, with clear errors. */
import type { Server } from "node:net";
import { StewardError, toStewardError } from "../base/errors.ts";
import { formatAddress, isLoopback, type Address } from "../config/values/address.ts";

/** An address to bind, and its configuration key. */
export interface Binding {
  readonly setting: string;
  readonly address: Address;
  readonly credential: boolean;
}

/** Accept queue of the system, which may use a shorter one. */
const BACKLOG = 4096;

/** Throws `invalid` for a non-loopback address without a credential. */
export function refuseOpenAddress(spec: Binding): void {
  if (spec.credential || isLoopback(spec.address.host)) return;
  throw new StewardError(
    "invalid",
    `${spec.setting}: ${formatAddress(spec.address)} can be reached from other machines and no credential is set`,
    {
      field: spec.setting,
      rule: "without a credential only loopback addresses are listened on",
      remedy: "set auth.token, or listen on 127.0.0.1",
    },
  );
}

/** Rejects with `conflict`, `denied` or `invalid`, naming address and remedy. */
export function bind(front: Server, spec: Binding): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => reject(describeBindFailure(error, spec));
    front.once("error", failed);
    const host = spec.address.host === "" ? {} : { host: spec.address.host };
    front.listen({ port: spec.address.port, backlog: BACKLOG, ...host }, () => {
      front.off("error", failed);
      resolve();
    });
  });
}

function describeBindFailure(error: Error, spec: Binding): StewardError {
  const where = formatAddress(spec.address);
  const other = `set ${spec.setting} to another address`;
  switch ((error as NodeJS.ErrnoException).code) {
    case "EADDRINUSE":
      return new StewardError("conflict", `${where} is already in use by another process`, {
        field: spec.setting,
        remedy: `stop that process, or ${other}`,
        cause: error,
      });
    case "EACCES":
      return new StewardError("denied", `this user may not listen on ${where}`, {
        field: spec.setting,
        remedy: other,
        cause: error,
      });
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new StewardError("invalid", `${where} is no address of this machine`, {
        field: spec.setting,
        remedy: other,
        cause: error,
      });
    default:
      return toStewardError(error);
  }
}
