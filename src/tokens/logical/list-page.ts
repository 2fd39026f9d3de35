/** `after` and `limit` of a list, as OpenBao's clients send them: any list can be read in pages. */
import { takeFields, type FieldKinds } from "./fields.ts";
import type { Data, LogicalResponse } from "./types.ts";

const KINDS: FieldKinds = new Map([
  ["after", "text"],
  ["limit", "integer"],
]);

/** Which part of a list is wanted. */
export interface ListPage {
  /** Names after this one, which need not exist; empty for all. */
  readonly after: string;
  /** At most so many; 0 or less for all. */
  readonly limit: number;
}

/**
 * Takes the page out of a list request's data. Throws `invalid` for a limit that is no number;
 * `prefix` stands before the text.
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

/**
 * The answer with that part of its keys, in the order of their characters; the answer itself when
 * all are wanted.
 */
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
  // Older clients find the same list under a second name.
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
