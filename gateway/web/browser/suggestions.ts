/**
 * The island of `/suggestions`: draws the page for each change of the address, carries out what keys
 * and buttons ask for, and follows the job that runs.
 */
import type { AiCostEstimate, AiPreflight } from "../../../src/gen/dedup-json.ts";
import { read, valueOf, type Read } from "../review/load.ts";
import type { Field } from "../suggestions/fields.ts";
import { filterOf, readFilters, type Filters } from "../suggestions/filters.ts";
import { loadOverview, loadResult, loadSuggestions } from "../suggestions/load.ts";
import type { OpenResult, SuggestionsFacts } from "../suggestions/load.ts";
import { suggestionsPage } from "../suggestions/page.ts";
import { chosenAtFirst, isOpen, openChanges } from "../suggestions/result.ts";
import { watchButtons } from "./act-buttons.ts";
import { readAddress, watchAddress } from "./address.ts";
import { startDialogs } from "./dialogs.ts";
import { createJobFollower } from "./job-follower.ts";
import { createLoadedPage, isFocusLost } from "./loaded-page.ts";
import { areKeysOn, switchKeys, watchKeys } from "./review-keys.ts";
import { suggestionClient } from "./suggestion-client.ts";
import { startTheme } from "./theme.ts";
import { toast } from "./toasts.ts";

/** Keys that wait for the one before; more are dropped. */
const MAX_WAITING = 20;
const REFRESH_MS = 15_000;

let selected: string | undefined;
/** Fields that the reader ticked, of the open suggestion. */
let chosen: { readonly id: string; readonly fields: ReadonlySet<Field> } | undefined;
/** The numbers of the question before all are applied, and the list that they are of. */
let preflight: { readonly filters: Filters; readonly counts: AiPreflight } | undefined;
let estimate: Read<AiCostEstimate> | undefined;
/** What the list was read for, and the state of the suggestions at that time. */
let listed: { readonly key: string; readonly state: string | undefined } | undefined;
let searched = readFilters(readAddress().params).search;

const page = createLoadedPage<SuggestionsFacts>({
  async load(params, before) {
    const key = listKey(params);
    if (before !== undefined && listed?.key === key && !isOutdated(before)) {
      const id = params.get("result") ?? "";
      return { ...before, open: id === "" ? undefined : await loadResult(suggestionClient, id) };
    }
    const next = await loadSuggestions(suggestionClient, params);
    if (valueOf(next.list) !== undefined) listed = { key, state: stateOf(next) };
    return next;
  },
  view: (facts, state) =>
    suggestionsPage(facts, state, {
      progress: jobs.progress,
      selected,
      chosen: chosen?.id === openId() ? chosen?.fields : undefined,
      preflight: preflight?.counts,
      estimate,
    }),
  loaded(facts) {
    keepRow(facts);
    const running = valueOf(facts.overview)?.running;
    if (running !== undefined) jobs.follow(running.id);
  },
});
const jobs = createJobFollower({
  draw: () => page.draw(),
  ended(_jobId, event) {
    if (event?.status === "failed") toast(`It failed: ${event.errorMessage ?? "the log says why"}`);
    run(reload);
  },
});

/** The part of the address that the list depends on. */
function listKey(params: URLSearchParams): string {
  const list = new URLSearchParams(params);
  list.delete("result");
  list.sort();
  return list.toString();
}

/** Whether a job ended, or a suggestion changed its state, after the list was read. */
function isOutdated(facts: SuggestionsFacts): boolean {
  return listed !== undefined && stateOf(facts) !== listed.state;
}

/** Undefined where it could not be read. */
function stateOf({ overview }: SuggestionsFacts): string | undefined {
  const known = valueOf(overview);
  return known && JSON.stringify([known.lastEnd, known.stats]);
}

function openId(): string | undefined {
  return readAddress().params.get("result") ?? undefined;
}

function opened(): OpenResult | undefined {
  return valueOf(page.facts?.open);
}

function rowIds(): readonly string[] {
  return (valueOf(page.facts?.list)?.data ?? []).map(({ id }) => id);
}

/** Selects the open suggestion, else keeps the row, else the first. */
function keepRow({ list }: SuggestionsFacts): void {
  const ids = (valueOf(list)?.data ?? []).map(({ id }) => id);
  const wanted = openId() ?? selected;
  const next = wanted !== undefined && ids.includes(wanted) ? wanted : ids[0];
  if (next === selected) return;
  selected = next;
  page.draw();
}

function show(id: string | undefined, step = false): void {
  const url = new URL(location.href);
  if (id === undefined) url.searchParams.delete("result");
  else url.searchParams.set("result", id);
  if (step) history.pushState(null, "", url);
  else history.replaceState(null, "", url);
}

async function reload(): Promise<void> {
  listed = undefined;
  await page.load();
}

async function refreshOverview(): Promise<void> {
  const { facts } = page;
  if (facts === undefined || document.visibilityState !== "visible") return;
  const overview = await loadOverview(suggestionClient);
  if (page.facts !== facts || valueOf(overview) === undefined) return;
  const next = { ...facts, overview };
  page.draw(next);
  const running = valueOf(overview)?.running;
  if (running !== undefined) jobs.follow(running.id);
  // After the decisions that wait, which read the list again themselves.
  if (isOutdated(next)) run(refreshList);
}

async function refreshList(): Promise<void> {
  if (page.facts !== undefined && isOutdated(page.facts)) await page.load();
}

async function step(by: number): Promise<void> {
  const ids = rowIds();
  const next = ids[ids.indexOf(selected ?? "") + by];
  if (next === undefined) return;
  selected = next;
  if (openId() === undefined) {
    page.draw();
    focusRow();
  } else await openResult(next, false);
}

async function openResult(id: string | undefined, isStep: boolean): Promise<void> {
  show(id, isStep);
  await page.load();
  focusOpen();
}

/** After a link or the key Back. The focus stays where it is unless another suggestion is open now. */
async function followed(): Promise<void> {
  const before = opened()?.result.id;
  await page.load();
  const open = openId();
  if (open === undefined ? isFocusLost() : open !== before) focusOpen();
}

/** The open suggestion, else the selected row. */
function focusOpen(): void {
  if (openId() === undefined) return focusRow();
  document.querySelector(".group")?.scrollTo?.({ top: 0 });
  document.getElementById("group-title")?.focus({ preventScroll: true });
}

function focusRow(): void {
  const row = document.querySelector<HTMLElement>("tr.selected[data-row]");
  row?.scrollIntoView({ block: "nearest" });
  row?.querySelector<HTMLElement>(".row-link")?.focus({ preventScroll: true });
}

/**
 * The open suggestion, if it is the one that was `shown` when the key or button was pressed. Without
 * one the selected suggestion is opened first: nobody decides unseen.
 */
async function decided(shown: string | undefined): Promise<OpenResult | undefined> {
  if (openId() === undefined && selected !== undefined) {
    await openResult(selected, true);
    return undefined;
  }
  const open = opened();
  return open?.result.id === shown ? open : undefined;
}

/** To the next suggestion of the list as it was; at its end the list is loaded anew. */
async function goOn(id: string): Promise<void> {
  const ids = rowIds();
  const next = ids[ids.indexOf(id) + 1];
  listed = undefined;
  show(next);
  selected = next;
  await page.load();
  if (next !== undefined) document.getElementById("group-title")?.focus({ preventScroll: true });
}

function chosenOf(open: OpenResult): ReadonlySet<Field> {
  if (chosen?.id === open.result.id) return chosen.fields;
  return chosenAtFirst(openChanges(open, valueOf(page.facts?.overview)));
}

async function apply(shown: string | undefined): Promise<void> {
  const open = await decided(shown);
  if (open === undefined || !isOpen(open.result)) return;
  const { id, documentTitle } = open.result;
  const fields = [...chosenOf(open)];
  if (fields.length === 0) return toast("Tick at least one field, or reject the suggestion.");
  await suggestionClient.apply(id, fields);
  toast(`Applied: ${documentTitle}`, { label: "Revert", run: () => run(() => revertOne(id)) });
  await goOn(id);
}

async function reject(shown: string | undefined): Promise<void> {
  const open = await decided(shown);
  if (open === undefined || open.result.appliedStatus !== "pending") return;
  const { id, documentTitle } = open.result;
  const reason = document.querySelector<HTMLInputElement>("#reason")?.value.trim() ?? "";
  await suggestionClient.reject(id, reason);
  toast(`Rejected: ${documentTitle}`);
  await goOn(id);
}

async function revert(shown: string | undefined): Promise<void> {
  const open = opened();
  if (
    open === undefined ||
    open.result.id !== shown ||
    !["applied", "partial"].includes(open.result.appliedStatus)
  )
    return;
  await revertOne(open.result.id);
}

async function revertOne(id: string): Promise<void> {
  await suggestionClient.revert(id);
  toast("Reverted: the document has its former values again.");
  await reload();
}

/** The field of the row that names the key; a row that changes nothing has no field to tick. */
function tick(key: string): void {
  document.querySelector<HTMLInputElement>(`[data-field][aria-keyshortcuts="${key}"]`)?.click();
}

function choose(field: Field, isOn: boolean): void {
  const open = opened();
  if (open === undefined) return;
  const fields = new Set(chosenOf(open));
  if (isOn) fields.add(field);
  else fields.delete(field);
  chosen = { id: open.result.id, fields };
  page.draw();
}

async function askBeforeAll(): Promise<void> {
  const filters = readFilters(readAddress().params);
  const counts = await suggestionClient.preflight(filters);
  if (!isListed(filters)) return toast("The list is another one now: choose again what to apply.");
  if (counts.totalDocuments === 0) return toast("There is nothing to apply in this list.");
  preflight = { filters, counts };
  page.draw();
  document.querySelector<HTMLDialogElement>("#dialog-apply-all")?.showModal();
}

/** Whether the page still lists what a question is about. */
function isListed(filters: Filters): boolean {
  const present = readFilters(readAddress().params);
  return JSON.stringify(filterOf(present)) === JSON.stringify(filterOf(filters));
}

/** Applies the list that the dialog was about, whatever the address is by now. */
function applyListed(): void {
  const filters = preflight?.filters;
  if (filters !== undefined) run(async () => jobs.follow(await suggestionClient.applyAll(filters)));
}

async function askBeforeProcess(): Promise<void> {
  const overview = valueOf(page.facts?.overview);
  if (overview === undefined) return;
  estimate = await read(() => suggestionClient.estimate(overview.stats.unprocessed));
  page.draw();
  document.querySelector<HTMLDialogElement>("#dialog-process")?.showModal();
}

type Action = "next" | "previous" | "apply" | "reject" | "revert" | "search" | "help" | Tick;
type Tick = "tick-1" | "tick-2" | "tick-3" | "tick-4";

const KEYS: Readonly<Record<string, Action | "open" | "close">> = {
  j: "next",
  k: "previous",
  Enter: "open",
  a: "apply",
  x: "reject",
  u: "revert",
  "1": "tick-1",
  "2": "tick-2",
  "3": "tick-3",
  "4": "tick-4",
  "/": "search",
  "?": "help",
  Escape: "close",
};

const ACTIONS: Readonly<Record<Action | "open" | "close", () => void>> = {
  next: () => run(() => step(1)),
  previous: () => run(() => step(-1)),
  open: () => {
    if (openId() === undefined && selected !== undefined) run(() => openResult(selected, true));
  },
  apply: () => runOnShown(apply),
  reject: () => runOnShown(reject),
  revert: () => runOnShown(revert),
  "tick-1": () => tick("1"),
  "tick-2": () => tick("2"),
  "tick-3": () => tick("3"),
  "tick-4": () => tick("4"),
  search: () => document.querySelector<HTMLInputElement>('[data-param="q"]')?.select(),
  help: () => document.querySelector<HTMLDialogElement>("#dialog-keys")?.showModal(),
  close: () => {
    if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
    else if (openId() !== undefined) run(() => openResult(undefined, false));
  },
};

/** Buttons by their `data-act`. */
const BUTTONS: Readonly<Record<string, (button: HTMLElement) => void>> = {
  apply: ACTIONS.apply,
  reject: ACTIONS.reject,
  revert: ACTIONS.revert,
  again: ({ dataset: { id = "" } }) =>
    run(async () => jobs.follow(await suggestionClient.process([id]))),
  reload: () => run(reload),
  "apply-all": () => run(askBeforeAll),
  process: () => run(askBeforeProcess),
  cancel: ({ dataset: { id = "" } }) => run(() => suggestionClient.cancel(id)),
  keys: () => {
    switchKeys(!areKeysOn());
    showKeys();
  },
};

function showKeys(): void {
  for (const each of document.querySelectorAll("[data-keys]"))
    each.textContent = areKeysOn() ? "Switch single keys off" : "Switch single keys on";
}

/** One after the other: a key acts on what the one before left. */
let last: Promise<unknown> = Promise.resolve();
let waiting = 0;
function run(action: () => Promise<void>): void {
  if (waiting >= MAX_WAITING) return;
  waiting += 1;
  last = last
    .then(action)
    .catch((thrown: unknown) => toast(thrown instanceof Error ? thrown.message : String(thrown)))
    .finally(() => (waiting -= 1));
}

/** Passes on the suggestion that is shown now, not the one that is when the action's turn comes. */
function runOnShown(action: (shown: string | undefined) => Promise<void>): void {
  const shown = opened()?.result.id;
  run(() => action(shown));
}

watchButtons(BUTTONS);
document.addEventListener("change", ({ target }) => {
  if (!(target instanceof HTMLInputElement)) return;
  const field = target.dataset["field"] as Field | undefined;
  if (field !== undefined) choose(field, target.checked);
});
document.addEventListener("visibilitychange", () => void refreshOverview());
setInterval(() => void refreshOverview(), REFRESH_MS);
watchKeys<Action>(KEYS, (action) => ACTIONS[action]());
watchAddress(() => {
  const { search } = readFilters(readAddress().params);
  const typed = search !== searched;
  searched = search;
  if (typed) page.loadSoon();
  else run(followed);
});
// A dialog does not block the key Back, and its question is about the page that was left.
addEventListener("popstate", () => {
  for (const dialog of document.querySelectorAll<HTMLDialogElement>("dialog[open]")) dialog.close();
});
startTheme();
startDialogs({
  "apply-all": applyListed,
  process: () => run(async () => jobs.follow(await suggestionClient.process())),
});
run(async () => {
  await page.load();
  showKeys();
});
