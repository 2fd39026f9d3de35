/** The course of a review: which group is shown, and what each key does. */
import type {
  Decided,
  Decisions,
  ReviewedGroup,
  ReviewVerdict,
} from "../../../dedup/review/decisions.ts";
import { toStewardError } from "../../../kernel/base/errors.ts";
import { printable } from "../../../kernel/base/text/printable.ts";
import { counted } from "../../report/text.ts";
import { differenceLines } from "./difference.ts";
import { breakAnywhere } from "./lines.ts";
import type { Style } from "./style.ts";
import type { Key, Size, Terminal } from "./terminal.ts";
import {
  bodyRows,
  describeStatus,
  GROUP_KEYS,
  groupBody,
  groupTitle,
  HELP,
  layOut,
  TEXT_KEYS,
} from "./view.ts";
import type { Screen } from "./view.ts";

/** Decisions that can be undone in one review. */
const UNDO_LIMIT = 1_000;

export interface ReviewSessionDeps {
  readonly terminal: Pick<Terminal, "size" | "draw" | "next" | "suspend">;
  readonly decisions: Pick<Decisions, "decide" | "choosePrimary">;
  readonly style: Style;
  /** The text of a document; empty when it is gone. */
  readonly text: (document: number) => string;
}

export interface ReviewSession {
  /** The groups as they are now. */
  readonly groups: readonly ReviewedGroup[];
  /** Resolves when the person quits or the last group is decided. */
  run(): Promise<void>;
}

/** What of the whole is on the screen. */
type Mode =
  | { readonly kind: "group" }
  | { readonly kind: "help" }
  /** The difference of the primary and another member, by its place. */
  | { readonly kind: "difference"; readonly member: number; readonly lines: readonly string[] }
  | { readonly kind: "primary"; readonly typed: string };

interface Step {
  readonly at: number;
  readonly undo: Decided["undo"];
}

interface State {
  readonly groups: ReviewedGroup[];
  at: number;
  top: number;
  mode: Mode;
  message: string;
  readonly steps: Step[];
}

/** A review of at least one group. */
export function createReview(
  groups: readonly ReviewedGroup[],
  deps: ReviewSessionDeps,
): ReviewSession {
  const state: State = {
    groups: [...groups],
    at: 0,
    top: 0,
    mode: { kind: "group" },
    message: "",
    steps: [],
  };
  return {
    groups: state.groups,
    async run() {
      for (;;) {
        draw(state, deps);
        const key = await deps.terminal.next();
        if (key === undefined) refit(state, deps);
        else if (await press(key, state, deps)) return;
      }
    },
  };
}

function draw(state: State, { terminal, style }: ReviewSessionDeps): void {
  const size = terminal.size();
  const screen = screenOf(state, size);
  state.top = Math.max(0, Math.min(state.top, screen.body.length - bodyRows(size)));
  terminal.draw(layOut(screen, state.top, size, style));
}

function screenOf({ groups, at, mode, message }: State, { columns }: Size): Screen {
  const reviewed = groups[at] as ReviewedGroup;
  const title = groupTitle(reviewed, at, groups.length);
  switch (mode.kind) {
    case "help":
      return {
        title: "Keys",
        body: HELP.flatMap((line) => breakAnywhere(line, columns)),
        message,
        keys: ["any key goes back"],
      };
    case "difference":
      return { title, body: mode.lines, message, keys: TEXT_KEYS };
    case "primary":
      return {
        title,
        body: groupBody(reviewed, columns),
        message: `Which document stays? Its number: ${mode.typed}_`,
        keys: ["Enter choose", "Esc back"],
      };
    case "group":
      return { title, body: groupBody(reviewed, columns), message, keys: GROUP_KEYS };
  }
}

/** The lines of a difference depend on the width. */
function refit(state: State, deps: ReviewSessionDeps): void {
  if (state.mode.kind === "difference") showDifference(state.mode.member, state, deps);
}

/** True when the review ends. */
async function press(key: Key, state: State, deps: ReviewSessionDeps): Promise<boolean> {
  if (key.ctrl && key.name === "d") return true;
  if (key.ctrl && key.name === "z") {
    await deps.terminal.suspend();
    return false;
  }
  if (key.ctrl && key.name !== "l") return false;
  const { mode } = state;
  if (mode.kind !== "primary" && scroll(key, state, deps.terminal.size())) return false;
  state.message = "";
  switch (mode.kind) {
    case "help":
      show({ kind: "group" }, state);
      return false;
    case "difference":
      pressInDifference(key, mode.member, state, deps);
      return false;
    case "primary":
      await pressInPrimary(key, mode.typed, state, deps);
      return false;
    case "group":
      return await pressInGroup(key, state, deps);
  }
}

function show(mode: Mode, state: State): void {
  state.mode = mode;
  state.top = 0;
}

function scroll({ name }: Key, state: State, size: Size): boolean {
  const page = Math.max(1, bodyRows(size) - 1);
  const step: Readonly<Record<string, number>> = {
    space: page,
    pagedown: page,
    pageup: -page,
    backspace: -page,
    down: 1,
    up: -1,
  };
  const by = step[name];
  if (by === undefined) return false;
  state.top = Math.max(0, state.top + by);
  return true;
}

async function pressInGroup(key: Key, state: State, deps: ReviewSessionDeps): Promise<boolean> {
  switch (key.name) {
    case "k":
      return await decide("accepted", state, deps);
    case "x":
      return await decide("rejected", state, deps);
    case "r":
      await apply(state, (group) => deps.decisions.decide(group, "pending"), "Open again.");
      return false;
    case "p":
      show({ kind: "primary", typed: "" }, state);
      return false;
    case "d":
      showDifference(1, state, deps);
      return false;
    case "s":
    case "n":
    case "right":
      return advance(state);
    case "b":
    case "left":
      if (state.at === 0) state.message = "This is the first group.";
      else goTo(state.at - 1, state);
      return false;
    case "u":
      await undo(state);
      return false;
    case "?":
    case "h":
      show({ kind: "help" }, state);
      return false;
    case "q":
      return true;
    default:
      if (key.name !== "l") state.message = "? lists the keys.";
      return false;
  }
}

/** Stores a verdict and goes on. */
async function decide(
  verdict: ReviewVerdict,
  state: State,
  deps: ReviewSessionDeps,
): Promise<boolean> {
  const done = await apply(state, (group) => deps.decisions.decide(group, verdict), "");
  if (!done) return false;
  const before = `Group ${state.at + 1}: ${describeStatus(state.groups[state.at] as ReviewedGroup)}.`;
  const ended = advance(state);
  state.message = before;
  return ended;
}

/** Changes the present group; false when that failed, which is shown. */
async function apply(
  state: State,
  change: (group: ReviewedGroup) => Promise<Decided>,
  message: string,
): Promise<boolean> {
  const { at } = state;
  try {
    const { group, undo: back } = await change(state.groups[at] as ReviewedGroup);
    state.groups[at] = group;
    state.steps.push({ at, undo: back });
    if (state.steps.length > UNDO_LIMIT) state.steps.shift();
    state.message = message;
    return true;
  } catch (error) {
    state.message = failure(error);
    return false;
  }
}

async function undo(state: State): Promise<void> {
  const step = state.steps.at(-1);
  if (!step) {
    state.message = "There is nothing to undo.";
    return;
  }
  try {
    state.groups[step.at] = await step.undo();
    state.steps.pop();
    goTo(step.at, state);
    state.message = `Undone: group ${step.at + 1} is as it was.`;
  } catch (error) {
    state.message = failure(error);
  }
}

/** Our own mistakes end the review; what the disk refuses is shown, and can be tried again. */
function failure(thrown: unknown): string {
  const error = toStewardError(thrown);
  if (error.code === "internal") throw thrown;
  return printable(`Not stored: ${error.message}`);
}

function advance(state: State): boolean {
  if (state.at + 1 === state.groups.length) return true;
  goTo(state.at + 1, state);
  return false;
}

function goTo(at: number, state: State): void {
  state.at = at;
  show({ kind: "group" }, state);
}

async function pressInPrimary(
  { name }: Key,
  typed: string,
  state: State,
  deps: ReviewSessionDeps,
): Promise<void> {
  const { members } = (state.groups[state.at] as ReviewedGroup).group;
  if (name === "escape") show({ kind: "group" }, state);
  else if (name === "backspace") state.mode = { kind: "primary", typed: typed.slice(0, -1) };
  else if (/^\d$/.test(name) && typed.length < 9)
    state.mode = { kind: "primary", typed: typed + name };
  else if (name === "return" || name === "enter") {
    const member = members[Number(typed) - 1];
    show({ kind: "group" }, state);
    if (member === undefined)
      state.message = `There is no document ${typed || "without a number"}; the group has ${counted(members.length, "document")}.`;
    else
      await apply(
        state,
        (group) => deps.decisions.choosePrimary(group, member.number),
        "This document stays.",
      );
  }
}

function pressInDifference(
  { name }: Key,
  member: number,
  state: State,
  deps: ReviewSessionDeps,
): void {
  const { members } = (state.groups[state.at] as ReviewedGroup).group;
  if (name === "n" || name === "d" || name === "tab" || name === "right")
    showDifference(member + 1 < members.length ? member + 1 : 1, state, deps);
  else show({ kind: "group" }, state);
}

/** The primary is the first member. */
function showDifference(
  member: number,
  state: State,
  { text, terminal, style }: ReviewSessionDeps,
): void {
  const { members } = (state.groups[state.at] as ReviewedGroup).group;
  const [kept, other] = [members[0], members[member]];
  if (!kept || !other) return;
  const { columns } = terminal.size();
  const names = [
    ...breakAnywhere(`[-stays-] 1 ${printable(kept.ref)}`, columns),
    ...breakAnywhere(`{+other+} ${member + 1} ${printable(other.ref)}`, columns),
  ];
  const lines = differenceLines(text(kept.number), text(other.number), { columns, style });
  show({ kind: "difference", member, lines: [...names, "", ...lines] }, state);
}
