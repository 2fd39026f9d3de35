/** What the calls of the hosted control plane share: connections, paths, and the reading of objects. */
import type { Clock } from "../../../kernel/base/clock.ts";
import type { Client } from "../../../kernel/client/types.ts";
import type { Fields } from "../decode/fields.ts";
import { readList, readObject, type Reader } from "../read.ts";

export interface ControlPlane extends Reader {
  readonly clock: Pick<Clock, "now">;
  /** Separate, since log responses may be larger than all others. */
  readonly logs: Client;
  /** A path of the network, e.g. of `dns/configuration`; arguments are already escaped. */
  readonly path: (rest: string) => string;
}

/** Reads an object of the network; its path is also the endpoint's label. */
export function networkObject(
  plane: ControlPlane,
  operation: string,
  signal: AbortSignal,
): Promise<Fields> {
  return readObject(plane, { operation, path: plane.path(operation) }, signal);
}

/** Reads a list of the network; `at` is the list's place in the response. */
export function networkList<T>(
  plane: ControlPlane,
  {
    operation,
    at,
    query,
  }: {
    readonly operation: string;
    readonly at: readonly string[];
    readonly query?: Readonly<Record<string, string | boolean>>;
  },
  decode: (element: Fields) => T,
  signal: AbortSignal,
): Promise<readonly T[]> {
  const endpoint = { operation, path: plane.path(operation), at, ...(query && { query }) };
  return readList(plane, endpoint, decode, signal);
}
