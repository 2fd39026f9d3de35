/** Reads the two shapes of responses: an object, and a list that is decoded as it arrives. */
import type { Log } from "../../kernel/base/log.ts";
import { failed, named } from "../../kernel/client/failure.ts";
import type { CallRequest, Client, ListRequest } from "../../kernel/client/types.ts";
import { fields, type Fields } from "./decode/fields.ts";

/** The client, and the log for skipped elements. */
export interface Reader {
  readonly name: string;
  readonly client: Client;
  readonly log: Log;
}

/** `operation` is the endpoint's label. */
export type Endpoint = Pick<CallRequest, "operation" | "path" | "query">;

/** Error of class `decode` for a response of the wrong shape. */
export function malformed(name: string, operation: string, what: string): Error {
  const failure = { class: "decode", status: 200 } as const;
  return named(failed(failure, what), failure, name, operation);
}

/** Rejects with class `decode` unless the response is an object. */
export async function readObject(
  { name, client }: Reader,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<Fields> {
  const { value } = await client.call({ ...endpoint, method: "GET", idempotent: true }, signal);
  const object = fields(value);
  if (object === undefined)
    throw malformed(name, endpoint.operation, "another thing instead of an object");
  return object;
}

/**
 * Reads a whole list in slices; `null` is an empty list. Elements that are no objects are skipped
 * and logged once with their number. The client's body limit bounds it.
 */
export async function readList<T>(
  { client, log }: Reader,
  endpoint: Endpoint & Pick<ListRequest, "at">,
  decode: (element: Fields) => T,
  signal: AbortSignal,
): Promise<readonly T[]> {
  const found: T[] = [];
  let leftOut = 0;
  for await (const batch of client.items({ ...endpoint, missing: "null", maxPages: 1 }, signal)) {
    for (const element of batch) {
      const object = fields(element);
      if (object === undefined) leftOut += 1;
      else found.push(decode(object));
    }
  }
  if (leftOut > 0)
    log.debug("elements of a list are not objects and were skipped", {
      endpoint: endpoint.operation,
      count: leftOut,
    });
  return found;
}
