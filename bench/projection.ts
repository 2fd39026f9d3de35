/**
 * `bin/node bench/projection.ts [ROWS]`: a list of rows filtered, sorted and paged: milliseconds of the median and the slowest
 * of 50 queries after one change each, the first ones not yet compiled. Prints one line of JSON per query; the bar is 10 ms for
 * 100,000 rows. Where other processes take the cores, `slowestCpuMs` tells what the slowest query itself took.
 */
import { createProjection } from "../src/kernel/state/projection.ts";
import type { Filter, Order, Projection } from "../src/kernel/state/projection.ts";

interface Row {
  readonly title: string;
  readonly correspondent: string | undefined;
  readonly tags: readonly string[];
  readonly created: number;
  readonly words: number | undefined;
}

type Name = keyof Row;

const WORDS = "invoice contract letter report statement notice receipt policy offer minutes water energy insurance bank telephone rent annual monthly quarterly final".split(" ");

/** A document as an archive lists it; the same for the same number. */
function rowOf(number: number): Row {
  const word = (salt: number): string => WORDS[Math.imul(number + salt, 2_654_435_761) >>> 27] ?? "scan";
  return {
    title: `${word(1)} ${word(2)} ${word(3)} ${number % 97} of ${2_000 + (number % 25)}`, correspondent: number % 11 === 0 ? undefined : `Correspondent ${number % 150}`,
    tags: number % 3 === 0 ? [] : [`tag ${number % 40}`, `tag ${number % 7}`], created: Math.imul(number, 2_654_435_761) >>> 0, words: number % 13 === 0 ? undefined : number % 5_000,
  };
}

const queries: readonly { readonly name: string; readonly filter: Filter<Name>; readonly order: Order<Name>; readonly offset: number }[] = [
  { name: "all by date, first page", filter: [], order: [{ column: "created", descending: true }], offset: 0 },
  { name: "all by date, middle page", filter: [], order: [{ column: "created" }], offset: 50_000 },
  { name: "all by title, middle page", filter: [], order: [{ column: "title" }], offset: 50_000 },
  { name: "title contains, by words and date", filter: [{ column: "title", contains: "Invoice" }], order: [{ column: "words", descending: true }, { column: "created" }], offset: 100 },
  { name: "tag, words and title, by correspondent", filter: [{ column: "tags", equals: "tag 3" }, { column: "words", from: 100, to: 4_000 }, { column: "title", contains: "a" }], order: [{ column: "correspondent" }], offset: 50 },
];

const rows = Number(process.argv[2] ?? 100_000);
const list: Projection<Row, Name> = createProjection<Row, Name>({
  title: { kind: "text", of: (row) => row.title }, correspondent: { kind: "name", of: (row) => row.correspondent }, tags: { kind: "names", of: (row) => row.tags },
  created: { kind: "number", of: (row) => row.created }, words: { kind: "number", of: (row) => row.words },
});
const begin = performance.now();
for (let number = 0; number < rows; number += 1) list.put(number, rowOf(number));
process.stdout.write(`${JSON.stringify({ name: "fill", rows, ms: Math.round(performance.now() - begin), residentMb: Math.round(process.memoryUsage.rss() / 1e6) })}\n`);
for (const { name, filter, order, offset } of queries) {
  const times: number[] = [];
  let slowestCpuMs = 0;
  let total = 0;
  for (let round = 0; round < 50; round += 1) {
    list.put(round, rowOf(round + rows));
    const cpu = process.threadCpuUsage();
    const start = performance.now();
    total = list.select(filter, order, { offset, limit: 100 }).total;
    times.push(performance.now() - start);
    const { user, system } = process.threadCpuUsage(cpu);
    slowestCpuMs = Math.max(slowestCpuMs, (user + system) / 1_000);
  }
  times.sort((left, right) => left - right);
  process.stdout.write(`${JSON.stringify({ name, rows, total, medianMs: Number(times[25]?.toFixed(1)), slowestMs: Number(times[49]?.toFixed(1)), slowestCpuMs: Number(slowestCpuMs.toFixed(1)) })}\n`);
}
