/** Questions before what cannot be undone: `data-open` opens one, and only its way on does it. */

/** What to do when a dialog is answered with yes, by its id. */
export type Answers = Readonly<Record<string, () => void>>;

/** Heeds every dialog of the page, also those drawn later. */
export function startDialogs(answers: Answers): void {
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const open = event.target.closest<HTMLElement>("[data-open]")?.dataset["open"];
    if (open !== undefined)
      document.querySelector<HTMLDialogElement>(`#dialog-${open}`)?.showModal();
    const answer = event.target.closest<HTMLElement>("[data-answer]");
    const asked = answer?.closest<HTMLDialogElement>("dialog[data-dialog]");
    if (answer === null || asked === null || asked === undefined) return;
    asked.close();
    if (answer.dataset["answer"] === "yes") answers[asked.dataset["dialog"] ?? ""]?.();
  });
}
