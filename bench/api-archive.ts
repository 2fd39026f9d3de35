/**
 * The simulated Paperless-ngx of bench/api.ts in a process of its own: `bin/node
 * bench/api-archive.ts '{"documents":1000,"groups":100}'` prints one line of JSON when it listens
 * and ends on SIGTERM. Each group is two documents with the same text but for a word. A line `change N` on
 * standard input gives the last N documents other texts, and is answered with a line.
 */
import { createInterface } from "node:readline";
import { startPaperless } from "../src/demo/paperless/paperless.ts";
import { systemClock } from "../src/kernel/base/clock.ts";
import { systemIds } from "../src/kernel/base/ids.ts";
import { createLog } from "../src/kernel/base/log.ts";

/** What is in the archive. */
export interface ArchiveSize {
  readonly documents: number;
  readonly groups: number;
}

/** Printed once, when it listens. */
export interface ArchiveReady {
  readonly url: string;
  readonly token: string;
}

const WORDS = 120;
const VOCABULARY = 50_000;
const CORRESPONDENTS = 200;
const TAGS = 50;

/** Invented words, the same for the same number. */
function wordsOf(number: number): string[] {
  return Array.from({ length: WORDS }, (_, index) => {
    let mixed = number * WORDS + index;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85_eb_ca_6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2_b2_ae_35);
    return `word${((mixed ^ (mixed >>> 16)) >>> 0) % VOCABULARY}`;
  });
}

function textOf(number: number, { groups }: ArchiveSize): string {
  const isCopy = number < 2 * groups && number % 2 === 1;
  const words = wordsOf(isCopy ? number - 1 : number);
  if (isCopy) words[WORDS - 1] = "changed";
  return words.join(" ");
}

const size = JSON.parse(process.argv[2] ?? "{}") as ArchiveSize;
const archive = await startPaperless({
  clock: systemClock,
  ids: systemIds,
  log: createLog({
    level: "error",
    format: "text",
    write: (line) => void process.stderr.write(line),
    now: () => systemClock.now(),
  }),
  fill(estate) {
    for (let tag = 1; tag <= TAGS; tag++) estate.addReference("tags", { name: `tag ${tag}` });
    for (let number = 1; number <= CORRESPONDENTS; number++)
      estate.addReference("correspondents", { name: `Correspondent ${number}` });
    for (let number = 0; number < size.documents; number++)
      estate.add({
        title: `Document ${number}`,
        content: textOf(number, size),
        tags: [1 + (number % TAGS)],
        correspondent: 1 + (number % CORRESPONDENTS),
      });
  },
});
const ready: ArchiveReady = {
  url: archive.url,
  token: archive.estate.users[0]?.token.use((value) => value) ?? "",
};
process.once("SIGTERM", () => {
  process.stdin.destroy();
  void archive.stop();
});
process.stdout.write(`${JSON.stringify(ready)}\n`);
let changed = size.documents;
createInterface(process.stdin).on("line", (line) => {
  const count = Number(/^change (\d+)$/.exec(line)?.[1] ?? 0);
  for (let id = size.documents - count + 1; id <= size.documents; id++)
    archive.estate.edit(id, { content: wordsOf(changed++).join(" ") });
  process.stdout.write(`changed ${count}\n`);
});
