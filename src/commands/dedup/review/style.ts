/** Colours and emphasis of the review, none where they are not wanted. */

/** Marks pieces of text; each leaves the width as it is. */
export interface Style {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly added: (text: string) => string;
  readonly removed: (text: string) => string;
}

/** The style for an environment: `NO_COLOR` and `TERM=dumb` mean plain text. */
export function styleFor(environment: Readonly<Record<string, string | undefined>>): Style {
  const { NO_COLOR: noColor = "", TERM: term = "" } = environment;
  const isPlain = noColor !== "" || term === "dumb";
  const sgr =
    (on: string, off: string) =>
    (text: string): string =>
      isPlain || text === "" ? text : `\u001b[${on}m${text}\u001b[${off}m`;
  return {
    strong: sgr("1", "22"),
    faint: sgr("2", "22"),
    added: sgr("32", "39"),
    removed: sgr("31", "39"),
  };
}
