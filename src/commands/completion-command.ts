/** Declares `steward completion`. */
import { defineCommand, quote, refuseOperands, type Command } from "./command.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

/** `commands` are all commands; read when it runs. */
export const completionCommand = (commands: () => readonly Command[]): Command =>
  defineCommand({
    name: "completion",
    usage: "completion SHELL",
    summary: "print a script that completes steward's words",
    words: SHELLS,
    options: {},
    parse(parsed, misuse) {
      refuseOperands(parsed, 1, misuse);
      const [given] = parsed.positionals;
      const shell = SHELLS.find((each) => each === given);
      if (shell === undefined)
        throw misuse(
          given === undefined
            ? "SHELL is needed: bash, zsh or fish"
            : `the shell must be bash, zsh or fish, got ${quote(given)}`,
        );
      return { shell };
    },
    async run({ shell }, { output }) {
      const { completionScript } = await import("./completion.ts");
      output.stdout(completionScript(shell, commands()));
      return 0;
    },
    help: `Prints a script with which a shell completes commands, options and words.

Usage:
  steward completion bash|zsh|fish

Options:
  --help          print this text

Examples:
  steward completion bash > /etc/bash_completion.d/steward
  steward completion zsh > "\${fpath[1]}/_steward"
  steward completion fish > ~/.config/fish/completions/steward.fish

Exits 0 on success, 1 on failure, 2 on a usage error.
`,
  });
