/** How pages name a group's status, a document, and why something could not be read. */
import type { GroupSummary, PlanDocument } from "../../../src/gen/dedup-json.ts";
import { html, type Child, type View } from "../html.ts";
import { stateIcon, type State } from "../pieces/state.ts";
import { shownAs } from "./filters.ts";

const STATUS: Readonly<Record<ReturnType<typeof shownAs>, readonly [State, string]>> = {
  pending: ["notice", "to review"],
  accepted: ["good", "in the delete plan"],
  false_positive: ["unknown", "not duplicates"],
  ignored: ["unknown", "ignored"],
  deleted: ["unknown", "deleted"],
};

/** State and word of a group. */
export function statusOf(
  group: Pick<GroupSummary, "status" | "accepted">,
): readonly [State, string] {
  return STATUS[shownAs(group)];
}

/** The title; a document without one is named by its reference. */
export function titleOf({
  title,
  archiveRef,
  paperlessId,
}: Pick<PlanDocument, "title" | "archiveRef" | "paperlessId">): string {
  if (title !== "") return title;
  return archiveRef ?? (paperlessId === null ? "without a title" : `document ${paperlessId}`);
}

/** Where the archive has it: the archive's name and its reference there. */
export function whereIs({
  archive,
  archiveRef,
  paperlessId,
}: Pick<PlanDocument, "archive" | "archiveRef" | "paperlessId">): View {
  const reference = archiveRef ?? (paperlessId === null ? undefined : String(paperlessId));
  return html`<span>${archive}${reference === undefined ? undefined : html`<span>: <code>${reference}</code></span>`}</span>`;
}

/** A paragraph that stands out, with its state's shape. */
export function banner(state: State, text: Child, actions?: Child): View {
  return html`<div class=${`banner ${state}`}>${stateIcon(state)}<div>${text}</div>${actions === undefined ? undefined : html`<div class="banner-actions scripted">${actions}</div>`}</div>`;
}

/** What a page says instead of a part that could not be read. */
export function problemBanner(what: string, problem: string): View {
  return banner(
    "bad",
    html`<span><strong>${what} cannot be read.</strong> ${problem}</span>`,
    html`<button type="button" data-act="reload">Try again</button>`,
  );
}
