/** A moment: how long ago in sight, the exact time on hover. */
import { formatAge, formatMoment, formatWords, UNKNOWN } from "../format.ts";
import { html, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";

/** Nothing known is `never`. Text that is no time is shown as it is. */
export function moment(time: string | undefined, state: PageState, never = "never"): View {
  if (time === undefined || time === "") return html`<span class="muted">${never}</span>`;
  const at = Date.parse(time);
  if (Number.isNaN(at)) return html`<span>${time}</span>`;
  return html`<time datetime=${time} title=${formatMoment(at, state.zone)}>${formatAge(at, state.nowMs)}</time>`;
}

/** A length of time that the API has in words, with the seconds on hover; no words is not known. */
export function duration(words: string | undefined, seconds: number): View {
  return html`<span title=${`${seconds} s`}>${words === undefined || words === "" ? UNKNOWN : formatWords(words)}</span>`;
}
