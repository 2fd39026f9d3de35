/** The options that say what is read and compared, for every command that does both. */
import type { Misuse } from "../command.ts";
import type { OptionTable, ParsedOptions } from "../options.ts";
import type { AnalysisArguments } from "./arguments.ts";
import { parameterArguments, parameterTable } from "./parameter-options.ts";

/** They load no code of the analysis: every start reads them. */
export const analysisOptions: OptionTable = {
  ...parameterTable,
  workers: { value: { from: 1, to: 256, whole: true } },
  state: { value: "text" },
  include: { value: "text", many: true },
  exclude: { value: "text", many: true },
  "id-field": { value: "text" },
  "text-field": { value: "text" },
  quiet: {},
};

/** Reads them. Throws what `misuse` makes of a problem. */
export function analysisArguments(parsed: ParsedOptions, misuse: Misuse): AnalysisArguments {
  const { positionals: paths, switches, texts, numbers, lists } = parsed;
  for (const [name, values] of [...texts, ...lists])
    if ([values].flat().includes("")) throw misuse(`--${name} must not be empty`);
  if (paths.length === 0 && !lists.has("explain"))
    throw misuse("at least one PATH is needed: a folder, a file, or - for standard input");
  if (paths.includes("")) throw misuse("a PATH must not be empty");
  if (paths.filter((path) => path === "-").length > 1)
    throw misuse("standard input (-) can be read only once");
  return {
    paths,
    include: lists.get("include") ?? [],
    exclude: lists.get("exclude") ?? [],
    idField: texts.get("id-field"),
    textField: texts.get("text-field"),
    parameters: parameterArguments(parsed),
    workers: numbers.get("workers"),
    state: texts.get("state"),
    quiet: switches.has("quiet"),
  };
}
