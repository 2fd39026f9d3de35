/** The keys of `/duplicates`. */

/** What a key does. */
export type KeyAction =
  | "next"
  | "previous"
  | "open"
  | "accept"
  | "reject"
  | "ignore"
  | "primary"
  | "reopen"
  | "undo"
  | "search"
  | "close"
  | "help"
  | "next-document"
  | "previous-document";

export const GROUP_KEYS: Readonly<Record<string, KeyAction>> = {
  j: "next",
  k: "previous",
  Enter: "open",
  a: "accept",
  x: "reject",
  i: "ignore",
  p: "primary",
  r: "reopen",
  u: "undo",
  "/": "search",
  "?": "help",
  Escape: "close",
  ArrowRight: "next-document",
  ArrowLeft: "previous-document",
};
