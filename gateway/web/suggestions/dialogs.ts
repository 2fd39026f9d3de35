/** The questions of `/suggestions`: before many are applied, before the model is asked; and the keys. */
import type { AiCostEstimate, AiPreflight } from "../../../src/gen/dedup-json.ts";
import { formatCount, formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import type { Read } from "../review/load.ts";
import type { Overview } from "./load.ts";
import { formatUsd } from "./words.ts";

const KEYS: readonly (readonly [keys: readonly string[], effect: string])[] = [
  [["j", "k"], "next and previous suggestion"],
  [["Enter"], "open the suggestion"],
  [["1", "4"], "tick or untick a field of the open suggestion"],
  [["a"], "apply the ticked fields"],
  [["x"], "reject"],
  [["u"], "revert what was applied"],
  [["/"], "search titles"],
  [["Esc"], "back to the list"],
  [["?"], "this help"],
];

interface Asked {
  readonly preflight: AiPreflight | undefined;
  readonly estimate: Read<AiCostEstimate> | undefined;
}

export function suggestionDialogs(
  overview: Overview | undefined,
  { preflight, estimate }: Asked,
): View {
  return html`<div>
    ${question("apply-all", "Apply all listed suggestions?", applyAllText(preflight), "Apply")}
    ${question("process", "Ask the model?", processText(overview, estimate), "Ask")}
    <dialog id="dialog-keys" data-dialog="keys" class="keys" aria-labelledby="dialog-keys-title">
      <h2 id="dialog-keys-title">Keyboard</h2>
      <dl>${KEYS.map(([keys, effect]) => html`<div><dt>${keys.map((key) => html`<kbd>${key}</kbd>`)}</dt><dd>${effect}</dd></div>`)}</dl>
      <div class="actions"><button type="button" class="quiet" data-act="keys" data-keys>Switch single keys off</button><button type="button" data-answer="no" autofocus>Close</button></div>
    </dialog>
  </div>`;
}

function question(id: string, title: string, body: Child, confirm: string): View {
  return html`<dialog id=${`dialog-${id}`} data-dialog=${id} aria-labelledby=${`dialog-${id}-title`}>
    <h2 id=${`dialog-${id}-title`}>${title}</h2>${body}
    <div class="actions"><button type="button" data-answer="no">Cancel</button><button type="button" class="main" data-answer="yes">${confirm}</button></div>
  </dialog>`;
}

function applyAllText(preflight: AiPreflight | undefined): Child {
  if (preflight === undefined) return undefined;
  const { fieldsChanged, newEntitiesCreated, confidenceDistribution } = preflight;
  const created = [
    ...(newEntitiesCreated?.correspondents ?? []),
    ...(newEntitiesCreated?.documentTypes ?? []),
    ...(newEntitiesCreated?.tags ?? []),
  ];
  const rows: readonly (readonly [string, string] | undefined)[] = [
    ["Suggestions", formatCount(preflight.totalDocuments)],
    [
      "Fields that change",
      `${formatCount(fieldsChanged?.correspondent ?? 0)} correspondents, ${formatCount(fieldsChanged?.documentType ?? 0)} types, ${formatCount(fieldsChanged?.tags ?? 0)} lists of tags`,
    ],
    ["Change nothing", formatCount(preflight.noOpCount)],
    [
      "Confidence",
      `${formatCount(confidenceDistribution?.high ?? 0)} high, ${formatCount(confidenceDistribution?.medium ?? 0)} medium, ${formatCount(confidenceDistribution?.low ?? 0)} low`,
    ],
    created.length === 0 ? undefined : ["New names", listed(created)],
    preflight.conflictCount === 0
      ? undefined
      : ["Changed since", formatSome(preflight.conflictCount, "document")],
    preflight.notApplicableCount === 0
      ? undefined
      : ["Cannot be applied", formatCount(preflight.notApplicableCount)],
  ];
  return html`<div class="stack tight"><p>Correspondent, document type and tags are written to the archive. Each can be reverted.</p>
    <dl class="key-values">${rows.map((row) => (row === undefined ? undefined : html`<div><dt>${row[0]}</dt><dd>${row[1]}</dd></div>`))}</dl></div>`;
}

const SHOWN_NAMES = 20;

function listed(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN_NAMES).join(", ");
  const rest = names.length - SHOWN_NAMES;
  return rest > 0 ? `${shown} and ${formatCount(rest)} more` : shown;
}

function processText(
  overview: Overview | undefined,
  estimate: Read<AiCostEstimate> | undefined,
): Child {
  if (overview === undefined) return undefined;
  const { config, stats, limits } = overview;
  const limit =
    config.maxCostPerRunUsd > 0
      ? ` The run stops before it costs more than ${formatUsd(config.maxCostPerRunUsd)}.`
      : "";
  const month =
    limits !== null && limits.perMonthUsd > 0
      ? ` ${formatUsd(limits.spentThisMonthUsd)} of this month's ${formatUsd(limits.perMonthUsd)} are spent.`
      : "";
  return html`<p>Title and text of ${formatSome(stats.unprocessed, "document")} are sent to ${config.model} at ${config.provider}. ${costText(config.model, estimate)}${limit}${month} Nothing is written to the archive.</p>`;
}

function costText(model: string, estimate: Read<AiCostEstimate> | undefined): Child {
  if (estimate === undefined) return undefined;
  if ("value" in estimate)
    return html`<span>It costs about <strong>${formatUsd(estimate.value.estimatedCostUsd)}</strong>.</span>`;
  return estimate.gone
    ? html`<span>What it costs is not known: ${model} has no price in the table.</span>`
    : html`<span>What it costs is not known: the estimate failed. ${estimate.problem}</span>`;
}
