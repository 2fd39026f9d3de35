/** Pages of a list and the `Link` header that names its neighbours (RFC 8288). */

const MAX_SIZE = 100;

/** One page. */
export interface ListPage<T> {
  readonly items: readonly T[];
  /** Absent when everything fits on one page. */
  readonly link: string | undefined;
}

/**
 * `per_page` (1 to 100, larger is 100, anything else the default) and `page` (from 1; past the end
 * is empty); other parameters stay in the links.
 */
export function pageOf<T>(
  items: readonly T[],
  query: URLSearchParams,
  url: string,
  pageSize: number,
): ListPage<T> {
  const size = Math.min(MAX_SIZE, wholeNumber(query.get("per_page")) ?? pageSize);
  const page = wholeNumber(query.get("page")) ?? 1;
  const last = Math.max(1, Math.ceil(items.length / size));
  const links: string[] = [];
  const add = (number: number, relation: string): void => {
    const others = new URLSearchParams(query);
    others.set("page", String(number));
    links.push(`<${url}?${others.toString()}>; rel="${relation}"`);
  };
  if (page > 1) add(Math.min(page - 1, last), "prev");
  if (page < last) {
    add(page + 1, "next");
    add(last, "last");
  }
  if (page > 1) add(1, "first");
  return {
    items: items.slice((page - 1) * size, page * size),
    link: links.length === 0 ? undefined : links.join(", "),
  };
}

function wholeNumber(text: string | null): number | undefined {
  if (text === null || !/^\d{1,9}$/.test(text)) return undefined;
  return Number(text) || undefined;
}
