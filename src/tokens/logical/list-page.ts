/** Pagination of lists by `after` and `limit`, as OpenBao's clients send them. */
import { takeFields, type FieldKinds } from "./fields.ts";
import type { Data, ListPage, LogicalResponse } from "./types.ts";

const KINDS: FieldKinds = new Map([
  ["after", "text"],
  ["limit", "integer"],
]);

/**
 * Reads the page from a list request's data. Throws `invalid` for a limit that is no number;
 * `prefix` starts the text.
 */
export function takePage(
  data: Data,
  prefix: string,
): { readonly page: ListPage; readonly rest: Data } {
  const { after, limit, ...rest } = data;
  const given = Object.entries({ after, limit }).filter(([, value]) => value !== undefined);
  const { fields } = takeFields({
    kinds: KINDS,
    data: Object.fromEntries(given),
    fromPath: new Map(),
    unknown: "keep",
    prefix,
  });
  return { page: { after: fields.text("after") ?? "", limit: fields.integer("limit") ?? 0 }, rest };
}

/** The response with the requested part of its sorted keys; unchanged when all are requested. */
export function pageOf(
  response: LogicalResponse | undefined,
  { after, limit }: ListPage,
): LogicalResponse | undefined {
  const keys = response?.data?.["keys"];
  if (!Array.isArray(keys) || (after === "" && limit <= 0)) return response;
  const sorted = (keys as readonly string[]).toSorted((left, right) =>
    left < right ? -1 : left > right ? 1 : 0,
  );
  const first = after === "" ? 0 : sorted.findIndex((key) => key > after);
  const page = first === -1 ? [] : sorted.slice(first, limit > 0 ? first + limit : undefined);
  // Older clients read the list from a second member.
  return {
    ...response,
    data: Object.fromEntries(
      Object.entries(response?.data ?? {}).map(([name, value]) => [
        name,
        value === keys ? page : value,
      ]),
    ),
  };
}
