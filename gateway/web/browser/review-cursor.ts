/**
 * Where the reviewer is: the selected row, and the open group, which the address names. Moving
 * changes the address; the caller loads what it then names.
 */
import { isListed, readFilters } from "../review/filters.ts";
import type { DuplicatesFacts } from "../review/load.ts";
import { valueOf } from "../review/load.ts";
import { readAddress } from "./address.ts";
import type { Decided, Standing } from "./decisions.ts";
import type { LoadedPage } from "./loaded-page.ts";

export interface Cursor {
  readonly selected: string | undefined;
  /** What the list was searched for last. */
  searched: string;
  /** After loading: selects the open group, else keeps the row, else the first. */
  keep(facts: DuplicatesFacts): void;
  /** The open group, else the selected one. */
  current(): Decided | undefined;
  /** A decision changed a group that is shown. */
  change(id: string, standing: Standing): void;
  /** One row on. False at the ends. Opens the group where one is open. */
  move(by: number): boolean;
  /** To the next group that is still listed; false when there is none below. */
  moveToListed(): boolean;
  moveToFirst(): void;
  /** Whether the list has groups that this page of it does not show. */
  hasMore(): boolean;
  goTo(id: string): void;
  /** Opens the selected group; false without one. */
  open(): boolean;
  /** Closes the open group; false without one. */
  close(): boolean;
  /** Which document is compared with the one that stays. */
  compare(documentId: string): void;
  moveDocument(by: number): boolean;
  /** Scrolls to the selected row and gives it, or the open group, the focus. */
  show(): void;
}

export function createCursor(page: LoadedPage<DuplicatesFacts>): Cursor {
  let selected: string | undefined;
  const rows = () => valueOf(page.facts?.list)?.data ?? [];
  const openId = (): string | undefined => readAddress().params.get("group") ?? undefined;
  const isShown = ({ status, accepted }: Standing): boolean =>
    isListed({ status, accepted }, readFilters(readAddress().params).shown);
  const goTo = (id: string): void => {
    selected = id;
    if (openId() !== undefined) address({ group: id, with: undefined });
    else page.draw();
  };
  const at = (): number => rows().findIndex(({ id }) => id === selected);
  return {
    get selected() {
      return selected;
    },
    searched: readFilters(readAddress().params).search,
    keep({ list }) {
      const ids = (valueOf(list)?.data ?? []).map(({ id }) => id);
      const wanted = openId() ?? selected;
      const next = wanted !== undefined && ids.includes(wanted) ? wanted : ids[0];
      if (next === selected) return;
      selected = next;
      page.draw();
    },
    current() {
      const open = valueOf(page.facts?.open)?.group;
      if (openId() !== undefined) {
        if (open === undefined) return undefined;
        const { id, status, accepted, members } = open;
        return { id, status, accepted, title: members[0]?.title ?? "the group" };
      }
      const row = rows()[at()];
      if (row === undefined) return undefined;
      const { id, status, accepted, primaryDocumentTitle } = row;
      return { id, status, accepted, title: primaryDocumentTitle ?? "the group" };
    },
    change(id, standing) {
      const { facts } = page;
      if (facts === undefined) return;
      const list = valueOf(facts.list);
      const open = valueOf(facts.open);
      page.draw({
        ...facts,
        ...(list === undefined
          ? {}
          : {
              list: {
                value: {
                  ...list,
                  data: list.data.map((row) => (row.id === id ? { ...row, ...standing } : row)),
                },
              },
            }),
        ...(open?.group.id === id
          ? { open: { value: { ...open, group: { ...open.group, ...standing } } } }
          : {}),
      });
    },
    move(by) {
      const next = rows()[at() + by];
      if (next !== undefined) goTo(next.id);
      return next !== undefined;
    },
    moveToListed() {
      const below = rows().slice(at() + 1);
      const next = below.find(isShown);
      if (next !== undefined) goTo(next.id);
      return next !== undefined;
    },
    moveToFirst() {
      const first = rows()[0];
      if (first !== undefined) goTo(first.id);
      else if (openId() !== undefined) address({ group: undefined, with: undefined });
    },
    hasMore() {
      const list = valueOf(page.facts?.list);
      if (list === undefined) return false;
      return list.meta.offset + list.data.length < list.meta.total || list.data.some(isShown);
    },
    goTo,
    open() {
      const id = selected;
      if (id === undefined || openId() !== undefined) return false;
      address({ group: id, with: undefined }, true);
      return true;
    },
    close() {
      if (openId() === undefined) return false;
      address({ group: undefined, with: undefined });
      return true;
    },
    compare: (documentId) => address({ with: documentId }),
    moveDocument(by) {
      const open = valueOf(page.facts?.open);
      const others = open?.group.members.filter(({ isPrimary }) => !isPrimary) ?? [];
      const next = others[others.findIndex(({ documentId }) => documentId === open?.other) + by];
      if (next === undefined) return false;
      address({ with: next.documentId });
      return true;
    },
    show() {
      const row = document.querySelector<HTMLElement>("tr.selected[data-row]");
      row?.scrollIntoView({ block: "nearest" });
      if (openId() === undefined)
        return row?.querySelector<HTMLElement>(".row-link")?.focus({ preventScroll: true });
      document.querySelector(".group")?.scrollTo?.({ top: 0 });
      document.getElementById("group-title")?.focus({ preventScroll: true });
    },
  };
}

/** Changes choices of the address; a step has its own entry in the history. */
function address(changes: Readonly<Record<string, string | undefined>>, step = false): void {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes))
    if (value === undefined) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  if (step) history.pushState(null, "", url);
  else history.replaceState(null, "", url);
}
