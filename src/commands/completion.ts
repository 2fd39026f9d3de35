/** `steward completion`: scripts that complete commands, options and words in a shell. */
import type { Command } from "./command.ts";
import { daemonOptions } from "./daemon-command.ts";
import type { Option, OptionTable } from "./options.ts";

export type Shell = "bash" | "zsh" | "fish";

/** The script of a shell. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  const all = completed(commands);
  if (shell === "bash") return bash(all);
  return shell === "zsh" ? zsh(all) : fish(all);
}

/** A command, or the daemon under the empty name. */
interface Completed {
  readonly name: string;
  readonly summary: string;
  readonly words: readonly string[];
  readonly options: readonly CompletedOption[];
}

interface CompletedOption {
  /** With its dashes. */
  readonly flag: string;
  /** The values it admits; undefined when it takes none, empty when any. */
  readonly values: readonly string[] | undefined;
}

function completed(commands: readonly Command[]): Completed[] {
  return [
    {
      name: "",
      summary: "run the daemon",
      words: [...commands.map(({ name }) => name), "help"],
      options: optionsOf(daemonOptions, "-"),
    },
    ...commands.map(({ name, summary, words = [], options }) => ({
      name,
      summary,
      words,
      options: optionsOf(options, "--"),
    })),
    { name: "help", summary: "", words: commands.map(({ name }) => name), options: [] },
  ];
}

function optionsOf(table: OptionTable, dashes: string): CompletedOption[] {
  return Object.entries(table).map(([name, { value }]) => ({
    flag: dashes + name,
    values: valuesOf(value),
  }));
}

function valuesOf(value: Option["value"]): readonly string[] | undefined {
  if (value === undefined) return undefined;
  return Array.isArray(value) ? (value as readonly string[]) : [];
}

const HEAD = "Made by `steward completion`. After an update of Steward, make it again.";

function bash(all: readonly Completed[]): string {
  const cases = all.map(
    ({ name, words, options }) =>
      `    ${name === "" ? "''" : name}) words='${[...words, ...options.map(({ flag }) => flag)].join(" ")}' ;;`,
  );
  const values = valueCases(all, (flag, list) => `    ${flag}) words='${list}' ;;`);
  const taking = [
    ...new Set(
      all.flatMap(({ options }) =>
        options.flatMap(({ flag, values: some }) => (some?.length === 0 ? [flag] : [])),
      ),
    ),
  ];
  return `# bash completion of steward. ${HEAD}
_steward() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command='' words=''
  if [ "$COMP_CWORD" -gt 1 ]; then
    case \${COMP_WORDS[1]} in -*) ;; *) command=\${COMP_WORDS[1]} ;; esac
  fi
  case $previous in
${values.join("\n")}
    ${taking.join("|")}) COMPREPLY=($(compgen -f -- "$current")); return ;;
  esac
  if [ -z "$words" ]; then
    case $command in
${cases.map((line) => `  ${line}`).join("\n")}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [ \${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _steward steward
`;
}

/** One line for each option that admits certain values only. */
function valueCases(
  all: readonly Completed[],
  line: (flag: string, list: string) => string,
): string[] {
  const known = new Map<string, string>();
  for (const { options } of all)
    for (const { flag, values } of options)
      if (values !== undefined && values.length > 0) known.set(flag, values.join(" "));
  return [...known].map(([flag, list]) => line(flag, list));
}

function zsh(all: readonly Completed[]): string {
  const lines = all.flatMap(({ name, words, options }) => {
    const specs = [
      ...options.map(({ flag, values }) => `'${flag}${zshValue(flag, values)}'`),
      ...(words.length === 0 ? [] : [`'1:word:(${words.join(" ")})'`]),
      "'*:file:_files'",
    ];
    return [`    ${name === "" ? "''" : name}) _arguments -s ${specs.join(" ")} ;;`];
  });
  return `#compdef steward
# zsh completion of steward. ${HEAD}
_steward() {
  local command=''
  if (( CURRENT > 2 )) && [[ $words[2] != -* ]]; then
    command=$words[2]
    shift words
    (( CURRENT-- ))
  fi
  case $command in
${lines.join("\n")}
  esac
}
compdef _steward steward
`;
}

function zshValue(flag: string, values: readonly string[] | undefined): string {
  if (values === undefined) return "";
  const what = flag.replace(/^-+/, "");
  return values.length === 0 ? `:${what}:_files` : `:${what}:(${values.join(" ")})`;
}

function fish(all: readonly Completed[]): string {
  const lines = all.flatMap(({ name, summary, words, options }) => {
    const when = name === "" ? "__fish_use_subcommand" : `__fish_seen_subcommand_from ${name}`;
    return [
      ...(name === "" || name === "help"
        ? []
        : [`complete -c steward -n __fish_use_subcommand -a ${name} -d "${summary}"`]),
      ...(name === "" || words.length === 0
        ? []
        : [`complete -c steward -n '${when}' -a '${words.join(" ")}'`]),
      ...options.map(({ flag, values }) => {
        const long = flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-o ${flag.slice(1)}`;
        const value =
          values === undefined ? "" : values.length === 0 ? " -r" : ` -x -a '${values.join(" ")}'`;
        return `complete -c steward -n '${when}' ${long}${value}`;
      }),
    ];
  });
  return `# fish completion of steward. ${HEAD}
${lines.join("\n")}
`;
}
