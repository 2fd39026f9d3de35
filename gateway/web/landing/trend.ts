/** The last 24 hours of a count as a line, and what became of it since yesterday. */
import { formatCount } from "../format.ts";
import { html, type Child } from "../html.ts";
import { sparkline } from "../pieces/chart.ts";
import type { Trend } from "./day.ts";

/** Nothing until the count was observed for a while. */
export function trendRow(label: string, trend: Trend | undefined): Child {
  if (trend === undefined || trend.points.length < 2) return undefined;
  return html`<p class="trend">${sparkline(trend.points, `${label}, last 24 hours`, formatCount)}<span class="muted">${sinceYesterday(trend) ?? "last 24 hours"}</span></p>`;
}

/** Undefined when nobody looked yesterday. */
export function sinceYesterday({ points, yesterday }: Trend): string | undefined {
  const now = points.at(-1);
  if (now === undefined || yesterday === undefined) return undefined;
  if (now === yesterday) return "as yesterday";
  return `${formatCount(Math.abs(now - yesterday))} ${now > yesterday ? "more" : "fewer"} than yesterday`;
}
