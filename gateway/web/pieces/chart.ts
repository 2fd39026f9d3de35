/**
 * Lines and bars over time as inline SVG: drawn by the server, redrawn by the browser, without a
 * library.
 */
import { UNKNOWN } from "../format.ts";
import { html, type View } from "../html.ts";

/** A sparkline's own units; it is stretched to the room it has. */
const WIDTH = 120;
const HEIGHT = 28;
/** Keeps the stroke inside. */
const INSET = 2;

/** A line without axes, for a place in a row. `label` names it for those who hear it. */
export function sparkline(
  points: readonly number[] | undefined,
  label: string,
  format: (value: number) => string = String,
): View {
  if (points === undefined || points.length === 0)
    return html`<span class="muted" title=${`${label}: no points yet`}>–</span>`;
  const path = linePath(points, rangeOf(points));
  return html`<svg class="sparkline" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${`${label}: ${summary(points, format)}`}>
    <path class="area" d=${`${path}V${HEIGHT}H0Z`} /><path class="line" d=${path} />
  </svg>`;
}

/** What a chart shows. */
export interface TimeSeriesOptions {
  readonly title: string;
  readonly points: readonly number[] | undefined;
  readonly format: (value: number) => string;
  /**
   * What is so now, as the newest point of the line and the figure beside the title; without it
   * that is the last of the points.
   */
  readonly now?: number | undefined;
  /** The text without any sample. */
  readonly none?: string;
  /** How long ago the first of so many samples was at least, in words. */
  span(samples: number): string;
}

/** A chart with its highest and lowest value and the span of its time. */
export function timeSeries(options: TimeSeriesOptions): View {
  const { title, format, now } = options;
  // The line ends where the figure above it is: never below or above it.
  const points = [
    ...(options.points ?? []),
    ...(now === undefined || options.points === undefined ? [] : [now]),
  ];
  const last = now ?? points.at(-1);
  const samples = options.points?.length ?? 0;
  const none =
    (samples === 0 ? options.none : undefined) ?? "A line appears after the second sample.";
  return html`<figure class="series"><figcaption><span>${title}</span><strong>${last === undefined ? UNKNOWN : format(last)}</strong></figcaption>${samples < 2 ? html`<p class="empty">${none}</p>` : drawing(points, title, format, options.span(samples))}</figure>`;
}

function drawing(
  points: readonly number[],
  title: string,
  format: (value: number) => string,
  span: string,
): View {
  const range = rangeOf(points);
  const path = linePath(points, range);
  return html`<div class="plot"><div class="axis"><span>${format(range[1])}</span><span>${format(range[0])}</span></div><svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${`${title}: ${summary(points, format)}`}>
      <path class="grid" d=${`M0 ${INSET}H${WIDTH}M0 ${HEIGHT / 2}H${WIDTH}M0 ${HEIGHT - INSET}H${WIDTH}`} /><path class="area" d=${`${path}V${HEIGHT}H0Z`} /><path class="line" d=${path} />
    </svg></div><p class="span"><span>${span}</span><span>now</span></p>`;
}

/** Runs as bars: short where one went well, full and in the colour of failure where it did not. */
export function outcomes(runs: readonly boolean[] | undefined): View {
  if (runs === undefined || runs.length === 0) return html`<span class="muted">–</span>`;
  const failed = runs.filter((ok) => !ok).length;
  const step = WIDTH / Math.max(runs.length, 20);
  return html`<svg class="outcomes" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${`last ${runs.length} runs: ${failed === 0 ? "all succeeded" : `${failed} failed`}${failed > 0 && runs.at(-1) === false ? ", the newest too" : ""}`}>
    ${runs.map((ok, index) => html`<rect class=${ok ? "good" : "bad"} x=${rounded(index * step)} width=${rounded(step * 0.7)} y=${ok ? HEIGHT / 2 : INSET} height=${ok ? HEIGHT / 2 - INSET : HEIGHT - 2 * INSET} />`)}
  </svg>`;
}

function summary(points: readonly number[], format: (value: number) => string): string {
  const last = points.at(-1) ?? 0;
  return `${format(last)} now, from ${format(Math.min(...points))} to ${format(Math.max(...points))} over ${points.length} samples`;
}

/** From zero, so that heights compare; below it only where values are. */
function rangeOf(points: readonly number[]): readonly [low: number, high: number] {
  const [low, high] = [Math.min(0, ...points), Math.max(0, ...points)];
  return [low, low === high ? 1 : high];
}

function linePath(points: readonly number[], [low, high]: readonly [number, number]): string {
  const step = points.length < 2 ? 0 : WIDTH / (points.length - 1);
  const at = (value: number): string =>
    rounded(HEIGHT - INSET - ((value - low) / (high - low || 1)) * (HEIGHT - 2 * INSET));
  const line = points
    .map((value, index) => `${index === 0 ? "M" : "L"}${rounded(index * step)} ${at(value)}`)
    .join("");
  return points.length === 1 ? `${line}H${WIDTH}` : line;
}

function rounded(value: number): string {
  return String(Math.round(value * 100) / 100);
}
