/**
 * Loads a configuration: default < demo, or variables of other tools < file < environment; reports
 * all problems in one pass.
 */
import { dirname } from "node:path";
import { StewardError, toStewardError } from "../base/errors.ts";
import { createConfig, type Config, type Setting, type Source } from "./config.ts";
import { readEnvironment, type Variables } from "./sources/environment.ts";
import { readFallbacks } from "./sources/fallbacks.ts";
import { readYaml } from "./sources/file.ts";
import { orderFindings, type Complaint, type Finding, type SourceLocation } from "./findings.ts";
import { flattenFile } from "./sources/flatten.ts";
import type { Environment, Key, Schema } from "./key.ts";
import type { Raw } from "./values/raw.ts";
import { chooseSecret, FILE_ENDING } from "./values/secret-file.ts";
import { holdsWrittenSecret } from "./secrets.ts";
import type { Complain, ReadContext } from "./values/types.ts";

/**
 * Reads a whole file as text. Throws system errors, and a `StewardError` that says of the
 * configuration file what is wrong with it.
 */
export type ReadFile = (path: string) => string;

/** A rule over several keys. Runs when each of `needs` has a valid value. */
export interface Check {
  readonly needs: Schema;
  run(config: Config, environment: Environment, readFile: ReadFile): readonly Finding[];
}

export interface ConfigSources {
  readonly file?: string;
  readonly environment: Environment;
  readonly schema: Schema;
  readonly checks?: readonly Check[];
  readonly readFile: ReadFile;
  /** The permission bits of a file; undefined where not supported. */
  readonly modeOf?: (path: string) => number | undefined;
  /** Texts by path that replace the defaults in a demo. */
  readonly demo?: ReadonlyMap<string, string>;
}

/** `config` is present when no finding is an error. */
export interface LoadResult {
  readonly config?: Config;
  readonly findings: readonly Finding[];
}

/** Values by path of one layer. */
interface Layer {
  readonly from: "environment" | "file" | "demo";
  readonly values: ReadonlyMap<string, Raw>;
  /** Variables of other tools: an invalid one is ignored with a warning. */
  readonly foreign: boolean;
}

/**
 * A secret's file may be a pipe, so each value is read once, and kept for checks of the file as a
 * whole.
 */
interface LoadContext extends ReadContext {
  /** Values of the configuration file, including those overridden by a variable. */
  readonly written: unknown[];
}

/** Loads and validates everything; never throws. Findings: errors first. */
export function loadConfig(sources: ConfigSources): LoadResult {
  const findings: Finding[] = [];
  const file = readFileLayer(sources, findings);
  const variables = readEnvironment(sources.environment, sources.schema);
  findings.push(...variables.findings);
  // Set for programs of this machine, maybe with a receiver elsewhere; a demo sends nothing there.
  const foreign: Variables =
    sources.demo === undefined
      ? readFallbacks(sources.environment, sources.schema, sources.readFile)
      : { values: new Map(), findings: [] };
  findings.push(...foreign.findings);
  const layers: Layer[] = [
    { from: "environment", values: variables.values, foreign: false },
    { from: "file", values: file, foreign: false },
    { from: "environment", values: foreign.values, foreign: true },
    {
      from: "demo",
      values: new Map(
        [...(sources.demo ?? [])].map(([path, text]) => [
          path,
          { kind: "text", text, location: {} },
        ]),
      ),
      foreign: false,
    },
  ];
  const context: LoadContext = {
    folder: sources.file === undefined ? "." : dirname(sources.file),
    readFile: sources.readFile,
    written: [],
  };
  const settings = new Map<string, Setting>();
  for (const key of sources.schema) {
    const setting = readSetting(key, layers, sources.environment, context, findings);
    if (setting !== undefined) settings.set(key.path, setting);
  }
  warnOfReaders(sources, context.written, findings);
  const config = createConfig(sources.schema, settings);
  for (const check of sources.checks ?? []) {
    if (check.needs.every((key) => settings.has(key.path)))
      findings.push(...check.run(config, sources.environment, sources.readFile));
  }
  const failed = findings.some((finding) => finding.severity === "error");
  return { findings: orderFindings(findings), ...(failed ? {} : { config }) };
}

function readFileLayer(sources: ConfigSources, findings: Finding[]): ReadonlyMap<string, Raw> {
  if (sources.file === undefined) return new Map();
  let text: string;
  try {
    text = sources.readFile(sources.file);
  } catch (error) {
    const { message, remedy = "check its path, and who may read it." } = toStewardError(error);
    const rule = error instanceof StewardError ? message : `cannot be read: ${message}`;
    findings.push({ severity: "error", path: sources.file, rule, remedy });
    return new Map();
  }
  const yaml = readYaml(
    text,
    sources.file,
    new Set(sources.schema.flatMap(({ path }) => path.split("."))),
  );
  const flat = flattenFile(yaml.root, sources.schema);
  findings.push(...yaml.findings, ...flat.findings);
  return flat.values;
}

/** A file without secrets may be world-readable: most only name other files for them. */
function warnOfReaders(
  { file, modeOf }: ConfigSources,
  written: readonly unknown[],
  findings: Finding[],
): void {
  // Only a file that was read has values; the mode of another cannot be had either.
  if (
    file === undefined ||
    !written.some(holdsWrittenSecret) ||
    ((modeOf?.(file) ?? 0) & 0o044) === 0
  )
    return;
  findings.push({
    severity: "warning",
    path: file,
    rule: "holds a secret and can be read by other users of this machine",
    remedy: `chmod 0600 ${file}`,
  });
}

/**
 * The value of the highest layer that has one; undefined after an error. Lower layers are validated
 * too.
 */
function readSetting(
  key: Key<unknown>,
  layers: readonly Layer[],
  environment: Environment,
  context: LoadContext,
  findings: Finding[],
): Setting | undefined {
  const found: Finding[] = [];
  const given: { readonly value: unknown; readonly source: Source }[] = [];
  for (const layer of layers) {
    const complaints: Finding[] = [];
    const read = readLayered(key, layer, context, complaints);
    // A variable of another tool may mean something that does not apply here.
    found.push(
      ...complaints.map((finding) =>
        layer.foreign
          ? { ...finding, severity: "warning" as const, rule: `${finding.rule}, which is ignored` }
          : finding,
      ),
    );
    if (read !== undefined && layer.from === "file") context.written.push(read.value);
    if (read !== undefined)
      given.push({ value: read.value, source: { from: layer.from, ...read.location } });
  }
  findings.push(...found);
  if (found.some((finding) => finding.severity === "error")) return undefined;
  const [highest] = given;
  if (highest !== undefined)
    return key.type.isMap === true ? mergeEntries(given, highest.source) : highest;
  const value = key.defaultFrom === undefined ? key.default : key.defaultFrom(environment);
  return judge(key, value, {}, findings)
    ? { value, source: { from: "default" } satisfies Source }
    : undefined;
}

/** A map's entries come from all layers; for one name the highest layer wins. */
function mergeEntries(
  given: readonly { readonly value: unknown; readonly source: Source }[],
  source: Source,
): Setting {
  const value = new Map<string, unknown>();
  const entries = new Map<string, Source>();
  for (const layer of given.toReversed()) {
    for (const [name, entry] of layer.value as ReadonlyMap<string, unknown>) {
      value.set(name, entry);
      entries.set(name, layer.source);
    }
  }
  return { value, source, entries };
}

function readLayered(
  key: Key<unknown>,
  layer: Layer,
  context: ReadContext,
  findings: Finding[],
): { readonly value: unknown; readonly location: SourceLocation } | undefined {
  const complain: Complain = (complaint, location, under = "") => {
    findings.push({ severity: "error", path: `${key.path}${under}`, ...complaint, ...location });
    return undefined;
  };
  const direct = layer.values.get(key.path);
  const raw =
    key.secret === true
      ? chooseSecret(direct, layer.values.get(`${key.path}${FILE_ENDING}`), complain, context)
      : direct;
  const value = raw === undefined ? undefined : key.type.read(raw, complain, context);
  return raw !== undefined && value !== undefined && judge(key, value, raw.location, findings)
    ? { value, location: raw.location }
    : undefined;
}

function judge(
  key: Key<unknown>,
  value: unknown,
  location: SourceLocation,
  findings: Finding[],
): boolean {
  const note = (severity: Finding["severity"], complaint: Complaint | undefined): boolean => {
    if (complaint !== undefined)
      findings.push({
        severity,
        path: key.path,
        rule: complaint.rule,
        ...(complaint.remedy === undefined ? {} : { remedy: complaint.remedy }),
        ...location,
      });
    return complaint === undefined;
  };
  const sound = note("error", key.rule?.(value));
  if (sound) note("warning", key.warn?.(value));
  return sound;
}
