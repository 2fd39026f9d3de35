/** What the filters are given on the command line; undefined means not given. */
import type { NumberName } from "../../dedup/analysis/parameters.ts";

export interface FilterArguments {
  /** JSON Lines; `-` is standard input and comes once at most. Never empty. */
  readonly files: readonly string[];
  /** 1 to 256. */
  readonly workers: number | undefined;
  readonly parameters: Partial<Readonly<Record<NumberName, number>>>;
}

export interface SignArguments extends FilterArguments {
  readonly idField: string | undefined;
  readonly textField: string | undefined;
  readonly withText: boolean;
  readonly quiet: boolean;
}

export interface VerifyArguments extends FilterArguments {
  readonly cover: boolean;
}
