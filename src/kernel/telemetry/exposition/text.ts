/** The two text formats of Prometheus: escaping, numbers and the head of a family. */
import type { Exemplar } from "../series/exemplars.ts";
import type { Kind } from "../types.ts";

/** `text` is version 0.0.4; `openmetrics` is 1.0.0. */
export type ExpositionFormat = "text" | "openmetrics";

/** Powers of ten in between are written without an exponent. */
const MIN_POWER = -4;
const FIRST_POWER = 6;
const MILLISECONDS = 1_000;

/** What the HTTP answer says. */
export const contentTypes: Readonly<Record<ExpositionFormat, string>> = {
  text: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

/** OpenMetrics when the Accept header prefers it over plain text, else text. */
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

/** A label value between its quotes. */
export function escapeLabelValue(value: string): string {
  if (!/[\\"\n]/.test(value)) return value.isWellFormed() ? value : value.toWellFormed();
  return value
    .toWellFormed()
    .replaceAll("\\", "\\\\")
    .replaceAll("\n", "\\n")
    .replaceAll('"', '\\"');
}

/** A help text; the quote is escaped in OpenMetrics only. */
export function escapeHelp(text: string, format: ExpositionFormat): string {
  const escaped = text.toWellFormed().replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  return format === "openmetrics" ? escaped.replaceAll('"', '\\"') : escaped;
}

/** A sample's value. */
export function formatValue(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

/**
 * What follows a bucket's count in OpenMetrics, whose limit of 128 characters for the labels of an
 * exemplar these meet with 63.
 */
export function formatExemplar({ traceId, spanId, value, timeMs }: Exemplar): string {
  return ` # {trace_id="${traceId}",span_id="${spanId}"} ${formatValue(value)} ${timeMs / MILLISECONDS}`;
}

/**
 * A bucket's bound. It is a label, so that one spelt differently is another series: it has the
 * spelling of Prometheus' Go client, `strconv.FormatFloat(bound, 'g', -1, 64)`, and in OpenMetrics
 * a fraction where it has neither that nor an exponent.
 */
export function formatBound(bound: number, format: ExpositionFormat): string {
  const text = Number.isFinite(bound) ? formatGeneral(bound) : formatValue(bound);
  return format === "openmetrics" && /^-?[0-9]+$/.test(text) ? `${text}.0` : text;
}

/**
 * The shortest digits that read back as the value; below 1e-4 and from 1e6 on with an exponent of
 * at least two digits.
 */
function formatGeneral(value: number): string {
  const [mantissa = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= MIN_POWER && power < FIRST_POWER) return String(value);
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** The HELP and TYPE lines. */
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

/** A sum that goes both ways is a gauge; OpenMetrics knows no counter without `_total`. */
function familyType(family: string, kind: Kind, format: ExpositionFormat): string {
  if (kind === "updown") return "gauge";
  if (kind === "counter" && format === "openmetrics" && !family.endsWith("_total"))
    return "unknown";
  return kind;
}
