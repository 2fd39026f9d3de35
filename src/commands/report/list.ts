/** The names of documents for other programs, one a line or ended by NUL. */
import { printable } from "../../kernel/base/text/printable.ts";

/** How names are written. */
export interface ListFormat {
  /** What ends a name: NUL as for `find -print0`, else a line feed. */
  readonly nul: boolean;
  /** For a terminal, which control characters in a name must not reach. */
  readonly escape: boolean;
}

/** One piece a name, unchanged unless it is escaped. */
export function* formatList(names: Iterable<string>, format: ListFormat): Generator<string> {
  const end = format.nul ? "\0" : "\n";
  for (const name of names) yield `${format.escape ? printable(name) : name}${end}`;
}
