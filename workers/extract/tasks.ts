/** The tasks that turn what archives hold into plain text. */
import type { TaskRow } from "../control.ts";

/** A page and how much of its text to keep, in UTF-16 units. */
export interface HtmlPage {
  readonly html: string;
  readonly units: number;
}

export interface HtmlText {
  readonly text: string;
  /** From `<title>`. */
  readonly title: string | undefined;
}

/** One line of a JSON Lines file and how much of its `content` to keep, in UTF-16 units. */
export interface JsonLine {
  readonly bytes: Uint8Array;
  readonly units: number;
}

/**
 * The parsed line, `cut` if its content was longer, then with the SHA-256 of the rest in
 * hexadecimal; or what is wrong with it.
 */
export type JsonLineValue =
  | { readonly value: unknown; readonly cut: boolean; readonly beyond?: string }
  | { readonly error: string };

/** HTML pages to text. */
export const htmlToText: TaskRow<readonly HtmlPage[], HtmlText[]> = {
  name: "html-to-text",
  file: new URL("./html.ts", import.meta.url),
};

/** A large JSON line to its value. */
export const parseJsonLine: TaskRow<JsonLine, JsonLineValue> = {
  name: "json-line",
  file: new URL("./json-line.ts", import.meta.url),
};
