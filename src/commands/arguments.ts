/**
 * Turns the command line into what is to be done; wrong use is one line that names the problem and
 * the nearest right word.
 */
import { parseArgs } from "node:util";
import { StewardError } from "../kernel/base/errors.ts";
import { printable } from "../kernel/base/printable.ts";
import { nearest } from "../kernel/base/nearest.ts";
import { parseDuration } from "../kernel/config/units.ts";
import {
  asParseArgs,
  commandNames,
  cycleModes,
  daemonOptions,
  dedupOptions,
  folderOptions,
  rotateKeyOptions,
  versionOptions,
  commandOptions,
  type CycleMode,
  type NumberRange,
  type Option,
  type OptionTable,
} from "./options.ts";
import type { DaemonArguments } from "../daemon/configuration.ts";

/** Arguments of `steward dedup`; undefined means not given. */
export interface DedupArguments {
  /** Folders and files as given; `-` is standard input and comes once at most. Never empty. */
  readonly paths: readonly string[];
  /** Patterns of files to read and to leave out below folders. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** The fields of JSON Lines that hold id and text. */
  readonly idField: string | undefined;
  readonly textField: string | undefined;
  /** List everything that was skipped by its name. */
  readonly skipped: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
  /** 0 to 1. */
  readonly threshold: number | undefined;
  /** 1 to 1,000. */
  readonly minWords: number | undefined;
  /** 1 to 256. */
  readonly workers: number | undefined;
  /** A folder to keep state in. */
  readonly state: string | undefined;
}

export interface ValidateArguments extends DaemonArguments {
  readonly json: boolean;
  readonly warningsAsErrors: boolean;
}

export interface EffectiveConfigArguments extends DaemonArguments {
  readonly format: "json" | "yaml";
  readonly provenance: boolean;
}

/** Prints a file that loads to the same values. */
export type ConfigFileArguments = DaemonArguments;

export interface HealthcheckArguments extends DaemonArguments {
  /** For the whole probe. */
  readonly timeoutMs: number;
}

/** Arguments of `-preflight`, `-once` and `-exposition-check`. */
export interface CycleArguments extends DaemonArguments {
  readonly mode: CycleMode;
  readonly json: boolean;
  /** For all of it. */
  readonly timeoutMs: number;
  /** Whether a preflight exports what it collected. */
  readonly exports: boolean;
}

export interface BackupArguments extends DaemonArguments {
  /** The folder to make or to fill; it must be empty. */
  readonly target: string;
}

export interface CheckArguments extends DaemonArguments {
  /** A state folder or a backup; undefined is the state folder of the configuration. */
  readonly directory: string | undefined;
}

/** Locates the state directory. */
export type RootTokenArguments = DaemonArguments;

/** Arguments of `steward rotate-key`. */
export interface RotateKeyArguments extends DaemonArguments {
  /** Holds the key in place of the file that the configuration names. */
  readonly keyFile: string | undefined;
}

/** A command with a help text of its own. */
export type HelpTopic =
  | "steward"
  | "dedup"
  | "backup"
  | "check"
  | "root-token"
  | "rotate-key"
  | "version";

/** What is to be done. */
export type Invocation =
  | { readonly command: "serve"; readonly options: DaemonArguments }
  | { readonly command: "validate"; readonly options: ValidateArguments }
  | { readonly command: "print-effective-config"; readonly options: EffectiveConfigArguments }
  | { readonly command: "print-config-file"; readonly options: ConfigFileArguments }
  | { readonly command: "healthcheck"; readonly options: HealthcheckArguments }
  | { readonly command: "cycle"; readonly options: CycleArguments }
  | { readonly command: "dedup"; readonly options: DedupArguments }
  | { readonly command: "help"; readonly topic: HelpTopic }
  | { readonly command: "backup"; readonly options: BackupArguments }
  | { readonly command: "check"; readonly options: CheckArguments }
  | { readonly command: "root-token"; readonly options: RootTokenArguments }
  | { readonly command: "rotate-key"; readonly options: RotateKeyArguments }
  | { readonly command: "version" }
  | { readonly command: "version-report" };

/** Names that other programs use for the command that starts their daemon. */
const DAEMON_WORDS: ReadonlySet<string> = new Set([
  "serve",
  "server",
  "run",
  "start",
  "daemon",
  "agent",
]);
const HEALTHCHECK_MS = 5000;
const CYCLE_MS = 60_000;

/**
 * Reads the arguments after the program's name. Throws `invalid` with the whole line to show; the
 * exit code is then 2.
 */
export function parseArguments(args: readonly string[]): Invocation {
  const [first, ...rest] = args;
  if (first === undefined || first.startsWith("-")) return parseDaemon(args);
  if (first === "dedup") return parseDedup(rest);
  if (first === "backup") return parseBackup(rest);
  if (first === "check") return parseCheck(rest);
  if (first === "root-token") return parseRootToken(rest);
  if (first === "rotate-key") return parseRotateKey(rest);
  if (first === "version") return parseVersion(rest);
  if (first === "help") return parseHelp(rest);
  if (DAEMON_WORDS.has(first))
    throw misuse("the daemon starts without a command: steward -config FILE");
  throw misuse(`unknown command ${quote(first)}`, nearest(first, commandNames));
}

function parseDaemon(args: readonly string[]): Invocation {
  const parsed = readOptions(args, daemonOptions);
  if (parsed.switches.has("help")) return { command: "help", topic: "steward" };
  const [extra] = parsed.positionals;
  if (extra !== undefined)
    throw misuse(
      commandNames.includes(extra)
        ? `the command must come first: steward ${extra} ...`
        : `unexpected argument ${quote(extra)}`,
    );
  if (parsed.switches.has("version")) return { command: "version" };
  const [mode, another] = cycleModesOf(parsed);
  if (another !== undefined) throw misuse(`-${mode} and -${another} exclude each other`);
  // An empty file name means none, so that a unit file may pass an unset variable.
  const options = {
    config: parsed.texts.get("config") || undefined,
    demo: parsed.switches.has("demo"),
  };
  // Of several modes the first of these counts.
  if (parsed.switches.has("healthcheck"))
    return {
      command: "healthcheck",
      options: {
        ...options,
        timeoutMs: parsed.numbers.get("healthcheck-timeout") ?? HEALTHCHECK_MS,
      },
    };
  if (parsed.switches.has("validate"))
    return {
      command: "validate",
      options: {
        ...options,
        json: parsed.switches.has("json"),
        warningsAsErrors: parsed.switches.has("warnings-as-errors"),
      },
    };
  if (parsed.switches.has("print-effective-config")) {
    const format = parsed.texts.get("print-effective-config-format") === "yaml" ? "yaml" : "json";
    return {
      command: "print-effective-config",
      options: {
        ...options,
        format,
        provenance: parsed.switches.has("print-effective-config-provenance"),
      },
    };
  }
  if (parsed.switches.has("print-effective-config-yaml"))
    return { command: "print-config-file", options };
  if (mode !== undefined)
    return {
      command: "cycle",
      options: {
        ...options,
        mode,
        json: parsed.switches.has("json"),
        timeoutMs: parsed.numbers.get("preflight-timeout") ?? CYCLE_MS,
        exports: parsed.switches.has("preflight-export"),
      },
    };
  return { command: "serve", options };
}

function cycleModesOf({ switches }: Parsed): CycleMode[] {
  return cycleModes.filter((mode) => switches.has(mode));
}

function parseDedup(args: readonly string[]): Invocation {
  const parsed = readOptions(args, dedupOptions, "dedup");
  if (parsed.switches.has("help")) return { command: "help", topic: "dedup" };
  const paths = parsed.positionals;
  if (paths.length === 0)
    throw misuse(
      "at least one PATH is needed: a folder, a file, or - for standard input",
      undefined,
      "dedup",
    );
  if (paths.includes("")) throw misuse("a PATH must not be empty", undefined, "dedup");
  if (paths.filter((path) => path === "-").length > 1)
    throw misuse("standard input (-) can be read only once", undefined, "dedup");
  return {
    command: "dedup",
    options: {
      paths,
      include: parsed.lists.get("include") ?? [],
      exclude: parsed.lists.get("exclude") ?? [],
      idField: parsed.texts.get("id-field"),
      textField: parsed.texts.get("text-field"),
      skipped: parsed.switches.has("skipped"),
      json: parsed.switches.has("json"),
      quiet: parsed.switches.has("quiet"),
      state: parsed.texts.get("state"),
      threshold: parsed.numbers.get("threshold"),
      minWords: parsed.numbers.get("min-words"),
      workers: parsed.numbers.get("workers"),
    },
  };
}

function parseBackup(args: readonly string[]): Invocation {
  const parsed = readOptions(args, folderOptions, "backup");
  if (parsed.switches.has("help")) return { command: "help", topic: "backup" };
  const [target, extra] = parsed.positionals;
  if (target === undefined || target === "")
    throw misuse("DIR is needed: a new or an empty folder", undefined, "backup");
  if (extra !== undefined) throw misuse(`unexpected argument ${quote(extra)}`, undefined, "backup");
  return {
    command: "backup",
    options: {
      config: parsed.texts.get("config") || undefined,
      demo: parsed.switches.has("demo"),
      target,
    },
  };
}

function parseCheck(args: readonly string[]): Invocation {
  const parsed = readOptions(args, folderOptions, "check");
  if (parsed.switches.has("help")) return { command: "help", topic: "check" };
  const [directory, extra] = parsed.positionals;
  if (directory === "") throw misuse("DIR must not be empty", undefined, "check");
  if (extra !== undefined) throw misuse(`unexpected argument ${quote(extra)}`, undefined, "check");
  return {
    command: "check",
    options: {
      config: parsed.texts.get("config") || undefined,
      demo: parsed.switches.has("demo"),
      directory,
    },
  };
}

function parseRootToken(args: readonly string[]): Invocation {
  const parsed = readOptions(args, folderOptions, "root-token");
  if (parsed.switches.has("help")) return { command: "help", topic: "root-token" };
  const [extra] = parsed.positionals;
  if (extra !== undefined)
    throw misuse(`unexpected argument ${quote(extra)}`, undefined, "root-token");
  return {
    command: "root-token",
    options: { config: parsed.texts.get("config") || undefined, demo: parsed.switches.has("demo") },
  };
}

function parseRotateKey(args: readonly string[]): Invocation {
  const parsed = readOptions(args, rotateKeyOptions, "rotate-key");
  if (parsed.switches.has("help")) return { command: "help", topic: "rotate-key" };
  const [extra] = parsed.positionals;
  if (extra !== undefined)
    throw misuse(`unexpected argument ${quote(extra)}`, undefined, "rotate-key");
  if (parsed.texts.get("key-file") === "")
    throw misuse("--key-file needs a file", undefined, "rotate-key");
  const options = {
    config: parsed.texts.get("config") || undefined,
    demo: parsed.switches.has("demo"),
    keyFile: parsed.texts.get("key-file"),
  };
  return { command: "rotate-key", options };
}

function parseVersion(args: readonly string[]): Invocation {
  const parsed = readOptions(args, versionOptions, "version");
  if (parsed.switches.has("help")) return { command: "help", topic: "version" };
  const [extra] = parsed.positionals;
  if (extra !== undefined)
    throw misuse(`unexpected argument ${quote(extra)}`, undefined, "version");
  return { command: "version-report" };
}

function parseHelp(args: readonly string[]): Invocation {
  const [topic] = args;
  if (topic === undefined || topic === "help") return { command: "help", topic: "steward" };
  if (
    topic === "dedup" ||
    topic === "backup" ||
    topic === "check" ||
    topic === "root-token" ||
    topic === "rotate-key" ||
    topic === "version"
  )
    return { command: "help", topic };
  throw misuse(`there is no help on ${quote(topic)}`, nearest(topic, commandNames));
}

interface Parsed {
  readonly switches: ReadonlySet<string>;
  readonly texts: ReadonlyMap<string, string>;
  readonly numbers: ReadonlyMap<string, number>;
  /** The values of options that may be given several times. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
  readonly positionals: readonly string[];
}

function readOptions(args: readonly string[], table: OptionTable, command?: string): Parsed {
  const { tokens } = parseArgs({
    args: args.map(twoDashes(args)),
    options: asParseArgs(table),
    strict: false,
    tokens: true,
  });
  const switches = new Set<string>();
  const texts = new Map<string, string>();
  const numbers = new Map<string, number>();
  const lists = new Map<string, string[]>();
  const given: (readonly [shown: string, option: Option])[] = [];
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    // The daemon's flags are shown as they were written, with one dash or two.
    const shown = (args[token.index] ?? token.rawName).split("=")[0] ?? token.rawName;
    const option = Object.hasOwn(table, token.name) ? table[token.name] : undefined;
    if (option === undefined) throw unknownOption(shown, token.name, table, command);
    if (option.value === undefined) {
      if (token.value !== undefined) throw misuse(`${shown} takes no value`, undefined, command);
      switches.add(token.name);
    } else if (token.value === undefined || (!token.inlineValue && /^-[^\d.]/.test(token.value))) {
      throw misuse(`${shown} needs a value`, undefined, command);
    } else {
      const value = readOptionValue(shown, token.value, option.value, command);
      if (value === "" && command === "dedup" && token.name !== "state")
        throw misuse(`${shown} must not be empty`, undefined, command);
      if (typeof value === "string" && option.many === true)
        lists.set(token.name, [...(lists.get(token.name) ?? []), value]);
      else if (typeof value === "string") texts.set(token.name, value);
      else numbers.set(token.name, value);
    }
    given.push([shown, option]);
  }
  for (const [shown, { goesWith }] of given) {
    const partners = goesWith === undefined ? [] : [goesWith].flat();
    if (partners.length > 0 && !partners.some((partner) => switches.has(partner)))
      throw misuse(
        `${shown} goes with ${partners.map((partner) => `-${partner}`).join(" or ")}`,
        undefined,
        command,
      );
  }
  if (texts.get("state") === "") throw misuse("--state needs a folder", undefined, command);
  return {
    switches,
    texts,
    numbers,
    lists,
    positionals: tokens.filter((token) => token.kind === "positional").map((token) => token.value),
  };
}

// parseArgs would read -config as five short options; these long names have one dash.
function twoDashes(args: readonly string[]): (arg: string, index: number) => string {
  const end = args.indexOf("--");
  return (arg, index) =>
    /^-[A-Za-z][^=]/.test(arg) && (end === -1 || index < end) ? `-${arg}` : arg;
}

function readOptionValue(
  shown: string,
  text: string,
  kind: NonNullable<Option["value"]>,
  command: string | undefined,
): string | number {
  if (kind === "text") return text;
  if (kind === "duration") {
    const ms = parseDuration(text);
    if (ms !== undefined && ms > 0) return ms;
    throw misuse(
      `${shown} must be a duration above 0 such as 5s or 1m30s, got ${quote(text)}`,
      undefined,
      command,
    );
  }
  if ("from" in kind) return readNumber(shown, text, kind, command);
  if (kind.includes(text)) return text;
  throw misuse(`${shown} must be ${kind.join(" or ")}, got ${quote(text)}`, undefined, command);
}

function readNumber(
  shown: string,
  text: string,
  range: NumberRange,
  command: string | undefined,
): number {
  const value = /^-?\d*\.?\d+$/.test(text) ? Number(text) : NaN;
  const sound =
    value >= range.from && value <= range.to && (!range.whole || Number.isInteger(value));
  if (sound) return value;
  throw misuse(
    `${shown} must be a ${range.whole ? "whole " : ""}number from ${range.from} to ${range.to}, got ${quote(text)}`,
    undefined,
    command,
  );
}

function unknownOption(
  shown: string,
  name: string,
  table: OptionTable,
  command: string | undefined,
): StewardError {
  const meant = nearest(name, Object.keys(table));
  // As it was written: the daemon's options take one dash or two.
  if (meant !== undefined)
    return misuse(
      `unknown option ${shorten(shown)}`,
      `${shown.startsWith("--") ? "--" : "-"}${meant}`,
      command,
    );
  const owners = Object.entries(commandOptions)
    .filter(([owner, options]) => owner !== (command ?? "") && Object.hasOwn(options, name))
    .map(([owner]) => (owner === "" ? "the daemon" : `steward ${owner}`));
  if (owners.length > 0)
    return misuse(`${shorten(shown)} is an option of ${owners.join(" and ")}`, undefined, command);
  return misuse(
    commandNames.includes(name)
      ? `${shorten(shown)} is a command: steward ${name}`
      : `unknown option ${shorten(shown)}`,
    undefined,
    command,
  );
}

function misuse(problem: string, meant?: string, command?: string): StewardError {
  const who = command === undefined ? "steward" : `steward ${command}`;
  const hint = meant === undefined ? "" : `, did you mean ${meant}?`;
  return new StewardError(
    "invalid",
    `${who}: ${problem}${hint === "" ? ";" : hint} see ${who} --help`,
    { rule: "usage" },
  );
}

// Whatever was typed must not reach the terminal raw, nor fill it.
function quote(text: string): string {
  return `"${shorten(text)}"`;
}

function shorten(text: string): string {
  return printable(text.length > 100 ? `${text.slice(0, 97)}...` : text);
}
