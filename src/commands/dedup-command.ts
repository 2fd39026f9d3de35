/** Declares `steward dedup`. */
import { defineCommand } from "./command.ts";
import type { DedupArguments } from "./dedup.ts";

export const dedupCommand = defineCommand({
  name: "dedup",
  usage: "dedup PATH...",
  summary: "find duplicates once, print them and exit",
  options: {
    // The ranges are those of the API's settings.
    threshold: { value: { from: 0, to: 1, whole: false } },
    "min-words": { value: { from: 1, to: 1000, whole: true } },
    workers: { value: { from: 1, to: 256, whole: true } },
    state: { value: "text" },
    json: {},
    quiet: {},
  },
  parse: ({ positionals: paths, switches, texts, numbers }, misuse): DedupArguments => {
    if (texts.get("state") === "") throw misuse("--state needs a folder");
    if (paths.length === 0)
      throw misuse("at least one PATH is needed: a folder, a JSONL file, or - for standard input");
    if (paths.includes("")) throw misuse("a PATH must not be empty");
    if (paths.filter((path) => path === "-").length > 1)
      throw misuse("standard input (-) can be read only once");
    return {
      paths,
      json: switches.has("json"),
      quiet: switches.has("quiet"),
      state: texts.get("state"),
      threshold: numbers.get("threshold"),
      minWords: numbers.get("min-words"),
      workers: numbers.get("workers"),
    };
  },
  async run(options) {
    const { dedup } = await import("./dedup.ts");
    return dedup(options);
  },
  help: `Finds near-duplicate documents and prints them in groups.

Usage:
  steward dedup [OPTIONS] PATH...

PATH is a folder, read recursively (plain text, Markdown, HTML), or one such
file, or a JSONL file with one {"id": ..., "content": ..., "title": ...} per
line, or - for JSONL on standard input. Documents of all PATHs are compared with
each other.

Options:
  --threshold N   minimum confidence of a pair, from 0 to 1 (0.75)
  --min-words N   skip documents with fewer words, from 1 to 1000 (20)
  --workers N     worker threads, from 1 to 256 (one per core)
  --state DIR     keep signatures in DIR, so that the next run only computes
                  those of new documents; without it nothing is stored
  --json          print one JSON object with summary, parameters and groups
  --quiet         no progress on standard error
  --help          print this text

Examples:
  steward dedup ~/Documents
  steward dedup --threshold 0.9 scans/ export.jsonl
  steward dedup --json --quiet scans/ > groups.json
  zcat export.jsonl.gz | steward dedup -

In each group * marks the document that Steward would keep. Nothing is changed
or deleted. Exits 0 on success, even when documents were skipped, 1 on failure,
2 on a usage error, 130 on Ctrl-C.
`,
});
