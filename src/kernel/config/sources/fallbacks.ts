/**
 * Reads variables of other tools as defaults below the file, e.g. `OTEL_EXPORTER_OTLP_ENDPOINT`.
 */
import { toStewardError } from "../../base/errors.ts";
import type { Variables } from "./environment.ts";
import type { Finding } from "../findings.ts";
import type { Environment, Fallback, Schema } from "../key.ts";
import type { Raw } from "../values/raw.ts";

/** The raw values by path. `<variable>_FILE` names a file for a map of secrets. */
export function readFallbacks(
  environment: Environment,
  schema: Schema,
  readFile: (path: string) => string,
): Variables {
  const values = new Map<string, Raw>();
  const findings: Finding[] = [];
  for (const key of schema) {
    for (const fallback of key.fallbacks ?? []) {
      const mayHide = key.type.isMap === true || key.secret === true;
      const given = read(fallback, mayHide, environment, readFile, findings);
      if (given === undefined) continue;
      const { variable } = given.location;
      const text = fallback.translate === undefined ? given.text : fallback.translate(given.text);
      if (text === undefined)
        findings.push({
          severity: "warning",
          path: variable,
          variable,
          rule: `has the value ${mayHide ? "something" : JSON.stringify(given.text.slice(0, 60))}, which is invalid for ${key.path}, and is ignored`,
        });
      else if (!values.has(key.path)) values.set(key.path, { ...given, text });
    }
  }
  return { values, findings };
}

type Given = Raw & { readonly kind: "text"; readonly location: { readonly variable: string } };

function read(
  { variable }: Fallback,
  mayBeFile: boolean,
  environment: Environment,
  readFile: (path: string) => string,
  findings: Finding[],
): Given | undefined {
  const text = environment[variable];
  if (text) return { kind: "text", text, location: { variable } };
  const fileVariable = `${variable}_FILE`;
  const file = mayBeFile ? environment[fileVariable] : undefined;
  if (!file) return undefined;
  try {
    return {
      kind: "text",
      text: readFile(file).trim(),
      location: { variable: fileVariable },
      readFrom: file,
    };
  } catch (error) {
    findings.push({
      severity: "warning",
      path: fileVariable,
      variable: fileVariable,
      rule: `is ignored: ${file} cannot be read: ${toStewardError(error).message}`,
    });
    return undefined;
  }
}
