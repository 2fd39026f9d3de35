/**
 * One suggestion: for each field what the document has, what is suggested and how sure the model is.
 * Buttons are named by `data-act`; the browser's half gives them their effect.
 */
import type { AiResultDetail } from "../../../src/gen/dedup-json.ts";
import { formatCount, formatMilliseconds } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import { linkWith, type PageState } from "../page-state.ts";
import { keyValues } from "../pieces/key-values.ts";
import { badge } from "../pieces/state.ts";
import { moment } from "../pieces/time.ts";
import { problemOf, valueOf, type Read } from "../review/load.ts";
import { banner, problemBanner } from "../review/words.ts";
import { changesOf, type Field, type FieldChange } from "./fields.ts";
import type { OpenResult, Overview } from "./load.ts";
import { failureOf, formatConfidence, formatUsd, statusOf } from "./words.ts";

/** Fields that a reader chose; undefined for the ones that are chosen at first. */
export type Chosen = ReadonlySet<Field> | undefined;

/** The suggestion that the address names; `gone` when the API has it no more. */
export function resultView(
  open: Read<OpenResult>,
  overview: Overview | undefined,
  chosen: Chosen,
  state: PageState,
): View {
  const read = valueOf(open);
  const back = html`<a class="back" data-stay data-step href=${linkWith(state, { result: undefined })}>← Back to the list</a>`;
  if (read === undefined)
    return html`<section class="group part" aria-label="Suggestion">${back}${
      "gone" in open && open.gone
        ? banner(
            "notice",
            html`<span><strong>This suggestion is gone.</strong> The document was processed again or removed, or the link is wrong.</span>`,
            html`<button type="button" data-act="reload">Load the list again</button>`,
          )
        : problemBanner("The suggestion", problemOf(open) ?? "")
    }</section>`;
  const { result } = read;
  const changes = openChanges(read, overview);
  return html`<section class="group part" aria-labelledby="group-title">
    ${back}
    <div class="row"><h3 id="group-title" tabindex="-1">${result.documentId === "" ? result.documentTitle : html`<a href=${`/documents/${encodeURIComponent(result.documentId)}`}>${result.documentTitle}</a>`}</h3>${badge(...statusOf(result))}</div>
    ${notices(read, changes, state)}
    ${result.appliedStatus === "failed" ? undefined : fieldTable(result, changes, chosen)}
    ${actions(result, changes)}
    ${result.evidence === null || result.evidence === "" ? undefined : html`<div class="part"><h4>What the model based it on</h4><blockquote>${result.evidence}</blockquote></div>`}
    ${facts(result, state)}
  </section>`;
}

/** The changes of an open suggestion, against what the document has at present. */
export function openChanges(
  { result, document }: OpenResult,
  overview: Overview | undefined,
): readonly FieldChange[] {
  const rules = overview?.config ?? { tagMode: "merge", protectedTagNames: [] };
  return changesOf(result, rules, document);
}

/** What is applied unless the reader chooses otherwise: what would change, but never the title. */
export function chosenAtFirst(changes: readonly FieldChange[]): ReadonlySet<Field> {
  return new Set(
    changes.flatMap(({ field, changes: does }) => (does && field !== "title" ? [field] : [])),
  );
}

/** Whether its fields can still be chosen and applied. */
export function isOpen({ appliedStatus }: Pick<AiResultDetail, "appliedStatus">): boolean {
  return appliedStatus === "pending" || appliedStatus === "partial" || appliedStatus === "reverted";
}

function notices(
  { result, document }: OpenResult,
  changes: readonly FieldChange[],
  state: PageState,
): Child {
  const { appliedStatus, errorMessage, rejectionReason } = result;
  return [
    appliedStatus === "failed" ? banner("bad", failureText(result)) : undefined,
    appliedStatus !== "failed" && errorMessage !== null
      ? banner("notice", errorMessage)
      : undefined,
    document === undefined && appliedStatus !== "failed"
      ? banner(
          "notice",
          "The document cannot be read: what is shown as present is from when the suggestion was made.",
        )
      : undefined,
    appliedStatus === "pending" && changes.some(({ before }) => before !== undefined)
      ? banner("notice", "The document was changed after the suggestion was made.")
      : undefined,
    rejectionReason === null ? undefined : html`<p class="note">Rejected: ${rejectionReason}</p>`,
    result.appliedAt === null || result.revertedAt !== null
      ? undefined
      : html`<p class="note">Applied ${moment(result.appliedAt, state)}: ${result.appliedFields.join(", ")}.</p>`,
    result.revertedAt === null
      ? undefined
      : html`<p class="note">Reverted ${moment(result.revertedAt, state)}: the document has its former values again.</p>`,
  ];
}

function failureText(result: AiResultDetail): string {
  const { errorMessage } = result;
  return `${failureOf(result)}${errorMessage === null ? "" : ` ${errorMessage}`}`;
}

function fieldTable(result: AiResultDetail, changes: readonly FieldChange[], chosen: Chosen): View {
  const ticked = chosen ?? chosenAtFirst(changes);
  const shown = changes.filter(({ field, suggested }) => field !== "title" || suggested.length > 0);
  const canChoose = isOpen(result);
  return html`<div class="table"><div class="scroll"><table class="fields" aria-label="fields">
    <thead><tr><th scope="col">Field</th><th scope="col">Now</th><th scope="col">Suggested</th><th scope="col" class="figure">Confidence</th></tr></thead>
    <tbody>${shown.map((change, at) => fieldRow(change, { ticked: ticked.has(change.field), canChoose, key: at + 1 }))}</tbody></table></div></div>`;
}

function fieldRow(
  change: FieldChange,
  {
    ticked,
    canChoose,
    key,
  }: { readonly ticked: boolean; readonly canChoose: boolean; readonly key: number },
): View {
  const { field, label, before, confidence, changes } = change;
  const choice =
    canChoose && changes
      ? html`<label class="choice"><input type="checkbox" class="scripted" data-field=${field} checked=${ticked} aria-keyshortcuts=${String(key)} /> ${label}</label>`
      : label;
  return html`<tr key=${field}>
    <td data-label="Field">${choice}</td>
    <td data-label="Now"><span>${presentValue(change)}${before === undefined ? undefined : html`<small>was: ${before.length === 0 ? "none" : before.join(", ")}</small>`}</span></td>
    <td data-label="Suggested"><span>${suggestedValue(change)}</span></td>
    <td class="figure" data-label="Confidence">${formatConfidence(confidence)}</td>
  </tr>`;
}

function presentValue({ now, removed }: FieldChange): Child {
  if (now.length === 0) return html`<span class="muted">none</span>`;
  return now.map((value) =>
    removed.includes(value)
      ? html`<span><del>${value}</del> </span>`
      : html`<span>${value} </span>`,
  );
}

function suggestedValue({ field, suggested, added, changes }: FieldChange): Child {
  if (suggested.length === 0) return html`<span class="muted">no suggestion</span>`;
  if (!changes) return html`<span>${suggested.join(", ")}<small>no change</small></span>`;
  return suggested.map((value) =>
    field !== "tags" || added.includes(value)
      ? html`<span><ins>${value}</ins> </span>`
      : html`<span>${value} </span>`,
  );
}

function actions(result: AiResultDetail, changes: readonly FieldChange[]): View {
  const { id, appliedStatus, documentId } = result;
  const action = (act: string, key: string | undefined, label: string, main = false): View =>
    html`<button type="button" data-act=${act} data-id=${act === "again" ? documentId : undefined} class=${main ? "main" : undefined} aria-keyshortcuts=${key}>${label}${key === undefined ? undefined : html` <kbd aria-hidden="true">${key}</kbd>`}</button>`;
  const canApply = isOpen(result) && changes.some((change) => change.changes);
  return html`<div class="decision"><div class="decision-buttons scripted" role="group" aria-label="Decision">
    ${canApply ? action("apply", "a", "Apply the ticked fields", true) : undefined}
    ${appliedStatus === "pending" ? action("reject", "x", "Reject") : undefined}
    ${appliedStatus === "applied" || appliedStatus === "partial" ? action("revert", "u", "Revert") : undefined}
    ${documentId === "" || isOpen(result) ? undefined : action("again", undefined, "Ask the model again")}
  </div>${appliedStatus === "pending" ? html`<label key=${id} class="reason scripted"><span>Why, if you reject it (optional)</span><input type="text" id="reason" name=${`reason-${id}`} maxlength="2000" autocomplete="off" /></label>` : undefined}</div>`;
}

function facts(result: AiResultDetail, state: PageState): View {
  const { provider, model, promptTokens, completionTokens, processingTimeMs } = result;
  return html`<details><summary>How it was made</summary>${keyValues([
    ["Model", `${model} (${provider})`],
    ["Made", moment(result.createdAt ?? undefined, state)],
    ["Tokens", `${formatCount(promptTokens)} sent, ${formatCount(completionTokens)} received`],
    ["Took", formatMilliseconds(processingTimeMs)],
    ["Cost", result.estimatedCostUsd === null ? "not known" : formatUsd(result.estimatedCostUsd)],
  ])}</details>`;
}
