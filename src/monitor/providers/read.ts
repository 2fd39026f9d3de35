/** The two shapes of an answer: an object, and a list whose elements are read as they arrive. */
import type { Log } from "../../kernel/base/log.ts";
import { failed, named } from "../../kernel/client/failure.ts";
import type { CallRequest, Client, ListRequest } from "../../kernel/client/types.ts";
import { fields, type Fields } from "./decode/fields.ts";

/** What reads: the client, and who hears of what was left out. */
export interface Reader {
  readonly name: string;
  readonly client: Client;
  readonly log: Log;
}

/** Which endpoint; `operation` is its label. */
export type Endpoint = Pick<CallRequest, "operation" | "path" | "query">;

/** An answer that is not what it must be: an error of class `decode`. */
export function misshapen(name: string, operation: string, what: string): Error {
  const failure = { class: "decode", status: 200 } as const;
  return named(failed(failure, what), failure, name, operation);
}

/** Reads an object. Rejects with class `decode` when the answer is none. */
export async function readObject(
  { name, client }: Reader,
  endpoint: Endpoint,
  signal: AbortSignal,
): Promise<Fields> {
  const { value } = await client.call({ ...endpoint, method: "GET", idempotent: true }, signal);
  const object = fields(value);
  if (object === undefined)
    throw misshapen(name, endpoint.operation, "another thing instead of an object");
  return object;
}

/**
 * Reads a whole list in slices; `null` in its place is an empty one. An element that is no object
 * is left out and counted in the log. Bounded by the client's limits of a body.
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
