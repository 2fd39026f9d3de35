/** Traffic between groups as a square: sources down, destinations across. */
import type { FlowCell, FlowReport } from "../../../src/gen/flows-json.ts";
import { formatBytes } from "../format.ts";
import { html, type View } from "../html.ts";
import { part } from "../pieces/section.ts";
import { bytesOf, nameOf } from "./rankings.ts";

/** More names do not fit beside each other; the list of pairs has them. */
const MAX_NAMES = 12;
/** Shades of a cell, by its share of the largest. */
const SHADES = 5;

/** The squares that have more than one cell. */
export function matrices({ result }: FlowReport): readonly View[] {
  const squares: readonly (readonly [title: string, readonly FlowCell[]])[] = [
    ["Between tags", result.tag_matrix],
    ["Between users", result.user_matrix],
    ["Between systems", result.os_matrix],
  ];
  return squares.flatMap(([title, cells]) =>
    cells.length < 2
      ? []
      : [part(title, square(title, cells), "Bytes in both directions, from row to column.")],
  );
}

function square(title: string, cells: readonly FlowCell[]): View {
  const sources = largestFirst(cells, ({ src }) => src);
  const destinations = largestFirst(cells, ({ dst }) => dst);
  const byEnds = new Map(cells.map((cell) => [`${cell.src}\0${cell.dst}`, bytesOf(cell.counts)]));
  const largest = Math.max(1, ...byEnds.values());
  return html`<div class="scroll"><table class="matrix" aria-label=${title}>
    <thead><tr><th scope="col"><span class="sr">from / to</span></th>${destinations.map((name) => html`<th scope="col"><span>${nameOf(name)}</span></th>`)}</tr></thead>
    <tbody>${sources.map((src) => html`<tr><th scope="row">${nameOf(src)}</th>${destinations.map((dst) => cellView(byEnds.get(`${src}\0${dst}`), largest))}</tr>`)}</tbody></table></div>`;
}

function cellView(bytes: number | undefined, largest: number): View {
  if (bytes === undefined) return html`<td class="none"><span class="sr">none</span></td>`;
  const shade = Math.max(1, Math.ceil((SHADES * bytes) / largest));
  return html`<td class=${`shade-${shade}`}>${formatBytes(bytes)}</td>`;
}

function largestFirst(
  cells: readonly FlowCell[],
  end: (cell: FlowCell) => string,
): readonly string[] {
  const sums = new Map<string, number>();
  for (const cell of cells) sums.set(end(cell), (sums.get(end(cell)) ?? 0) + bytesOf(cell.counts));
  return [...sums]
    .sort(([, left], [, right]) => right - left)
    .slice(0, MAX_NAMES)
    .map(([name]) => name);
}
