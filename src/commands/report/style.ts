/** Colours of a report on a terminal. */
import { styleText } from "node:util";

/** Marks parts of a text; without colours every part stays as it is. */
export interface Style {
  readonly strong: (text: string) => string;
  /** What stays, what is equal. */
  readonly good: (text: string) => string;
  /** What goes, what differs. */
  readonly bad: (text: string) => string;
  /** What a reader should notice. */
  readonly notice: (text: string) => string;
  /** What explains something else. */
  readonly quiet: (text: string) => string;
}

/** When there are colours: always, never, or where the output is a terminal that shows them. */
export type ColorChoice = "auto" | "always" | "never";

/** What decides about colours. */
export interface ColorSurroundings {
  readonly choice: ColorChoice;
  readonly isTerminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** `NO_COLOR` counts when it is not empty (no-color.org); the command line overrides it. */
export function hasColors({ choice, isTerminal, environment }: ColorSurroundings): boolean {
  if (choice !== "auto") return choice === "always";
  const { NO_COLOR: none = "", TERM: terminal = "" } = environment;
  return isTerminal && none === "" && terminal !== "dumb";
}

/** The style with or without colours. */
export function createStyle(colors: boolean): Style {
  const paint = (format: Parameters<typeof styleText>[0]) => (text: string) =>
    colors && text !== "" ? styleText(format, text, { validateStream: false }) : text;
  return {
    strong: paint("bold"),
    good: paint("green"),
    bad: paint("red"),
    notice: paint("yellow"),
    quiet: paint("dim"),
  };
}
