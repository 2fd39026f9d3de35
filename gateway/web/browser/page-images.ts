/** Says in words where a picture of a page cannot be shown. */

/** Heeds pictures that are there and those that are drawn later. */
export function watchPageImages(): void {
  // Errors of pictures do not bubble.
  document.addEventListener("error", ({ target }) => mark(target), { capture: true });
  for (const image of document.querySelectorAll("img[data-page]"))
    if (image instanceof HTMLImageElement && image.complete && image.naturalWidth === 0)
      mark(image);
}

function mark(target: EventTarget | null): void {
  if (target instanceof HTMLImageElement && target.dataset["page"] !== undefined)
    target.closest("figure")?.classList.add("missing");
}
