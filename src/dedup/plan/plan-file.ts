/** The delete plan as a file: JSON that a person can read and a program can carry out later. */
import { isAbsolute, resolve } from "node:path";
import { StewardError } from "../../kernel/base/errors.ts";

const FORMAT = "steward-delete-plan";
const VERSION = 1;

/** A file of a plan and its state when the plan was made. */
export interface PlanFile {
  /** Absolute, without links. */
  readonly path: string;
  readonly sizeBytes: number;
  /** SHA-256 of the bytes in hexadecimal. */
  readonly sha256: string;
}

/** The scores of a pair, 0 to 1; null for a score that was not computed. */
export interface PlanScores {
  readonly confidence: number;
  readonly jaccard: number | null;
  readonly fuzzy: number | null;
  readonly discriminative: number | null;
}

/** A file that goes. */
export interface PlanEntry extends PlanFile {
  /** Id of the group. */
  readonly group: string;
  /** The file that stays, with which it has the scores. */
  readonly keep: PlanFile;
  readonly scores: PlanScores;
}

/** A document of a group that stays although it is no primary. */
interface PlanRetained {
  /** What the command calls it. */
  readonly id: string;
  readonly group: string;
  /** Continues "it …". */
  readonly reason: string;
}

/** A plan. No file that stays for another one goes itself. */
export interface DeletePlan {
  readonly format: typeof FORMAT;
  readonly version: typeof VERSION;
  /** RFC 3339. */
  readonly createdAt: string;
  /** Only groups that a person accepted, or all but those that a person decided otherwise. */
  readonly groups: "accepted" | "all";
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly summary: {
    readonly files: number;
    readonly bytes: number;
    readonly groups: number;
    readonly retained: number;
  };
  readonly entries: readonly PlanEntry[];
  readonly retained: readonly PlanRetained[];
}

/** A plan of these entries. */
export function createDeletePlan(
  contents: Pick<DeletePlan, "createdAt" | "groups" | "parameters" | "entries" | "retained">,
): DeletePlan {
  const { createdAt, groups, parameters, entries, retained } = contents;
  return {
    format: FORMAT,
    version: VERSION,
    createdAt,
    groups,
    parameters,
    summary: {
      files: entries.length,
      bytes: entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      groups: new Set(entries.map(({ group }) => group)).size,
      retained: retained.length,
    },
    entries,
    retained,
  };
}

/** The plan as text, one entry a line, in pieces. */
export function* formatPlan({ entries, retained, ...head }: DeletePlan): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},\n"entries":[`;
  yield* items(entries);
  yield `],\n"retained":[`;
  yield* items(retained);
  yield "]}\n";
}

function* items(values: readonly unknown[]): Generator<string> {
  for (const [index, value] of values.entries())
    yield `${index === 0 ? "" : ","}\n${JSON.stringify(value)}`;
}

/** Reads a plan. Throws `invalid` with what is wrong and where. */
export function parsePlan(text: string, name: string): DeletePlan {
  const plan = parseJson(text, name);
  if (plan["format"] !== FORMAT) throw wrong(name, "format", `is not "${FORMAT}"`);
  if (plan["version"] !== VERSION)
    throw wrong(name, "version", `is not ${VERSION}, the only one this Steward knows`);
  const { entries } = plan;
  if (!Array.isArray(entries)) throw wrong(name, "entries", "is not a list");
  for (const [index, entry] of entries.entries()) checkEntry(entry, `entries[${index}]`, name);
  const checked = plan as unknown as DeletePlan;
  checkPaths(checked, name);
  return checked;
}

function parseJson(text: string, name: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new StewardError("invalid", `${name} is no delete plan: it is not JSON`, {
      remedy: "make the plan again with steward dedup --delete-plan",
      cause,
    });
  }
  if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  throw wrong(name, "format", `is not "${FORMAT}"`);
}

function checkEntry(entry: unknown, field: string, name: string): void {
  const { group, keep, scores, ...file } = objectOf(entry, field, name);
  checkFile(file, field, name);
  checkFile(objectOf(keep, `${field}.keep`, name), `${field}.keep`, name);
  if (typeof group !== "string") throw wrong(name, `${field}.group`, "is not text");
  const { confidence } = objectOf(scores, `${field}.scores`, name);
  if (typeof confidence !== "number" || !(confidence >= 0 && confidence <= 1))
    throw wrong(name, `${field}.scores.confidence`, "is not a number from 0 to 1");
}

function objectOf(value: unknown, field: string, name: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  throw wrong(name, field, "is not an object");
}

function checkFile(
  { path, sizeBytes, sha256 }: Readonly<Record<string, unknown>>,
  field: string,
  name: string,
): void {
  if (typeof path !== "string" || !isAbsolute(path) || resolve(path) !== path)
    throw wrong(name, `${field}.path`, "is not an absolute path without . and ..");
  if (!Number.isSafeInteger(sizeBytes) || (sizeBytes as number) < 0)
    throw wrong(name, `${field}.sizeBytes`, "is not a number of bytes");
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256))
    throw wrong(name, `${field}.sha256`, "is not a SHA-256 in hexadecimal");
}

/** No path twice, and none that another entry relies on: the rule holds for an edited plan, too. */
function checkPaths({ entries }: DeletePlan, name: string): void {
  const going = new Map<string, number>();
  for (const [index, { path }] of entries.entries()) {
    const first = going.get(path);
    if (first !== undefined)
      throw wrong(name, `entries[${index}].path`, `is the path of entries[${first}], too`);
    going.set(path, index);
  }
  for (const [index, { keep }] of entries.entries()) {
    const other = going.get(keep.path);
    if (other !== undefined)
      throw wrong(name, `entries[${index}].keep.path`, `would go by entries[${other}]`);
  }
}

function wrong(name: string, field: string, rule: string): StewardError {
  return new StewardError("invalid", `${name}: ${field} ${rule}`, {
    field,
    remedy: "make the plan again with steward dedup --delete-plan",
  });
}
