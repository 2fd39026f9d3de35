/** Prometheus' two text formats: escaping, numbers and the head of a family. */
import type { Exemplar } from "../series/exemplars.ts";
import type { Kind } from "../types.ts";

/** `text` is version 0.0.4; `openmetrics` is 1.0.0. */
export type ExpositionFormat = "text" | "openmetrics";

/** Powers of ten between these are written without an exponent. */
const MIN_POWER = -4;
const FIRST_POWER = 6;
const MILLISECONDS = 1_000;

export const contentTypes: Readonly<Record<ExpositionFormat, string>> = {
  text: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

/** `openmetrics` when the Accept header prefers it over plain text, else `text`. */
export function acceptedFormat(accept: string | undefined): ExpositionFormat {
  let best: ExpositionFormat = "text";
  let bestQuality = 0;
  for (const range of (accept ?? "").split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const format =
      type === "application/openmetrics-text"
        ? "openmetrics"
        : type === "text/plain" || type === "text/*" || type === "*/*"
          ? "text"
          : undefined;
    const quality = Number(
      parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? 1,
    );
    if (format === undefined || !(quality > bestQuality)) continue;
    best = format;
    bestQuality = quality;
  }
  return best;
}

export function escapeLabelValue(value: string): string {
  if (!/[\\"\n]/.test(value)) return value.isWellFormed() ? value : value.toWellFormed();
  return value
    .toWellFormed()
    .replaceAll("\\", "\\\\")
    .replaceAll("\n", "\\n")
    .replaceAll('"', '\\"');
}

/** Quotes are escaped in OpenMetrics only. */
export function escapeHelp(text: string, format: ExpositionFormat): string {
  const escaped = text.toWellFormed().replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return format === "openmetrics" ? escaped.replaceAll('"', '\\"') : escaped;
}

export function formatValue(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

/**
 * The exemplar after a bucket's count in OpenMetrics. Its labels have 63 characters; the limit is
 * 128.
 */
export function formatExemplar({ traceId, spanId, value, timeMs }: Exemplar): string {
  return ` # {trace_id="${traceId}",span_id="${spanId}"} ${formatValue(value)} ${timeMs / MILLISECONDS}`;
}

/**
 * Formats a bucket's bound. Bounds are labels, so another spelling would be another series: this is
 * the spelling of Prometheus' Go client, `strconv.FormatFloat(bound, 'g', -1, 64)`, and in
 * OpenMetrics with a fraction when it has neither fraction nor exponent.
 */
export function formatBound(bound: number, format: ExpositionFormat): string {
  const text = Number.isFinite(bound) ? formatGeneral(bound) : formatValue(bound);
  return format === "openmetrics" && /^-?[0-9]+$/.test(text) ? `${text}.0` : text;
}

/**
 * The shortest digits that parse to the same value; below 1e-4 and from 1e6 on with an exponent of
 * at least two digits.
 */
function formatGeneral(value: number): string {
  const [mantissa = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= MIN_POWER && power < FIRST_POWER) return String(value);
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

export function familyHead(
  family: string,
  kind: Kind,
  help: string,
  format: ExpositionFormat,
): string {
  const type = familyType(family, kind, format);
  const name =
    format === "openmetrics" && type === "counter" ? family.slice(0, -"_total".length) : family;
  return `# HELP ${name} ${escapeHelp(help, format)}\n# TYPE ${name} ${type}\n`;
}

/** Up-down counters are gauges; OpenMetrics has no counter without `_total`. */
function familyType(family: string, kind: Kind, format: ExpositionFormat): string {
  if (kind === "updown") return "gauge";
  if (kind === "counter" && format === "openmetrics" && !family.endsWith("_total"))
    return "unknown";
  return kind;
}
