/** Loads a configuration: default < file < environment, every problem in one pass. */
import { toStewardError } from "../base/errors.ts";
import { createConfig, type Config, type Setting, type Source } from "./config.ts";
import { readEnvironment } from "./environment.ts";
import { readYaml } from "./file.ts";
import { orderFindings, type Complaint, type Finding } from "./findings.ts";
import { flattenFile } from "./flatten.ts";
import type { Environment, Key, Schema } from "./key.ts";
import type { Place, Raw } from "./raw.ts";

/** Reads a whole file as text; throws what the system throws. */
export type ReadFile = (path: string) => string;

/** A rule over several keys. It runs when each of `needs` has a sound value. */
export interface Check {
  readonly needs: Schema;
  run(config: Config, environment: Environment): readonly Finding[];
}

/** Where a configuration comes from. */
export interface ConfigSources {
  /** The YAML file, if there is one. */
  readonly file?: string;
  readonly environment: Environment;
  readonly schema: Schema;
  readonly checks?: readonly Check[];
  readonly readFile: ReadFile;
}

/** `config` is there when no finding is an error. */
export interface LoadResult {
  readonly config?: Config;
  readonly findings: readonly Finding[];
}

/** Loads and judges everything; throws nothing. Findings come errors first. */
export function loadConfig(sources: ConfigSources): LoadResult {
  const findings: Finding[] = [];
  const file = readLayer(sources, findings);
  const variables = readEnvironment(sources.environment, sources.schema);
  findings.push(...variables.findings);
  const layers: Layer[] = [{ from: "environment", values: variables.values }, { from: "file", values: file }];
  const settings = new Map<string, Setting>();
  for (const key of sources.schema) {
    const setting = readSetting(key, layers, sources, findings);
    if (setting !== undefined) settings.set(key.path, setting);
  }
  const config = createConfig(sources.schema, settings);
  for (const check of sources.checks ?? []) {
    if (check.needs.every((key) => settings.has(key.path))) findings.push(...check.run(config, sources.environment));
  }
  const failed = findings.some((finding) => finding.severity === "error");
  return { findings: orderFindings(findings), ...(failed ? {} : { config }) };
}

interface Layer {
  readonly from: "environment" | "file";
  readonly values: ReadonlyMap<string, Raw>;
}

function readLayer(sources: ConfigSources, findings: Finding[]): ReadonlyMap<string, Raw> {
  if (sources.file === undefined) return new Map();
  let text: string;
  try {
    text = sources.readFile(sources.file);
  } catch (error) {
    findings.push({ severity: "error", path: sources.file, rule: `cannot be read: ${toStewardError(error).message}`, remedy: "check the path given with -config." });
    return new Map();
  }
  const yaml = readYaml(text, sources.file);
  const flat = flattenFile(yaml.root, sources.schema);
  findings.push(...yaml.findings, ...flat.findings);
  return flat.values;
}

/** The value of the highest layer that has one; undefined after an error. Lower layers are judged too: they hold mistakes as well. */
function readSetting(key: Key<unknown>, layers: readonly Layer[], sources: ConfigSources, findings: Finding[]): Setting | undefined {
  const complaints = findings.length;
  let chosen: Setting | undefined;
  for (const layer of layers) {
    const raw = rawOf(key, layer, sources, findings);
    if (raw === undefined) continue;
    const value = readValue(key, raw, findings);
    if (value !== undefined) chosen ??= { value, source: { from: layer.from, ...raw.place } };
  }
  if (findings.slice(complaints).some((finding) => finding.severity === "error")) return undefined;
  if (chosen !== undefined) return chosen;
  const value = key.defaultFrom === undefined ? key.default : key.defaultFrom(sources.environment);
  return judge(key, value, {}, findings) ? { value, source: { from: "default" } satisfies Source } : undefined;
}

function readValue(key: Key<unknown>, raw: Raw, findings: Finding[]): unknown {
  const value = key.type.read(raw, (complaint, place, under = "") => {
    findings.push({ severity: "error", path: `${key.path}${under}`, ...complaint, ...place });
    return undefined;
  });
  return value !== undefined && judge(key, value, raw.place, findings) ? value : undefined;
}

function judge(key: Key<unknown>, value: unknown, place: Place, findings: Finding[]): boolean {
  const note = (severity: Finding["severity"], complaint: Complaint | undefined): boolean => {
    if (complaint !== undefined) findings.push({ severity, path: key.path, rule: complaint.rule, ...(complaint.remedy === undefined ? {} : { remedy: complaint.remedy }), ...place });
    return complaint === undefined;
  };
  const sound = note("error", key.rule?.(value));
  if (sound) note("warning", key.warn?.(value));
  return sound;
}

/** The raw value of a key in a layer; for a secret given as `_file`, the content of that file. */
function rawOf(key: Key<unknown>, layer: Layer, sources: ConfigSources, findings: Finding[]): Raw | undefined {
  const direct = layer.values.get(key.path);
  const indirect = key.secret === true ? layer.values.get(`${key.path}_file`) : undefined;
  if (indirect === undefined) return direct;
  const fail = (rule: string, remedy?: string): undefined => {
    findings.push({ severity: "error", path: key.path, rule, ...(remedy === undefined ? {} : { remedy }), ...indirect.place });
    return undefined;
  };
  if (direct !== undefined) return fail("is given twice, as value and as file", "remove one of them.");
  if (indirect.kind !== "text") return fail("must name a file");
  try {
    const text = sources.readFile(indirect.text).replace(/\r?\n$/, "");
    if (text === "") return fail(`must not be empty, ${indirect.text} is`);
    return { kind: "text", text, place: indirect.place };
  } catch (error) {
    return fail(`cannot be read from its file: ${toStewardError(error).message}`);
  }
}
