/**
 * Writes the manual page from the table of commands: the general help, then the help of each
 * command as it is printed.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { allCommands } from "../src/commands/all-commands.ts";
import { generalHelp } from "../src/commands/daemon-command.ts";
import { stewardVersion } from "../src/daemon/version.ts";

/** Where the page is committed. */
export const MAN_PAGE = join(import.meta.dirname, "../deploy/man/steward.1");

/** Writes the page. */
export function writeManPage(): void {
  mkdirSync(dirname(MAN_PAGE), { recursive: true });
  writeFileSync(MAN_PAGE, manPage());
}

/** The page in the man macros (man(7)). */
export function manPage(): string {
  return [
    '.\\" Made by `npm run generate` from the table of commands.',
    `.TH STEWARD 1 "" "steward ${stewardVersion()}" "Steward"`,
    ".SH NAME",
    "steward \\- monitor a private network, find duplicate documents, mint short\\-lived tokens",
    ".SH SYNOPSIS",
    ".B steward",
    "[OPTIONS]",
    ".br",
    ".B steward",
    "COMMAND [OPTIONS] [OPERANDS]",
    ".SH DESCRIPTION",
    ...verbatim(generalHelp(allCommands)),
    ".SH COMMANDS",
    ...allCommands.flatMap(({ name, help }) => [`.SS steward ${roff(name)}`, ...verbatim(help)]),
    ".SH SEE ALSO",
    "The folder docs of the release: commands.md, configuration.md, systemd.md.",
    "",
  ].join("\n");
}

function verbatim(text: string): string[] {
  return [".nf", ...text.trimEnd().split("\n").map(roff), ".fi"];
}

/** A line that begins with a dot or a quote would be a request; groff reads no bytes beyond ASCII. */
function roff(line: string): string {
  const escaped = line.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("…", "...");
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
