/**
 * Reads the values of known keys from the environment, and warns of unknown `STEWARD_*` variables.
 */
import type { Finding } from "../findings.ts";
import { foldAliases } from "./aliases.ts";
import { currentName } from "./former-names.ts";
import { pathOf, variableOf, type Environment, type Schema } from "../key.ts";
import { nearest } from "../../base/text/nearest.ts";
import type { Raw } from "../values/raw.ts";

/** The raw values by path; `a.b_file` for a secret to be read from a file. */
export interface Variables {
  readonly values: ReadonlyMap<string, Raw>;
  readonly findings: readonly Finding[];
}

/**
 * Reads the variables of the schema. An empty one is unset, without a warning: unit files and
 * charts pass unset values that way.
 */
export function readEnvironment(environment: Environment, schema: Schema): Variables {
  const values = new Map<string, Raw>();
  const findings: Finding[] = [];
  const known = knownVariables(schema);
  // Aliases come first in `known`, so that the STEWARD_ form of the same key wins.
  for (const [variable, path] of known) {
    const text = environment[variable];
    if (text !== undefined && text !== "")
      take(values, path, { kind: "text", text, location: { variable } });
  }
  const entries = readMapEntries(environment, schema, values, findings);
  foldAliases(values, schema, findings);
  const fileOnly = schema.filter((key) => key.type.fileOnly);
  for (const variable of Object.keys(environment).toSorted()) {
    if (
      !variable.startsWith("STEWARD_") ||
      variable.startsWith("STEWARD_DEMO") ||
      entries.has(variable) ||
      (known.has(variable) && !fileOnly.some((key) => variableOf(key.path) === variable))
    )
      continue;
    const key = fileOnly.find(
      (candidate) =>
        variable === variableOf(candidate.path) ||
        variable.startsWith(`${variableOf(candidate.path)}_`),
    );
    if (key !== undefined && environment[variable] === "") continue;
    if (key !== undefined)
      findings.push({
        severity: "error",
        path: variable,
        variable,
        rule: `sets ${key.path}, a list of objects`,
        remedy: "write it in the configuration file.",
      });
    else findings.push(unknownVariable(variable, known, schema));
  }
  return { values, findings };
}

// A key has one value per layer: the STEWARD_ form replaces both forms of an alias, never the other
// way round.
function take(values: Map<string, Raw>, path: string, raw: Raw): void {
  const isStewardForm = raw.location.variable?.startsWith("STEWARD_") === true;
  if (isStewardForm) {
    for (const other of [path.replace(/_file$/, ""), `${path}_file`]) {
      if (values.get(other)?.location.variable?.startsWith("STEWARD_") === false)
        values.delete(other);
    }
  }
  values.set(path, raw);
}

function knownVariables(schema: Schema): Map<string, string> {
  const known = new Map<string, string>();
  const add = (variable: string, path: string, secret: boolean): void => {
    known.set(variable, path);
    if (secret) known.set(`${variable}_FILE`, `${path}_file`);
  };
  const readable = schema.filter((key) => !key.type.fileOnly);
  for (const key of readable)
    if (key.env !== undefined) add(key.env, key.path, key.secret === true);
  for (const key of readable)
    for (const path of [...(key.aliases ?? []), key.path])
      add(variableOf(path), path, key.secret === true && path === key.path);
  return known;
}

/**
 * One variable per entry: `STEWARD_OTLP__HEADERS__X_ORG` is `x_org` in `otlp.headers`. Returns the
 * variables it read.
 */
function readMapEntries(
  environment: Environment,
  schema: Schema,
  values: Map<string, Raw>,
  findings: Finding[],
): ReadonlySet<string> {
  const taken = new Set<string>();
  for (const key of schema.filter((candidate) => candidate.type.isMap === true)) {
    const start = `${variableOf(key.path)}__`;
    const variables = Object.keys(environment)
      .filter((name) => name.startsWith(start) && name.length > start.length)
      .toSorted();
    const entries = new Map<string, Raw>();
    for (const variable of variables) {
      taken.add(variable);
      const text = environment[variable] ?? "";
      if (text !== "")
        entries.set(variable.slice(start.length).toLowerCase(), {
          kind: "text",
          text,
          location: { variable },
        });
    }
    if (entries.size === 0) continue;
    const variable = variables[0] ?? start;
    if (values.has(key.path))
      findings.push({
        severity: "error",
        path: key.path,
        variable,
        rule: `is given twice, whole and as ${variable}`,
        remedy: "write all of it in one form.",
      });
    else values.set(key.path, { kind: "map", entries, location: { variable } });
  }
  return taken;
}

function unknownVariable(
  variable: string,
  known: ReadonlyMap<string, string>,
  schema: Schema,
): Finding {
  const base = { severity: "warning", path: variable, variable } as const;
  const plain = schema.find((key) => `${variableOf(key.path)}_FILE` === variable);
  if (plain !== undefined)
    return {
      ...base,
      rule: `is ignored: ${plain.path} is no secret and is not read from a file`,
      nearest: variableOf(plain.path),
    };
  const current = currentName(pathOf(variable));
  const renamed = current === undefined ? undefined : variableOf(current);
  const meant =
    renamed !== undefined && known.has(renamed)
      ? renamed
      : nearest(renamed ?? variable, known.keys());
  return {
    ...base,
    rule: "is not a known variable and is ignored",
    ...(meant === undefined ? {} : { nearest: meant }),
  };
}
