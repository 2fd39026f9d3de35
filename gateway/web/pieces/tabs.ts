/**
 * Panels, one of them open (WAI-ARIA tabs pattern). Without scripts all are open, one below the
 * other, and the tabs are links to them; the browser half is `browser/tabs.ts`.
 */
import { html, type Child, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";

/** One panel. Its body is rendered only while it is open. */
export interface Panel {
  readonly id: string;
  readonly title: string;
  /** Beside the title: how many there are, or need somebody. */
  readonly mark?: Child;
  body(): Child;
}

/** The row of tabs and their panels. */
export function tabs(label: string, panels: readonly Panel[], { panel: open }: PageState): View {
  return html`<div class="tabs">
    <nav class="tab-row" aria-label=${label}><div ...${open === undefined ? {} : { role: "tablist", "aria-label": label }}>${panels.map((panel) => tab(panel, open))}</div></nav>
    ${panels.map((panel) => panelView(panel, open))}
  </div>`;
}

function tab({ id, title, mark }: Panel, open: string | undefined): View {
  const selected = id === open;
  const role =
    open === undefined
      ? {}
      : {
          role: "tab",
          id: `tab-${id}`,
          "aria-selected": selected,
          "aria-controls": id,
          tabindex: selected ? 0 : -1,
        };
  return html`<a key=${id} href=${`#${id}`} data-tab=${id} ...${role}>${title}${mark === undefined ? undefined : html` <span class="mark">${mark}</span>`}</a>`;
}

function panelView(panel: Panel, open: string | undefined): View {
  const { id, title } = panel;
  if (open === undefined)
    return html`<section key=${id} id=${id} class="panel"><h2>${title}</h2>${() => panel.body()}</section>`;
  const selected = id === open;
  return html`<section key=${id} id=${id} class="panel" role="tabpanel" aria-labelledby=${`tab-${id}`} hidden=${!selected} tabindex="0"><h2>${title}</h2>${selected ? panel.body() : undefined}</section>`;
}
