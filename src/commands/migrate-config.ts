/** `steward migrate-config`: another exporter's configuration file in Steward's names. */
import { rmSync, writeFileSync } from "node:fs";
import {
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  type Document,
  type Pair,
  type YAMLMap,
} from "yaml";
import { daemonSchema } from "../daemon/configuration.ts";
import { StewardError, toStewardError } from "../kernel/base/errors.ts";
import { formatFinding, type Finding } from "../kernel/config/findings.ts";
import { loadConfig } from "../kernel/config/load.ts";
import { currentName } from "../kernel/config/sources/former-names.ts";
import { readUtf8File } from "../kernel/config/sources/utf8-file.ts";
import { readYaml } from "../kernel/config/sources/file.ts";
import type { CommandOutput } from "./command.ts";

export interface MigrateArguments {
  readonly from: string;
  /** Undefined is standard output. */
  readonly to: string | undefined;
}

/** Rule of a finding about a name that Steward does not have. */
const UNKNOWN = "is not a known key";

/** Exits 0, or throws `invalid` for a file that is no YAML and what the system says. */
export function migrateConfig({ from, to }: MigrateArguments, output: CommandOutput): number {
  const { text, notes } = translate(readOld(from), from);
  if (to === undefined) output.stdout(text);
  else writeNew(to, text);
  for (const note of notes) output.stderr(`${note}\n`);
  output.stderr(
    to === undefined
      ? "check it: steward -validate -config FILE\n"
      : `wrote ${to}; check it: steward -validate -config ${to}\n`,
  );
  return 0;
}

function readOld(path: string): string {
  try {
    return readUtf8File(path);
  } catch (error) {
    if (error instanceof StewardError)
      throw new StewardError("invalid", `${path} ${error.message}`, { remedy: "save it as UTF-8" });
    throw new StewardError(
      "not_found",
      `${path} cannot be read: ${toStewardError(error).message}`,
      {
        remedy: "check its path, and who may read it",
      },
    );
  }
}

function writeNew(path: string, text: string): void {
  try {
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === "EEXIST")
      throw new StewardError("conflict", `${path} exists already`, { remedy: "name another NEW" });
    // A part of it would stand in the way of the next try.
    if (syscall !== "open") rmSync(path, { force: true });
    throw new StewardError(
      "invalid",
      `${path} cannot be written: ${toStewardError(error).message}`,
    );
  }
}

interface Translation {
  readonly text: string;
  /** What was renamed, what was left out, and what does not hold. */
  readonly notes: readonly string[];
}

function translate(old: string, name: string): Translation {
  const broken = readYaml(old, name).findings;
  if (broken.length > 0)
    throw new StewardError("invalid", broken.map(formatFinding).join("\n"), {
      remedy: "mend the file first",
    });
  const document = parseDocument(old, { version: "1.2" });
  const notes: string[] = [];
  if (isMap(document.contents)) rename(document.contents, "", notes);
  notes.push(...leaveOut(document, name));
  const text = String(document);
  for (const finding of problemsOf(text, name)) notes.push(formatFinding(finding));
  return { text, notes };
}

/** Gives keys their names here, in sections of every depth. */
function rename(map: YAMLMap, prefix: string, notes: string[]): void {
  map.items = map.items.filter(({ key, value }) => {
    if (!isScalar(key)) return true;
    const path = `${prefix}${String(key.value)}`;
    const current = currentName(path);
    if (current !== undefined) {
      const leaf = current.slice(current.lastIndexOf(".") + 1);
      if (map.has(leaf)) {
        notes.push(`left out: ${path} is called ${current} here, which the file has as well`);
        return false;
      }
      key.value = leaf;
      notes.push(`renamed: ${path} to ${current}`);
    }
    if (isMap(value)) rename(value, `${current ?? path}.`, notes);
    return true;
  });
}

/** Takes keys away that Steward does not have. */
function leaveOut(document: Document, name: string): string[] {
  const unknown = problemsOf(String(document), name).filter(({ rule }) => rule === UNKNOWN);
  return unknown.map((finding) => {
    const { path, line, nearest } = finding;
    remove(document.contents, "", path);
    const hint = nearest === undefined ? "" : `; ${nearest} is similar`;
    return `left out: ${path}${line === undefined ? "" : ` (line ${line})`}: Steward has no such key${hint}`;
  });
}

/** Without variables, rules between keys, and what secrets' files hold. */
function problemsOf(text: string, name: string): readonly Finding[] {
  const readFile = (path: string): string => (path === name ? text : "x".repeat(32));
  const { findings } = loadConfig({
    file: name,
    environment: { HOME: "/" },
    schema: daemonSchema,
    readFile,
  });
  return findings.filter(({ severity }) => severity === "error");
}

/** Removes the member of this path, as findings name it: `networks[0].name`. */
function remove(node: unknown, at: string, path: string): boolean {
  if (isSeq(node)) return node.items.some((item, index) => remove(item, `${at}[${index}]`, path));
  if (!isMap(node)) return false;
  const found = node.items.findIndex((pair) => pathOf(pair, at) === path);
  if (found >= 0) return node.items.splice(found, 1).length > 0;
  return node.items.some((pair) => remove(pair.value, pathOf(pair, at), path));
}

function pathOf({ key }: Pair, at: string): string {
  const name = isScalar(key) ? String(key.value) : "";
  return at === "" ? name : `${at}.${name}`;
}
