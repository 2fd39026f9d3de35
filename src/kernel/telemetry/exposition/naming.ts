/**
 * Names of metrics and labels in the exposition, by the rules of the OpenTelemetry-to-Prometheus
 * translator (otlptranslator 1.0). OTLP backends that translate show the same names.
 */
import type { Kind } from "../types.ts";

const UNITS: Readonly<Record<string, string>> = {
  d: "days",
  h: "hours",
  min: "minutes",
  s: "seconds",
  ms: "milliseconds",
  us: "microseconds",
  ns: "nanoseconds",
  By: "bytes",
  KiBy: "kibibytes",
  MiBy: "mebibytes",
  GiBy: "gibibytes",
  TiBy: "tibibytes",
  KBy: "kilobytes",
  MBy: "megabytes",
  GBy: "gigabytes",
  TBy: "terabytes",
  m: "meters",
  V: "volts",
  A: "amperes",
  J: "joules",
  W: "watts",
  g: "grams",
  Cel: "celsius",
  Hz: "hertz",
  "%": "percent",
  "1": "",
};

const PER: Readonly<Record<string, string>> = {
  s: "second",
  m: "minute",
  h: "hour",
  d: "day",
  w: "week",
  mo: "month",
  y: "year",
};

/** Labels reserved for the target's identity; attributes that would map to one are dropped. */
const PROMOTED: ReadonlySet<string> = new Set([
  "job",
  "instance",
  "service_name",
  "service_instance_id",
  "service_namespace",
]);

export interface Named {
  readonly name: string;
  readonly unit: string;
  readonly kind: Kind;
  readonly verbatim: boolean;
}

/** The family name, with `_total` for counters and without `_bucket`, `_sum` and `_count`. */
export function familyName({ name, unit, kind, verbatim }: Named): string {
  if (verbatim) return name.replaceAll(".", "_");
  let words = name.split(/[^a-zA-Z0-9:]+/).filter((word) => word !== "");
  const [main, per] = unitNames(unit);
  if (main !== "" && !words.includes(main)) words.push(main);
  if (per !== "" && !words.includes(per)) words.push("per", per);
  if (kind === "counter") words = atTheEnd(words, "total");
  if (kind === "gauge" && unit === "1") words = atTheEnd(words, "ratio");
  const joined = words.join("_");
  return /^[0-9]/.test(joined) ? `_${joined}` : joined;
}

export function labelName(attribute: string): string {
  const label = attribute.replaceAll(/[^a-zA-Z0-9_]/g, "_");
  return /^[0-9]/.test(label) ? `_${label}` : label;
}

/**
 * The attributes that become labels, with their label. When several map to one label, the attribute
 * already spelled like it wins, else the alphabetically first; those mapping to a promoted label
 * are dropped.
 */
export function labelNames(
  attributes: readonly string[],
  taken: Iterable<string> = [],
): Map<string, string> {
  const holders = new Map<string, string>();
  const reserved = new Set(taken);
  for (const attribute of attributes.toSorted()) {
    const label = labelName(attribute);
    if (PROMOTED.has(label) || reserved.has(label)) continue;
    if (!holders.has(label) || attribute === label) holders.set(label, attribute);
  }
  return new Map([...holders].map(([label, attribute]) => [attribute, label]));
}

function unitNames(unit: string): [main: string, per: string] {
  const [main = "", per = ""] = unit.split("/", 2);
  return [unitName(main, UNITS), unitName(per, PER)];
}

function unitName(unit: string, known: Readonly<Record<string, string>>): string {
  const text = unit.trim();
  if (text === "" || /[{}]/.test(text)) return "";
  if (Object.hasOwn(known, text)) return known[text] ?? "";
  return text
    .split(/[^a-zA-Z0-9:]+/)
    .filter((word) => word !== "")
    .join("_");
}

function atTheEnd(words: readonly string[], word: string): string[] {
  return [...words.filter((each) => each !== word), word];
}
