/**
 * Loads a configuration: default < demo < variables of others < file < environment, every problem
 * in one pass.
 */
import { dirname } from "node:path";
import { toStewardError } from "../base/errors.ts";
import { createConfig, type Config, type Setting, type Source } from "./config.ts";
import { readEnvironment } from "./environment.ts";
import { readFallbacks } from "./fallbacks.ts";
import { readYaml } from "./file.ts";
import { orderFindings, type Complaint, type Finding } from "./findings.ts";
import { flattenFile } from "./flatten.ts";
import type { Environment, Key, Schema } from "./key.ts";
import type { SourceLocation, Raw } from "./raw.ts";
import { chooseSecret, FILE_ENDING } from "./secret-file.ts";
import { holdsWrittenSecret } from "./secrets.ts";
import type { Complain, ReadContext } from "./types.ts";

/** Reads a whole file as text; throws what the system throws. */
export type ReadFile = (path: string) => string;

/** A rule over several keys. It runs when each of `needs` has a sound value. */
export interface Check {
  readonly needs: Schema;
  run(config: Config, environment: Environment, readFile: ReadFile): readonly Finding[];
}

/** Where a configuration comes from. */
export interface ConfigSources {
  /** The YAML file, if there is one. */
  readonly file?: string;
  readonly environment: Environment;
  readonly schema: Schema;
  readonly checks?: readonly Check[];
  readonly readFile: ReadFile;
  /** The permission bits of a file; undefined where there are none. */
  readonly modeOf?: (path: string) => number | undefined;
  /** Texts by path that replace the defaults in a demo. */
  readonly demo?: ReadonlyMap<string, string>;
}

/** `config` is there when no finding is an error. */
export interface LoadResult {
  readonly config?: Config;
  readonly findings: readonly Finding[];
}

/** Values by path, one set for each place they may stand in. */
interface Layer {
  readonly from: "environment" | "file" | "demo";
  readonly values: ReadonlyMap<string, Raw>;
  /** Variables of others: what is wrong with them is worth a warning and is otherwise ignored. */
  readonly foreign: boolean;
}

/**
 * A secret's file may be a pipe, so each value is read once, and kept for who asks about the file
 * as a whole.
 */
interface LoadContext extends ReadContext {
  /** Values of the configuration file, those that a variable overrides included. */
  readonly written: unknown[];
}

/** Loads and judges everything; throws nothing. Findings come errors first. */
export function loadConfig(sources: ConfigSources): LoadResult {
  const findings: Finding[] = [];
  const file = readFileLayer(sources, findings);
  const variables = readEnvironment(sources.environment, sources.schema);
  findings.push(...variables.findings);
  const foreign = readFallbacks(sources.environment, sources.schema, sources.readFile);
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
    findings.push({
      severity: "error",
      path: sources.file,
      rule: `cannot be read: ${toStewardError(error).message}`,
      remedy: "check its path, and who may read it.",
    });
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

/** A file without secrets may be read by anybody: most name other files for them. */
function warnOfReaders(
  { file, modeOf }: ConfigSources,
  written: readonly unknown[],
  findings: Finding[],
): void {
  if (
    file === undefined ||
    ((modeOf?.(file) ?? 0) & 0o044) === 0 ||
    !written.some(holdsWrittenSecret)
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
 * The value of the highest layer that has one; undefined after an error. Lower layers are judged
 * too: they hold mistakes as well.
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
    // A variable that is not ours may mean something that has no place here.
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

/** A map's entries come from all layers; of one name the highest layer's counts. */
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
