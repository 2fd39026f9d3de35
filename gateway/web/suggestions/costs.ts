/** The page `/suggestions/costs`: what the model has cost, by month, model and day, and the limits. */
import type { AiCosts, AiStats } from "../../../src/gen/dedup-json.ts";
import { formatCount, formatPercent, formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import { linkWith, type PageState } from "../page-state.ts";
import { figures, type Figure } from "../pieces/card.ts";
import { empty, part } from "../pieces/section.ts";
import { problemOf, valueOf } from "../review/load.ts";
import { banner, problemBanner } from "../review/words.ts";
import { COST_DAYS, type CostsFacts } from "./load.ts";
import { formatUsd } from "./words.ts";

export function costsPage({ costs, stats, days }: CostsFacts, state: PageState): View {
  const read = valueOf(costs);
  return html`<div class="stack review">
    <div class="row review-head"><h2>Costs of suggestions</h2><a href="/suggestions">Back to the suggestions</a></div>
    ${read === undefined ? problemBanner("The costs", problemOf(costs) ?? "") : costsView(read, valueOf(stats), days, state)}
  </div>`;
}

function costsView(
  costs: AiCosts,
  stats: AiStats | undefined,
  days: number,
  state: PageState,
): Child {
  const { limits, costByModel, costOverTime, requestsWithoutPrice } = costs;
  return [
    html`<section class="panel totals" aria-label="Totals">${figures(totals(costs, stats))}</section>`,
    limits === null ? undefined : limitNotice(limits),
    requestsWithoutPrice === 0
      ? undefined
      : banner(
          "notice",
          `${formatSome(requestsWithoutPrice, "request")} ${requestsWithoutPrice === 1 ? "was" : "were"} answered by a model without a known price: they are not part of the sums.`,
        ),
    html`<nav class="segments" aria-label="Days">${COST_DAYS.map((each) => html`<a data-stay href=${linkWith(state, { days: each === COST_DAYS[0] ? undefined : String(each) })} aria-current=${each === days ? "true" : undefined}>${each} days</a>`)}</nav>`,
    costOverTime.every(({ documentCount }) => documentCount === 0)
      ? empty(`The model was not asked in the last ${days} days.`)
      : part("By day", dayView(costOverTime), "Days are those of UTC."),
    costByModel.length === 0 ? undefined : part("By model", modelTable(costByModel)),
    html`<p class="note">Tokens as the provider counts them, at list prices without discounts; also of suggestions that were replaced. The limits are <a href="/settings/dedup">settings</a>.</p>`,
  ];
}

function totals({ totalCostUsd, limits }: AiCosts, stats: AiStats | undefined): readonly Figure[] {
  const monthly = limits?.perMonthUsd ?? 0;
  const spent = limits?.spentThisMonthUsd ?? 0;
  return [
    {
      label: "This month",
      value: formatUsd(spent),
      detail: monthly === 0 ? "no limit" : `of ${formatUsd(monthly)}`,
    },
    {
      label: "Left this month",
      value: monthly === 0 ? "–" : formatUsd(Math.max(0, monthly - spent)),
      detail: monthly === 0 ? "no limit is set" : formatPercent(Math.max(0, 1 - spent / monthly)),
    },
    {
      label: "Limit of a run",
      value: (limits?.perRunUsd ?? 0) === 0 ? "none" : formatUsd(limits?.perRunUsd ?? 0),
      detail: "a run stops before it costs more",
    },
    {
      label: "Since the beginning",
      value: formatUsd(totalCostUsd),
      detail:
        stats === undefined
          ? ""
          : `${formatCount(stats.totalPromptTokens)} tokens sent, ${formatCount(stats.totalCompletionTokens)} received`,
    },
  ];
}

function limitNotice({
  monthLimitReached,
  perMonthUsd,
  spentThisMonthUsd,
}: NonNullable<AiCosts["limits"]>): Child {
  if (monthLimitReached)
    return banner(
      "bad",
      "This month's limit is reached: further runs are refused until the month (UTC) ends or the limit is raised.",
    );
  return perMonthUsd > 0 && spentThisMonthUsd >= 0.8 * perMonthUsd
    ? banner("notice", "More than four fifths of this month's limit are spent.")
    : undefined;
}

function dayView(days: AiCosts["costOverTime"]): View {
  const shown = days.filter(({ documentCount }) => documentCount > 0).toReversed();
  return html`<div class="table"><div class="scroll"><table aria-label="costs by day"><thead><tr><th scope="col">Day</th><th scope="col" class="figure">Documents</th><th scope="col" class="figure">Cost</th></tr></thead>
    <tbody>${shown.map(({ date, costUsd, documentCount }) => html`<tr key=${date}><td data-label="Day">${date}</td><td class="figure" data-label="Documents">${formatCount(documentCount)}</td><td class="figure" data-label="Cost">${formatUsd(costUsd)}</td></tr>`)}</tbody></table></div></div>`;
}

function modelTable(models: AiCosts["costByModel"]): View {
  return html`<div class="table"><div class="scroll"><table aria-label="costs by model"><thead><tr><th scope="col">Model</th><th scope="col" class="figure">Tokens sent</th><th scope="col" class="figure">Tokens received</th><th scope="col" class="figure">Cost</th></tr></thead>
    <tbody>${models.map(({ model, costUsd, promptTokens, completionTokens }) => html`<tr key=${model}><td data-label="Model">${model}</td><td class="figure" data-label="Tokens sent">${formatCount(promptTokens)}</td><td class="figure" data-label="Tokens received">${formatCount(completionTokens)}</td><td class="figure" data-label="Cost">${formatUsd(costUsd)}</td></tr>`)}</tbody></table></div></div>`;
}
