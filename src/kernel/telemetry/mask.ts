/**
 * Keeps secrets that are known by value out of what is exported. A `Secret` cannot be printed; this is for the text of
 * somebody else that repeats one, such as a receiver's error message.
 */
import { Secret } from "../base/secret.ts";
import type { LogLine } from "../base/log.ts";

/** Shorter ones are words that occur by themselves. */
const SHORTEST = 8;

/** Lines in which none of these values occurs: in their place stands `[secret]`. */
export function createMask(secrets: Iterable<Secret>): (line: LogLine) => LogLine {
  const known = [...new Set([...secrets].map((secret) => secret.use((value) => value)))].filter((value) => value.length >= SHORTEST);
  // The longest first: one may be the beginning of another.
  known.sort((left, right) => right.length - left.length);
  const maskText = (text: string): string => known.reduce((masked, value) => masked.replaceAll(value, "[secret]"), text);
  const mask = (value: unknown): unknown => {
    if (typeof value === "string") return maskText(value);
    if (Array.isArray(value)) return value.map(mask);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [maskText(name), mask(each)]));
  };
  if (known.length === 0) return (line) => line;
  return (line) => ({ ...line, message: maskText(line.message), attributes: mask(line.attributes) as LogLine["attributes"] });
}

/** The secrets among values, and among those of maps. */
export function secretsAmong(values: Iterable<unknown>): Secret[] {
  const found: Secret[] = [];
  for (const value of values) {
    if (value instanceof Secret) found.push(value);
    else if (value instanceof Map) found.push(...secretsAmong(value.values()));
  }
  return found;
}
