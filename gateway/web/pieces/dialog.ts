/**
 * A question before what cannot be undone. Closed until the browser opens it
 * (`browser/dialogs.ts`); the native element keeps the focus inside.
 */
import { html, type View } from "../html.ts";

/** A question. */
export interface DialogOptions {
  /** What `data-open` names. */
  readonly id: string;
  readonly title: string;
  /** The exact consequence. */
  readonly body: string;
  /** The verb on the button that confirms. */
  readonly confirm: string;
}

/** The dialog with a way out first and the way on last. */
export function dialog({ id, title, body, confirm }: DialogOptions): View {
  return html`<dialog id=${`dialog-${id}`} data-dialog=${id} aria-labelledby=${`dialog-${id}-title`}>
    <h2 id=${`dialog-${id}-title`}>${title}</h2><p>${body}</p>
    <div class="actions"><button type="button" data-answer="no">Cancel</button><button type="button" class="danger" data-answer="yes">${confirm}</button></div>
  </dialog>`;
}
