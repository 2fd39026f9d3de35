/**
 * The page `/suggestions` as one view of what the API answers and of the address: the list, and
 * beside it the suggestion that is open. Rendered by the server, then by the browser after each
 * change.
 */
import type { AiCostEstimate, AiPreflight } from "../../../src/gen/dedup-json.ts";
import { formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { jobBanner, type JobProgress } from "../pieces/job.ts";
import { problemOf, valueOf, type Read } from "../review/load.ts";
import { banner, problemBanner } from "../review/words.ts";
import { suggestionDialogs } from "./dialogs.ts";
import { filterBar, resultList } from "./list.ts";
import type { Overview, SuggestionsFacts } from "./load.ts";
import { resultView, type Chosen } from "./result.ts";
import { formatUsd } from "./words.ts";

/** What only the browser knows. */
export interface SuggestionMarks {
  readonly progress: JobProgress | undefined;
  /** The row that the keyboard is on. */
  readonly selected: string | undefined;
  readonly chosen: Chosen;
  /** For the question before all listed suggestions are applied. */
  readonly preflight: AiPreflight | undefined;
  /** For the question before the model is asked. */
  readonly estimate: Read<AiCostEstimate> | undefined;
}

const NONE: SuggestionMarks = {
  progress: undefined,
  selected: undefined,
  chosen: undefined,
  preflight: undefined,
  estimate: undefined,
};

export function suggestionsPage(
  facts: SuggestionsFacts,
  state: PageState,
  marks: SuggestionMarks = NONE,
): View {
  const overview = valueOf(facts.overview);
  const { open } = facts;
  const selected = marks.selected ?? state.params.get("result") ?? undefined;
  return html`<div class=${open === undefined ? "stack review" : "stack review with-group"}>
    ${head(facts, marks.progress)}
    ${filterBar(overview, state)}
    <div class="panes"><div class="list">${resultList(facts, selected, state)}</div>${open === undefined ? undefined : resultView(open, overview, marks.chosen, state)}</div>
    ${suggestionDialogs(overview, marks)}
  </div>`;
}

function head(facts: SuggestionsFacts, progress: JobProgress | undefined): View {
  const overview = valueOf(facts.overview);
  return html`<div class="stack tight">
    <div class="row review-head"><h2>Suggestions</h2>${overview === undefined ? undefined : activity(overview, progress !== undefined)}</div>
    ${overview === undefined ? problemBanner("The state of the suggestions", problemOf(facts.overview) ?? "") : notices(overview, progress)}
  </div>`;
}

function activity({ config, stats, running, limits }: Overview, isWatched: boolean): View {
  const isBusy = isWatched || running !== undefined;
  const isOver = limits?.monthLimitReached === true;
  return html`<div class="activity"><span class="muted">${config.model} by ${config.provider}; ${formatSome(stats.unprocessed, "document")} without a suggestion.</span>
    <span class="actions-inline scripted"><button type="button" data-act="process" disabled=${isBusy || isOver || stats.unprocessed === 0}>Ask the model …</button></span></div>`;
}

function notices({ running, limits }: Overview, progress: JobProgress | undefined): Child {
  const job =
    progress ??
    (running === undefined
      ? undefined
      : { jobId: running.id, progress: Number.NaN, message: running.progressMessage, lost: false });
  return [
    job === undefined ? undefined : jobBanner("Working on suggestions", job),
    limits?.monthLimitReached === true
      ? banner(
          "notice",
          html`<span><strong>This month's limit is reached.</strong> ${formatUsd(limits.spentThisMonthUsd)} of ${formatUsd(limits.perMonthUsd)} are spent: the model is not asked until the month (UTC) ends or the limit is raised. <a href="/suggestions/costs">Costs</a></span>`,
        )
      : undefined,
  ];
}

/** What the page says while AI is off. */
export function suggestionsOff(): View {
  return html`<div class="stack review"><div class="row review-head"><h2>Suggestions</h2></div>${banner(
    "unknown",
    html`<span><strong>AI suggestions are off.</strong> A language model can suggest correspondent, document type and tags for each document; nothing is written before you apply it. Set <code>AI_ENABLED=true</code> (or <code>dedup.ai.enabled</code>), a provider and its key, and restart. <code>docs/ai.md</code> says what is sent where.</span>`,
  )}</div>`;
}
