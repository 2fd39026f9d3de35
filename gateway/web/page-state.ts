/**
 * What a page shows of its data: everything a reader can choose is in the address, so that a link
 * shows the same.
 */

/** A page's choices and its moment. */
export interface PageState {
  /** The query of the address. */
  readonly params: URLSearchParams;
  /** The time of the data, in milliseconds since 1970; ages are counted from it. */
  readonly nowMs: number;
  /** The reader's time zone; undefined is that of the machine that draws the page. */
  readonly zone: string | undefined;
  /** The panel that is open; undefined shows all, one below the other, as without scripts. */
  readonly panel: string | undefined;
}

/** A link to the same page with other choices; undefined takes a choice away. */
export function linkWith(
  state: PageState,
  changes: Readonly<Record<string, string | undefined>>,
  fragment = "",
): string {
  const params = new URLSearchParams(state.params);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === "") params.delete(name);
    else params.set(name, value);
  }
  const query = params.toString();
  return `?${query}${fragment === "" ? "" : `#${fragment}`}`;
}
