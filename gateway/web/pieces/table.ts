/**
 * A table whose filter, order and length are in the address. It never draws more rows than one can
 * read.
 */
import { formatCount } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import { linkWith, type PageState } from "../page-state.ts";
import { empty } from "./section.ts";

/** Rows drawn at first where all panels are open, and more at each wish. */
export const PAGE_ROWS = 200;
/** Rows drawn at first in the one panel that is open: more is a click away. */
const FIRST_ROWS = 50;
/** More is never drawn: a browser lays that many out without a stall. */
export const MAX_ROWS = 2000;
/** One row needs no filter. */
const FILTER_FROM = 2;

/** A column. */
export interface Column<T> {
  readonly key: string;
  readonly title: string;
  cell(row: T): Child;
  /** What it is ordered by; its text when not given. Every column has one of the two. */
  readonly order?: (row: T) => string | number;
  /** What the filter looks in; without it the column is not looked in. */
  readonly text?: (row: T) => string;
  /** Figures stand to the right. */
  readonly figure?: boolean;
}

/** A table. */
export interface TableOptions<T> {
  /** Its name in the address. */
  readonly id: string;
  /** What the rows are, in the plural: `devices`. */
  readonly what: string;
  readonly rows: readonly T[];
  readonly columns: readonly Column<T>[];
  keyOf(row: T): string;
  /** Where there is no row: what that means and what to do. */
  readonly empty: Child;
}

/** What is shown of a table's rows. */
export interface Shown<T> {
  readonly rows: readonly T[];
  /** Rows that match the filter. */
  readonly matching: number;
}

/** Filters, orders and cuts. */
export function selectRows<T>(
  options: Pick<TableOptions<T>, "id" | "rows" | "columns">,
  { params, panel }: Pick<PageState, "params" | "panel">,
): Shown<T> {
  const { id, columns } = options;
  const wanted = (params.get(`${id}.q`) ?? "")
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const texts = columns.flatMap(({ text }) => (text === undefined ? [] : [text]));
  const matching =
    wanted.length === 0
      ? options.rows
      : options.rows.filter((row) => {
          const text = texts
            .map((of) => of(row))
            .join(" ")
            .toLowerCase();
          return wanted.every((word) => text.includes(word));
        });
  const first = panel === undefined ? PAGE_ROWS : FIRST_ROWS;
  const asked = Number(params.get(`${id}.rows`) ?? first);
  const limit = Math.min(MAX_ROWS, Math.max(first, Number.isSafeInteger(asked) ? asked : first));
  return {
    rows: ordered(matching, columns, params.get(`${id}.sort`) ?? "").slice(0, limit),
    matching: matching.length,
  };
}

function ordered<T>(rows: readonly T[], columns: readonly Column<T>[], sort: string): readonly T[] {
  const column = columns.find(({ key }) => key === sort.replace(/^-/, ""));
  const order = column?.order ?? column?.text;
  if (order === undefined) return rows;
  const sign = sort.startsWith("-") ? -1 : 1;
  return rows
    .map((row) => ({ row, by: order(row) }))
    .sort((a, b) => sign * compare(a.by, b.by))
    .map(({ row }) => row);
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [left, right] = [String(a), String(b)];
  return left === right ? 0 : left < right ? -1 : 1;
}

/** The table with its filter and count. */
export function table<T>(options: TableOptions<T>, state: PageState): View {
  const { id, what, rows, columns } = options;
  if (rows.length === 0) return empty(options.empty);
  const shown = selectRows(options, state);
  return html`<div class="table" id=${`${id}-table`}>
    ${rows.length < FILTER_FROM ? undefined : tools(options, shown, state)}
    ${
      shown.rows.length === 0
        ? empty(
            html`<span>None of the ${formatCount(rows.length)} ${what} matches. <a data-stay href=${linkWith(state, { [`${id}.q`]: undefined }, state.panel)}>Show all</a></span>`,
          )
        : html`<div class="scroll"><table aria-label=${what}>
      <thead><tr>${columns.map((column) => headCell(id, column, state))}</tr></thead>
      <tbody>${shown.rows.map((row) => html`<tr key=${options.keyOf(row)}>${columns.map((column) => html`<td class=${column.figure === true ? "figure" : undefined} data-label=${column.title}>${column.cell(row) ?? "–"}</td>`)}</tr>`)}</tbody>
    </table></div>`
    }
    ${more(options, shown, state)}
  </div>`;
}

function tools<T>(
  { id, what, rows }: TableOptions<T>,
  { rows: drawn, matching }: Shown<T>,
  { params }: PageState,
): View {
  const count =
    matching === rows.length && drawn.length === rows.length
      ? `${formatCount(rows.length)} ${what}`
      : `${formatCount(drawn.length)} of ${matching === rows.length ? "" : `${formatCount(matching)} matching, `}${formatCount(rows.length)} ${what}`;
  return html`<div class="tools"><label class="filter scripted"><span class="sr">Filter ${what}</span><input type="search" data-param=${`${id}.q`} value=${params.get(`${id}.q`) ?? ""} placeholder=${`Filter ${what}`} autocomplete="off" spellcheck="false" /></label><span class="count" role="status">${count}</span></div>`;
}

function headCell<T>(id: string, column: Column<T>, state: PageState): View {
  const { key, title, figure = false } = column;
  const sort = state.params.get(`${id}.sort`);
  const direction = sort === key ? "ascending" : sort === `-${key}` ? "descending" : undefined;
  const next = direction === undefined ? key : direction === "ascending" ? `-${key}` : undefined;
  const href = linkWith(state, { [`${id}.sort`]: next }, state.panel ?? `${id}-table`);
  const mark = html`<span class="order" aria-hidden="true">${direction === "ascending" ? "↑" : direction === "descending" ? "↓" : ""}</span>`;
  // In a column of figures the mark is left of the title, so that title and figures share their
  // right edge.
  const label = figure ? [mark, title] : [title, mark];
  const sortable = column.order !== undefined || column.text !== undefined;
  return html`<th scope="col" class=${figure ? "figure" : undefined} aria-sort=${direction}>${sortable ? sortControl(label, href, state) : title}</th>`;
}

/**
 * A button where the browser draws the page; a link to the page in that order where the server
 * does, which needs no script.
 */
function sortControl(label: Child, href: string, { panel }: PageState): View {
  return panel === undefined
    ? html`<a href=${href}>${label}</a>`
    : html`<button type="button" class="sort" data-stay data-href=${href}>${label}</button>`;
}

function more<T>(
  { id, what }: TableOptions<T>,
  { rows, matching }: Shown<T>,
  state: PageState,
): View | undefined {
  if (rows.length >= matching) return undefined;
  const next = Math.min(MAX_ROWS, rows.length + PAGE_ROWS);
  if (next === rows.length)
    return html`<p class="note">The first ${formatCount(rows.length)} of ${formatCount(matching)} ${what} are shown: filter for the others, or read <a href="/api/status.json">the whole status</a>.</p>`;
  return html`<p class="note"><a data-stay href=${linkWith(state, { [`${id}.rows`]: String(next) }, state.panel ?? `${id}-table`)}>Show ${formatCount(Math.min(next, matching) - rows.length)} more</a></p>`;
}
