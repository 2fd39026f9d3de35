/**
 * Texts from rules: `{name}` in a text is replaced by one of the rule's alternatives, which may
 * hold further names.
 */
import { assert } from "../kernel/base/errors.ts";
import type { Random } from "./random.ts";

/** Alternatives by name. A function is evaluated at each use. */
export type Rules = Readonly<Record<string, readonly string[] | (() => string)>>;

const DEEPEST = 12;

/**
 * The text with all names replaced. `{^name}` begins with a capital; "a" becomes "an" where English
 * wants it.
 */
export function expand(text: string, rules: Rules, random: Random): string {
  return replaceNames(text, rules, random, 0).replaceAll(
    /\b([Aa]) (?=[aeiou](?!ni|se|ro|ne))/g,
    "$1n ",
  );
}

/** `count` different templates, expanded. */
export function sentences(
  templates: readonly string[],
  count: number,
  rules: Rules,
  random: Random,
): string[] {
  return random
    .shuffle(templates)
    .slice(0, count)
    .map((template) => expand(template, rules, random));
}

/** Sentences as paragraphs of two to four. */
export function paragraphs(all: readonly string[], random: Random): string[] {
  const result: string[] = [];
  for (let at = 0; at < all.length;) {
    const size = random.integer(2, 4);
    result.push(all.slice(at, at + size).join(" "));
    at += size;
  }
  return result;
}

function replaceNames(text: string, rules: Rules, random: Random, depth: number): string {
  assert(depth < DEEPEST, `the rules of ${text.slice(0, 40)} end`);
  return text.replaceAll(/\{(\^?)(\w+)\}/g, (_all, capital: string, name: string) => {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    assert(rule !== undefined, `there is a rule ${name}`);
    const chosen = replaceNames(
      typeof rule === "function" ? rule() : random.pick(rule),
      rules,
      random,
      depth + 1,
    );
    return capital === "" ? chosen : chosen.charAt(0).toUpperCase() + chosen.slice(1);
  });
}
