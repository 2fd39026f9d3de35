/**
 * Renders several scopes as one exposition in slices of text: families sorted by name, each once,
 * with the series of all scopes. Series that become identical after naming are rendered once and
 * counted.
 */
import type { WireRow } from "../messages.ts";
import type { HeldSnapshot, RemoteScope } from "../thread/remote-scope.ts";
import { familyName } from "./naming.ts";
import { formatBound, formatExemplar, formatValue, familyHead } from "./text.ts";
import type { ExpositionFormat } from "./text.ts";
import { LabelPlan, targetLabels } from "./labels.ts";

/**
 * About 100 KiB. V8 allocates larger strings as large objects, which are freed only by a full GC.
 */
const LINES_PER_SLICE = 500;
const PROCESS = "process";
/** Names of the family that `targetInfo` writes, in text and in OpenMetrics. */
const TARGET_NAMES = ["target_info", "target"] as const;

/** A scope and its values at one instant. */
export interface Gathered {
  readonly scope: RemoteScope;
  readonly snapshot: HeldSnapshot;
}

export interface RenderOptions {
  readonly format: ExpositionFormat;
  /** As in ExposeQuery; undefined = all. */
  readonly metrics: readonly string[] | undefined;
  readonly duplicate: (series: number) => void;
  readonly conflict: (families: number) => void;
}

interface Source extends Gathered {
  readonly row: WireRow;
  readonly numbers: readonly number[];
}

interface Family {
  readonly name: string;
  readonly row: WireRow;
  readonly sources: Source[];
}

/** Slices of about 500 lines; a histogram is never split within a series. */
export function* render(gathered: readonly Gathered[], options: RenderOptions): Generator<string> {
  const out = new Slices();
  out.add(targetInfo(gathered, options.format), 0);
  for (const family of families(gathered, options)) {
    out.add(familyHead(family.name, family.row.kind, family.row.help, options.format), 2);
    yield* familySlices(family, out, options);
  }
  if (options.format === "openmetrics") out.add("# EOF\n", 1);
  yield out.take();
}

class Slices {
  #text = "";
  #lines = 0;

  add(text: string, lines: number): void {
    this.#text += text;
    this.#lines += lines;
  }

  full(): boolean {
    return this.#lines >= LINES_PER_SLICE;
  }

  take(): string {
    const text = this.#text;
    this.#text = "";
    this.#lines = 0;
    return text;
  }
}

/**
 * Families by name. A family whose name, or OpenMetrics name, another kind already has is omitted
 * and counted.
 */
function families(gathered: readonly Gathered[], { metrics, conflict }: RenderOptions): Family[] {
  const byName = new Map<string, Family>();
  const holders = new Map<string, Family | undefined>(
    TARGET_NAMES.map((name) => [name, undefined]),
  );
  let conflicts = 0;
  for (const { scope, snapshot } of gathered) {
    for (const [rowNumber, numbers] of snapshot.series()) {
      const row = scope.rows.get(rowNumber);
      if (!row || (metrics && !metrics.some((wanted) => covers(wanted, row.name)))) continue;
      const name = familyName(row);
      const family = byName.get(name) ?? { name, row, sources: [] };
      const isTaken = holders.has(stem(family)) && holders.get(stem(family)) !== family;
      if (isTaken || family.row.kind !== row.kind) {
        conflicts += 1;
        continue;
      }
      byName.set(name, family);
      holders.set(stem(family), family);
      family.sources.push({ scope, snapshot, row, numbers });
    }
  }
  if (conflicts > 0) conflict(conflicts);
  return [...byName.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

function covers(wanted: string, name: string): boolean {
  return wanted === name || (/[._]$/.test(wanted) && name.startsWith(wanted));
}

function stem({ name, row }: Family): string {
  return row.kind === "counter" ? name.replace(/_total$/, "") : name;
}

/**
 * Appends the family's series to `out` and yields it whenever it is full. A single loop, for speed.
 */
function* familySlices(family: Family, out: Slices, options: RenderOptions): Generator<string> {
  const plans = family.sources.map((source) => new LabelPlan(source.row, source.scope));
  // Only then can two series become identical: within one row of one scope labels are unique.
  const shown =
    family.sources.length > 1 || plans.some((plan) => plan.drops) ? new Set<string>() : undefined;
  const lines = family.row.kind === "histogram" ? family.row.bounds.length + 3 : 1;
  const { name } = family;
  const exemplars = options.format === "openmetrics";
  let duplicates = 0;
  for (const [index, source] of family.sources.entries()) {
    const { value } = source.snapshot.columns;
    const plan = plans[index];
    const bounds = [...source.row.bounds, Number.POSITIVE_INFINITY].map((bound) =>
      formatBound(bound, options.format),
    );
    for (const number of source.numbers) {
      const text = plan?.text(number) ?? "";
      if (shown?.has(text)) {
        duplicates += 1;
        continue;
      }
      shown?.add(text);
      out.add(
        lines === 1
          ? `${sample(name, text)} ${formatValue(value[number] ?? 0)}\n`
          : histogramLines(name, text, source, { number, bounds, exemplars }),
        lines,
      );
      if (out.full()) yield out.take();
    }
  }
  if (duplicates > 0) options.duplicate(duplicates);
}

function sample(name: string, labels: string): string {
  return labels === "" ? name : `${name}{${labels}}`;
}

interface HistogramFormat {
  readonly number: number;
  /** The last is +Inf. */
  readonly bounds: readonly string[];
  readonly exemplars: boolean;
}

function histogramLines(
  name: string,
  labels: string,
  { row, snapshot }: Source,
  { number, bounds, exemplars }: HistogramFormat,
): string {
  const { slab, value } = snapshot.columns;
  const offset = value[number] ?? 0;
  const before = labels === "" ? "" : `${labels},`;
  let text = "";
  let count = 0;
  for (const [index, bound] of bounds.entries()) {
    count += slab[offset + index] ?? 0;
    const exemplar = exemplars ? snapshot.exemplar(offset + index) : undefined;
    text += `${name}_bucket{${before}le="${bound}"} ${count}${exemplar === undefined ? "" : formatExemplar(exemplar)}\n`;
  }
  return `${text}${sample(`${name}_sum`, labels)} ${formatValue(slab[offset + row.bounds.length + 1] ?? 0)}\n${sample(`${name}_count`, labels)} ${count}\n`;
}

/**
 * One line: a scrape has one target, and a join on `job` and `instance` must match one series. Uses
 * the process's resource if that scope is part of the exposition.
 */
function targetInfo(gathered: readonly Gathered[], format: ExpositionFormat): string {
  const shown = gathered.find(({ scope }) => scope.name === PROCESS) ?? gathered[0];
  if (shown === undefined) return "";
  const head =
    format === "openmetrics"
      ? "# HELP target Target metadata.\n# TYPE target info\n"
      : "# HELP target_info Target metadata.\n# TYPE target_info gauge\n";
  return `${head}${sample("target_info", targetLabels(shown.scope))} 1\n`;
}
