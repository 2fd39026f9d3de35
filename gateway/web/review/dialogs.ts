/** The dialogs of `/duplicates`: the keys, and accepting all exact copies. */
import { html, type View } from "../html.ts";
import { dialog } from "../pieces/dialog.ts";

const KEYS: readonly (readonly [keys: readonly string[], effect: string])[] = [
  [["j", "k"], "next and previous group"],
  [["Enter"], "open the group"],
  [["a"], "accept: the documents besides the one that stays go into the delete plan"],
  [["x"], "not a duplicate: these documents are not grouped again"],
  [["i"], "ignore: they are duplicates, and all of them stay"],
  [["←", "→"], "compare with the previous or next document of the group"],
  [["p"], "keep the document on the right instead"],
  [["r"], "review again: take the group out of the plan, or take its decision back"],
  [["u"], "undo the last decision"],
  [["/"], "search titles"],
  [["Esc"], "back to the list"],
  [["?"], "this help"],
];

export function reviewDialogs(): View {
  return html`<div>${keysDialog()}${dialog({
    id: "copies",
    title: "Accept all exact copies?",
    body: "Every group to review whose documents have the same text, word for word, goes into the delete plan. Documents of which only the beginning was read are left out. Nothing is deleted, and one undo takes all of them out again.",
    confirm: "Accept exact copies",
  })}</div>`;
}

function keysDialog(): View {
  return html`<dialog id="dialog-keys" data-dialog="keys" class="keys" aria-labelledby="dialog-keys-title">
    <h2 id="dialog-keys-title">Keyboard</h2>
    <dl>${KEYS.map(([keys, effect]) => html`<div><dt>${keys.map((key) => html`<kbd>${key}</kbd>`)}</dt><dd>${effect}</dd></div>`)}</dl>
    <p class="note">What each decision means is in <code>docs/review.md</code>.</p>
    <div class="actions"><button type="button" class="quiet" data-act="keys" data-keys>Switch single keys off</button><button type="button" data-answer="no" autofocus>Close</button></div>
  </dialog>`;
}
