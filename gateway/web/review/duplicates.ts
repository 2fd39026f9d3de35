/**
 * The page `/duplicates` as one view of what the API answers and of the address: the list, and
 * beside it the group that is open. Rendered by the server, then by the browser after each change.
 */
import { html, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { reviewDialogs } from "./dialogs.ts";
import { groupView } from "./group.ts";
import { head, type Progress } from "./head.ts";
import { filterBar, groupList } from "./list.ts";
import { valueOf, type DuplicatesFacts } from "./load.ts";

/** What only the browser knows. */
export interface ReviewMarks {
  readonly progress: Progress | undefined;
  /** The row that the keyboard is on. */
  readonly selected: string | undefined;
}

export function duplicatesPage(
  facts: DuplicatesFacts,
  state: PageState,
  { progress, selected }: ReviewMarks = { progress: undefined, selected: undefined },
): View {
  const { open } = facts;
  return html`<div class=${open === undefined ? "stack review" : "stack review with-group"}>
    ${head(facts, progress, state)}
    ${filterBar(valueOf(facts.activity)?.accepted, state)}
    <div class="panes"><div class="list">${groupList(facts, selected ?? state.params.get("group") ?? undefined, state)}</div>${open === undefined ? undefined : groupView(open, state)}</div>
    ${reviewDialogs()}
  </div>`;
}
