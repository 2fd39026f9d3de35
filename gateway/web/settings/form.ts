/** One setting with its field, and the form that holds several. */
import type { Setting } from "../../../src/gen/dedup-json.ts";
import { html, type Child, type View } from "../html.ts";

/** What the reader has typed and not saved, and what is wrong with it, by the setting's name. */
export interface Draft {
  readonly values: ReadonlyMap<string, string>;
  readonly problems: ReadonlyMap<string, string>;
  /** Whether a script heeds the fields; without one they can only be read. */
  readonly isLive: boolean;
}

export const NO_DRAFT: Draft = { values: new Map(), problems: new Map(), isLive: false };

/** The settings that `labels` names, in that order. */
export function settingRows(
  settings: readonly Setting[],
  labels: Readonly<Record<string, string>>,
  draft: Draft,
): View {
  const rows = Object.entries(labels).flatMap(([name, label]) => {
    const setting = settings.find((each) => each.name === name);
    return setting === undefined ? [] : [settingRow(setting, label, draft)];
  });
  return html`<div class="settings">${rows}</div>`;
}

function settingRow(setting: Setting, label: string, { values, problems, isLive }: Draft): View {
  const { name, help, expects, fixed } = setting;
  const value = values.get(name) ?? setting.value;
  const problem = problems.get(name);
  const id = `setting-${name.replace(".", "-")}`;
  const usual = ` Default: ${shownDefault(setting)}.`;
  return html`<div class=${values.has(name) ? "setting changed" : "setting"} key=${name}>
    <label for=${id}>${label}</label>
    <div class="field">${field(setting, { id, value, isLive, isWrong: problem !== undefined })}${fixed ? html`<span class="muted">set in the configuration file or the environment</span>` : undefined}</div>
    <p class="note" id=${`${id}-note`}>${help}${isWord(setting) ? "" : ` ${sentence(expects)}`}${usual}</p>
    ${problem === undefined ? undefined : html`<p class="error" id=${`${id}-problem`}>${problem}</p>`}
  </div>`;
}

function shownDefault({ defaultValue, expects }: Setting): string {
  if (expects === "true or false") return defaultValue === "true" ? "on" : "off";
  return defaultValue === "" ? "none" : defaultValue;
}

/** Whether its field admits nothing else. */
function isWord({ choices, expects }: Setting): boolean {
  return choices.length > 0 || expects === "true or false" || expects === "text";
}

function sentence(expects: string): string {
  return `${expects.slice(0, 1).toUpperCase()}${expects.slice(1)}.`;
}

function field(
  { name, choices, expects, fixed, minimum, maximum }: Setting,
  {
    id,
    value,
    isLive,
    isWrong,
  }: {
    readonly id: string;
    readonly value: string;
    readonly isLive: boolean;
    readonly isWrong: boolean;
  },
): View {
  const shared = {
    id,
    name,
    "data-setting": name,
    disabled: fixed || !isLive,
    "aria-describedby": isWrong ? `${id}-problem ${id}-note` : `${id}-note`,
    "aria-invalid": isWrong ? "true" : undefined,
  };
  if (expects === "true or false")
    return html`<input type="checkbox" checked=${value === "true"} ...${shared} />`;
  if (choices.length > 0)
    return html`<select ...${shared}>${choices.map((word) => html`<option value=${word} selected=${word === value}>${word}</option>`)}</select>`;
  return minimum === null || maximum === null
    ? html`<input type="text" value=${value} autocomplete="off" spellcheck="false" ...${shared} />`
    : html`<input type="number" value=${value} min=${minimum} max=${maximum} step=${expects.includes("whole") ? 1 : "any"} inputmode="decimal" ...${shared} />`;
}

/** The buttons of a form; `effects` says what saving would do. */
export function formActions(form: string, hasChanges: boolean, effects: Child): View {
  return html`<div class=${hasChanges ? "form-end open" : "form-end"}><div aria-live="polite">${effects}</div>
    <div class="actions-inline scripted"><button type="button" class="quiet" data-act="discard" data-form=${form} disabled=${!hasChanges}>Discard</button><button type="submit" class="main" disabled=${!hasChanges}>Save</button></div></div>`;
}
