/**
 * The island of `/duplicates`: draws the page for each change of the address, carries out what keys
 * and buttons ask for, and follows the job that runs.
 */
import { duplicatesPage } from "../review/duplicates.ts";
import { readFilters } from "../review/filters.ts";
import type { DuplicatesFacts } from "../review/load.ts";
import { valueOf } from "../review/load.ts";
import { watchButtons } from "./act-buttons.ts";
import { readAddress, watchAddress } from "./address.ts";
import { createDecisions, VERDICTS, type Decided, type Undo, type Verdict } from "./decisions.ts";
import { startDialogs } from "./dialogs.ts";
import { createJobWatch } from "./job-watch.ts";
import { createLoadedPage, isFocusLost } from "./loaded-page.ts";
import { watchPageImages } from "./page-images.ts";
import { reviewClient } from "./review-client.ts";
import { GROUP_KEYS, type KeyAction } from "./group-keys.ts";
import { areKeysOn, switchKeys, watchKeys } from "./review-keys.ts";
import { createReviewLoading } from "./review-loading.ts";
import { createCursor } from "./review-cursor.ts";
import { startTheme } from "./theme.ts";
import { toast } from "./toasts.ts";

/** Keys that wait for the one before; more are dropped. */
const MAX_WAITING = 20;
/** How often the state of the archives is read while no job runs, and ages are drawn again. */
const REFRESH_MS = 15_000;

const decisions = createDecisions(reviewClient);
const loading = createReviewLoading(reviewClient);
const page = createLoadedPage<DuplicatesFacts>({
  load: (params, before) => loading.load(params, before),
  view: (facts, state) =>
    duplicatesPage(facts, state, { progress: jobs.progress, selected: cursor.selected }),
  loaded: (facts) => {
    cursor.keep(facts);
    jobs.follow(facts);
  },
});
const cursor = createCursor(page);
const jobs = createJobWatch({
  draw: () => page.draw(),
  ended: () => reload(),
  failed: (problem) => toast(problem),
});

async function reload(): Promise<void> {
  loading.forget();
  await page.load();
}

async function refreshActivity(): Promise<void> {
  const { facts } = page;
  if (facts === undefined || document.visibilityState !== "visible") return;
  const next = await loading.refreshActivity(facts);
  // What was loaded meanwhile is newer.
  if (page.facts !== facts) return;
  page.draw(next);
  jobs.follow(next);
  // Nobody followed what ended meanwhile.
  if (loading.isOutdated(facts, next)) await reload();
}

/** Decides about the open group, else about the selected one. */
async function decide(verdict: Verdict): Promise<void> {
  const group = cursor.current();
  if (group === undefined) return;
  const { status, accepted } = VERDICTS[verdict];
  if (group.status === status && group.accepted === accepted)
    return verdict === "accept" ? await acceptAgain(group) : undefined;
  if (group.status === "deleted" && verdict !== "reopen")
    return toast("The group is deleted: choose “Review again” first.");
  const undo = await decisions.decide(group, verdict);
  cursor.change(group.id, { status, accepted });
  offerUndo(undo);
  if (verdict === "reopen") page.draw();
  else await advance();
  await refreshActivity();
}

async function acceptAgain(group: Decided): Promise<void> {
  const changed = await decisions.acceptAgain(group);
  toast(
    changed
      ? `Accepted with its present texts: ${group.title}`
      : `No text has changed since it was accepted: ${group.title}`,
  );
}

/** To the next group that the list still has; at its end to the groups that moved up. */
async function advance(): Promise<void> {
  if (cursor.moveToListed()) return await opened();
  if (!cursor.hasMore()) {
    cursor.close();
    return await reload();
  }
  await reload();
  cursor.moveToFirst();
  await opened();
}

/** Undoes one decision, by default the last. */
async function undo(which?: Undo): Promise<void> {
  const undone = await decisions.undo(which);
  if (undone === undefined)
    return toast(which === undefined ? "There is nothing to undo." : "That is undone already.");
  toast(`Undone. ${undone.text}`);
  if (undone.id !== undefined) cursor.goTo(undone.id);
  await reload();
}

function offerUndo(done: Undo): void {
  toast(done.text, { label: "Undo", run: () => run(() => undo(done)) });
}

async function keepOther(documentId: string | undefined): Promise<void> {
  const open = valueOf(page.facts?.open);
  const group = cursor.current();
  const former = open?.group.members.find(({ isPrimary }) => isPrimary)?.documentId;
  const chosen = documentId ?? open?.other;
  if (group === undefined || former === undefined || chosen === undefined) return;
  if (chosen === former) return;
  offerUndo(await decisions.setPrimary(group, chosen, former));
  cursor.compare(former);
  await reload();
}

async function acceptCopies(): Promise<void> {
  try {
    const done = await decisions.acceptCopies();
    if (done === undefined) return toast("There are no exact copies to accept.");
    offerUndo(done.undo);
    if (done.problem !== undefined) toast(done.problem);
  } finally {
    // Also after a failure: a request whose answer is lost may have accepted groups.
    await reload();
  }
}

async function opened(): Promise<void> {
  await page.load();
  cursor.show();
}

/** After a link or the key Back. The focus stays where it is unless another group is open now. */
async function followed(): Promise<void> {
  const before = valueOf(page.facts?.open)?.group.id;
  await page.load();
  const open = readAddress().params.get("group");
  if (open === null ? isFocusLost() : open !== before) cursor.show();
}

const KEYS: Readonly<Record<KeyAction, () => void>> = {
  next: () => run(() => step(1)),
  previous: () => run(() => step(-1)),
  open: () => run(() => (cursor.open() ? opened() : Promise.resolve())),
  accept: () => run(() => decide("accept")),
  reject: () => run(() => decide("reject")),
  ignore: () => run(() => decide("ignore")),
  primary: () => run(() => keepOther(undefined)),
  reopen: () => run(() => decide("reopen")),
  undo: () => run(() => undo()),
  search: () => document.querySelector<HTMLInputElement>('[data-param="q"]')?.select(),
  close: () => {
    if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
    else if (cursor.close()) run(opened);
  },
  help: () => document.querySelector<HTMLDialogElement>("#dialog-keys")?.showModal(),
  "next-document": () => run(() => stepDocument(1)),
  "previous-document": () => run(() => stepDocument(-1)),
};

async function step(by: number): Promise<void> {
  if (cursor.move(by)) await opened();
}

async function stepDocument(by: number): Promise<void> {
  if (cursor.moveDocument(by)) await page.load();
}

/** A click is about the group that is shown at that moment, and dropped when it is another's turn. */
function runOnShown(action: () => Promise<void>): void {
  const shown = cursor.current()?.id;
  run(async () => {
    if (shown !== undefined && cursor.current()?.id === shown) await action();
  });
}

/** Buttons by their `data-act`. */
const BUTTONS: Readonly<Record<string, (button: HTMLElement) => void>> = {
  accept: () => runOnShown(() => decide("accept")),
  reject: () => runOnShown(() => decide("reject")),
  ignore: () => runOnShown(() => decide("ignore")),
  reopen: () => runOnShown(() => decide("reopen")),
  primary: ({ dataset: { id } }) => runOnShown(() => keepOther(id)),
  reload: () => run(reload),
  sync: () => run(() => jobs.start("sync", refreshActivity)),
  analyse: () => run(() => jobs.start("analysis", refreshActivity)),
  cancel: ({ dataset: { id = "" } }) => run(() => reviewClient.cancel(id)),
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

watchButtons(BUTTONS);
document.addEventListener("visibilitychange", () => void refreshActivity());
setInterval(() => void refreshActivity(), REFRESH_MS);
watchKeys(GROUP_KEYS, (action) => KEYS[action]());
watchAddress(() => {
  const { params } = readAddress();
  const typed = readFilters(params).search !== cursor.searched;
  cursor.searched = readFilters(params).search;
  if (typed) page.loadSoon();
  else run(followed);
});
startTheme();
watchPageImages();
startDialogs({ copies: () => run(acceptCopies) });
run(async () => {
  await page.load();
  showKeys();
});
