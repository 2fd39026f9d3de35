/** Reads the options of a command from the command line. */
import { parseArgs, type ParseArgsOptionDescriptor } from "node:util";
import type { StewardError } from "../kernel/base/errors.ts";
import { nearest } from "../kernel/base/text/nearest.ts";
import { parseDuration } from "../kernel/config/values/units.ts";
import { misuseOf, quote, shorten, type Misuse } from "./command.ts";
import type { NumberRange, Option, OptionTable, ParsedOptions } from "./options.ts";

/** A command's options; the daemon has no name. */
interface OptionsOwner {
  readonly name: string | undefined;
  readonly options: OptionTable;
}

/**
 * Reads the arguments of a command, or of the daemon. `commands` are all of them, to say whose
 * option a stray one is. Throws `invalid` with the whole line to show.
 */
export function readOptions(
  args: readonly string[],
  { name: command, options: table }: OptionsOwner,
  commands: readonly OptionsOwner[],
): ParsedOptions {
  const misuse = misuseOf(command);
  const isId = command === undefined ? () => false : isIdOf(table);
  const { tokens } = parseArgs({
    args: args.map((arg, at) => (isId(arg) ? OPERAND + arg : twoDashes(args)(arg, at))),
    options: asParseArgs(table),
    strict: false,
    tokens: true,
  });
  const switches = new Set<string>();
  const texts = new Map<string, string>();
  const numbers = new Map<string, number>();
  const lists = new Map<string, string[]>();
  const given: (readonly [shown: string, option: Option])[] = [];
  /** Arguments that are the second value of a pair, by their index. */
  const taken = new Set<number>();
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    // The daemon's flags are shown as they were written, with one dash or two.
    const shown = (args[token.index] ?? token.rawName).split("=")[0] ?? token.rawName;
    const option = Object.hasOwn(table, token.name) ? table[token.name] : undefined;
    if (option === undefined)
      throw unknownOption([shown, token.name], { name: command, options: table }, commands);
    if (option.many !== true && [texts, numbers, lists].some((values) => values.has(token.name)))
      throw misuse(`${shown} is given twice`);
    if (option.value === undefined) {
      if (token.value !== undefined) throw misuse(`${shown} takes no value`);
      switches.add(token.name);
    } else if (token.value === undefined || (!token.inlineValue && /^-[^\d.]/.test(token.value))) {
      throw misuse(`${shown} needs a value`);
    } else if (option.value === "pair") {
      const second = tokens.find(
        ({ kind, index }) => kind === "positional" && index === token.index + 2,
      );
      if (token.inlineValue || second?.kind !== "positional")
        throw misuse(`${shown} needs two values: ${shown} A B`);
      taken.add(second.index);
      lists.set(token.name, [token.value, operandOf(second.value)]);
    } else {
      const value = readOptionValue(shown, token.value, option.value, misuse);
      if (typeof value === "string" && option.many === true)
        lists.set(token.name, [...(lists.get(token.name) ?? []), value]);
      else if (typeof value === "string") texts.set(token.name, value);
      else numbers.set(token.name, value);
    }
    given.push([shown, option]);
  }
  for (const [shown, { goesWith }] of given) {
    const partners = goesWith === undefined ? [] : [goesWith].flat();
    const dashes = command === undefined ? "-" : "--";
    if (
      partners.length > 0 &&
      !partners.some((partner) => switches.has(partner) || texts.has(partner))
    )
      throw misuse(
        `${shown} goes with ${partners.map((partner) => `${dashes}${partner}`).join(" or ")}`,
      );
  }
  return {
    switches,
    texts,
    numbers,
    lists,
    positionals: tokens.flatMap((token) =>
      token.kind === "positional" && !taken.has(token.index) ? [operandOf(token.value)] : [],
    ),
  };
}

/** Before an operand that looks like an option; no argument of a process holds a NUL. */
const OPERAND = "\0";

function operandOf(value: string): string {
  return value.startsWith(OPERAND) ? value.slice(OPERAND.length) : value;
}

/** Ids of jobs and groups have 21 characters and may begin with a dash. */
function isIdOf(table: OptionTable): (arg: string) => boolean {
  return (arg) => /^-[\w-]{20}$/.test(arg) && !Object.hasOwn(table, arg.replace(/^-+/, ""));
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
  kind: Exclude<NonNullable<Option["value"]>, "pair">,
  misuse: Misuse,
): string | number {
  if (kind === "text") return text;
  if (kind === "duration") {
    const ms = parseDuration(text);
    if (ms !== undefined && ms > 0) return ms;
    throw misuse(`${shown} must be a duration above 0 such as 5s or 1m30s, got ${quote(text)}`);
  }
  if ("from" in kind) return readNumber(shown, text, kind, misuse);
  if (kind.includes(text)) return text;
  throw misuse(`${shown} must be ${kind.join(" or ")}, got ${quote(text)}`);
}

function readNumber(shown: string, text: string, range: NumberRange, misuse: Misuse): number {
  const value = /^-?\d*\.?\d+$/.test(text) ? Number(text) : NaN;
  const sound =
    value >= range.from && value <= range.to && (!range.whole || Number.isInteger(value));
  if (sound) return value;
  throw misuse(
    `${shown} must be a ${range.whole ? "whole " : ""}number from ${range.from} to ${range.to}, got ${quote(text)}`,
  );
}

function unknownOption(
  [shown, name]: readonly [shown: string, name: string],
  { name: command, options }: OptionsOwner,
  commands: readonly OptionsOwner[],
): StewardError {
  const misuse = misuseOf(command);
  const meant = nearest(name, Object.keys(options));
  // As it was written: the daemon's options take one dash or two.
  if (meant !== undefined)
    return misuse(
      `unknown option ${shorten(shown)}`,
      `${shown.startsWith("--") ? "--" : "-"}${meant}`,
    );
  const owners = commands
    .filter((owner) => owner.name !== command && Object.hasOwn(owner.options, name))
    .map((owner) => (owner.name === undefined ? "the daemon" : `steward ${owner.name}`));
  if (owners.length > 0) return misuse(`${shorten(shown)} is an option of ${owners.join(" and ")}`);
  return misuse(
    commands.some((owner) => owner.name === name)
      ? `${shorten(shown)} is a command: steward ${name}`
      : `unknown option ${shorten(shown)}`,
  );
}

/** The table in the form of `node:util` parseArgs. */
function asParseArgs(table: OptionTable): Record<string, ParseArgsOptionDescriptor> {
  return Object.fromEntries(
    Object.entries(table).map(([name, option]) => [
      name,
      {
        type: option.value === undefined ? "boolean" : "string",
        ...(option.short === undefined ? {} : { short: option.short }),
      },
    ]),
  );
}
