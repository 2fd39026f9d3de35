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
    include: { value: "text", many: true },
    exclude: { value: "text", many: true },
    "id-field": { value: "text" },
    "text-field": { value: "text" },
    skipped: {},
    json: {},
    quiet: {},
  },
  parse: ({ positionals: paths, switches, texts, numbers, lists }, misuse): DedupArguments => {
    for (const [name, values] of [...texts, ...lists])
      if ([values].flat().includes("")) throw misuse(`--${name} must not be empty`);
    if (paths.length === 0)
      throw misuse("at least one PATH is needed: a folder, a file, or - for standard input");
    if (paths.includes("")) throw misuse("a PATH must not be empty");
    if (paths.filter((path) => path === "-").length > 1)
      throw misuse("standard input (-) can be read only once");
    return {
      paths,
      include: lists.get("include") ?? [],
      exclude: lists.get("exclude") ?? [],
      idField: texts.get("id-field"),
      textField: texts.get("text-field"),
      skipped: switches.has("skipped"),
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

PATH is a folder, read recursively, a file, or - for JSONL on standard input.
Read are text, source code, Markdown, Org, TeX, CSV, HTML, XML, RTF, PDF with a
text layer, DOCX, ODT, EPUB and mail with its attachments, each also packed by
gzip, zstd or bzip2. What a file is, is decided by its content. A JSONL file has
one {"id": ..., "content": ..., "title": ...} per line. Documents of all PATHs
are compared with each other.

Options:
  --threshold N   minimum confidence of a pair, from 0 to 1 (0.75)
  --min-words N   skip documents with fewer words, from 1 to 1000 (20)
  --workers N     worker threads, from 1 to 256 (one per core)
  --state DIR     keep signatures in DIR, so that the next run only computes
                  those of new documents; without it nothing is stored
  --include GLOB  of folders read only files that match, e.g. '*.pdf' or
                  'letters/**'; may be given several times. Hidden files and
                  node_modules are read only if a GLOB names them: '.config/**'
  --exclude GLOB  leave out matching files and folders; may be given several
                  times
  --id-field F    the field of a JSONL line that holds its id (id; the number of
                  the line where there is none)
  --text-field F  the field that holds the text (content, else text)
  --skipped       list every file and line that was skipped, and why
  --json          print one JSON object with summary, parameters and groups
  --quiet         no progress on standard error
  --help          print this text

Examples:
  steward dedup ~/Documents
  steward dedup --threshold 0.9 scans/ export.jsonl
  steward dedup --json --quiet scans/ > groups.json
  steward dedup --include '*.pdf' --include '*.docx' ~/Documents
  steward dedup --id-field url --text-field body pages.jsonl.zst

In each group * marks the document that Steward would keep. Nothing is changed
or deleted. Exits 0 on success, even when documents were skipped, 1 on failure
or when there was something to read but no document, 2 on a usage error, 130 on
Ctrl-C.
`,
});
