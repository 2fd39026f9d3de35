/** A running job with its progress and a way to cancel it. */
import { formatPercent } from "../format.ts";
import { html, type View } from "../html.ts";

export interface JobProgress {
  readonly jobId: string;
  /** 0 to 1; NaN while it is not known. */
  readonly progress: number;
  readonly message: string;
  /** The stream of events broke off and is being opened again. */
  readonly lost: boolean;
}

/** `label` says what the job does, e.g. `Syncing the archives`. */
export function jobBanner(label: string, { jobId, progress, message, lost }: JobProgress): View {
  const known = !Number.isNaN(progress);
  const share = known ? Math.round(progress * 1000) / 1000 : undefined;
  return html`<div class="banner unknown job"><div>
      <p><strong>${label}</strong>${message === "" ? undefined : html`<span>: ${message}</span>`}${lost ? html`<span class="muted"> (no news at the moment)</span>` : undefined}</p>
      <progress aria-label=${label} max="1" value=${share}>${known ? formatPercent(progress) : ""}</progress></div>
    <div class="banner-actions scripted"><span class="count">${known ? formatPercent(progress) : ""}</span><button type="button" data-act="cancel" data-id=${jobId}>Cancel</button></div></div>`;
}
