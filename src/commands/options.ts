/** Options of commands, as data. */
/** A number option's bounds, both included. */
export interface NumberRange {
  readonly from: number;
  readonly to: number;
  readonly whole: boolean;
}

/** One option. Without `value` it is a switch. */
export interface Option {
  /**
   * `duration` is written `30s`, `1m30s`; a list of words admits only these; `pair` takes the next
   * argument as well and gives a list of two.
   */
  readonly value?: "text" | "pair" | "duration" | NumberRange | readonly string[];
  readonly short?: string;
  /** May be given several times, each adding a value; others with a value only once. */
  readonly many?: true;
  /** The switches or texts of which it needs one to mean anything. */
  readonly goesWith?: string | readonly string[];
}

/** The options of a command by their name without dashes. */
export type OptionTable = Readonly<Record<string, Option>>;

/** What was given on the command line; every value has been checked against its option. */
export interface ParsedOptions {
  readonly switches: ReadonlySet<string>;
  readonly texts: ReadonlyMap<string, string>;
  readonly numbers: ReadonlyMap<string, number>;
  /** The values of options that may be given several times. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
  readonly positionals: readonly string[];
}
