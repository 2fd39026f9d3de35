/**
 * Applies the privacy filter to the log lines that are exported. Standard error shows all of them:
 * the operator needs them whole.
 */
import type { LogLine } from "../../kernel/base/log.ts";
import type { PrivacyOptions } from "../../monitor/options.ts";
import { createHiding, MASK, type Hides } from "../../monitor/privacy/redaction.ts";
import { lineRule } from "./line-attributes.ts";
import { createTextRedaction, urlsShown, wordsOf } from "./text-redaction.ts";

type Redact = (text: string) => string;

/** `networks`: the configured names. Undefined when everything is exported. */
export function createLineRedaction(
  options: PrivacyOptions,
  networks: readonly string[],
): ((line: LogLine) => LogLine) | undefined {
  const hides = createHiding(options);
  if (hides === undefined) return undefined;
  const hidesUrls = !urlsShown(options);
  const hidesLine: Hides = (attribute, value) =>
    (attribute === "url.full" && hidesUrls) || hides(attribute, value);
  const redact = createTextRedaction(options, networks);
  return (line) => redactLine(line, hidesLine, redact);
}

/** Values hidden in attributes must not appear in free text either. */
function redactLine(line: LogLine, hides: Hides, redact: Redact): LogLine {
  const hidden: string[] = [];
  const kept: [name: string, value: unknown][] = [];
  for (const [name, value] of Object.entries(line.attributes)) {
    if (!isHidden(hides, name, value)) kept.push([name, value]);
    else if (typeof value === "string") hidden.push(value, ...partsOf(name, value));
    else if (name === "error") kept.push([name, kindOf(value)]);
  }
  const words = wordsOf(hidden);
  const redactText: Redact =
    words === undefined ? redact : (text) => redact(text.replaceAll(words, MASK));
  const shown = kept.map(([name, value]) => [
    name,
    // A collector may have the name of a call that is hidden.
    redactValue(value, lineRule(name) === "fixed" ? redact : redactText),
  ]);
  return {
    ...line,
    message: redactText(line.message),
    attributes: Object.fromEntries(shown) as LogLine["attributes"],
  };
}

function isHidden(hides: Hides, name: string, value: unknown): boolean {
  const rule = lineRule(name);
  if (typeof rule !== "object") return false;
  return hides(rule.as, typeof value === "string" ? value : "");
}

/** Entries of a list; host and host name of a URL. */
function partsOf(name: string, value: string): string[] {
  if (name === "instances" || name === "names") return value.split(", ");
  const url = URL.parse(value);
  return url === null ? [] : [url.host, url.hostname];
}

/** Of an error whose words are hidden. */
function kindOf(error: unknown): unknown {
  const { type, code } = (error ?? {}) as { readonly type?: unknown; readonly code?: unknown };
  return { type, code };
}

function redactValue(value: unknown, redact: Redact): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((each) => redactValue(each, redact));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, redactValue(each, redact)]),
  );
}
