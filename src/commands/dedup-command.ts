/** Declares `steward dedup`. */
import { defineCommand } from "./command.ts";
import type { Misuse } from "./command.ts";
import type { DedupArguments, ModeArguments } from "./dedup/arguments.ts";
import { modeArguments, modeOptions, planArguments, runMode } from "./dedup/modes.ts";
import { analysisArguments, analysisOptions } from "./dedup/options.ts";

/** Standard output has one use, a file one option. */
function checkOutputs(given: DedupArguments, misuse: Misuse): void {
  const { csv, html, unique, deletePlan, list, json, explain } = given;
  const named = {
    "--csv": csv,
    "--html": html,
    "--unique": unique,
    "--delete-plan": deletePlan,
  };
  const files = Object.entries(named).flatMap(([option, path]) =>
    path === undefined ? [] : [{ option, path }],
  );
  if (explain !== undefined) {
    const other = list ? "--list" : files[0]?.option;
    if (other !== undefined) throw misuse(`--explain and ${other} exclude each other`);
  }
  const toStandardOutput = [
    ...(json ? ["--json"] : []),
    ...(list ? ["--list"] : []),
    ...files.filter(({ path }) => path === "-").map(({ option }) => `${option} -`),
  ];
  if (toStandardOutput.length > 1)
    throw misuse(`${toStandardOutput.join(" and ")} would both write to standard output`);
  for (const [at, { option, path }] of files.entries()) {
    const same = files.slice(0, at).find((other) => path !== "-" && other.path === path);
    if (same !== undefined) throw misuse(`${same.option} and ${option} name the same file`);
  }
}

export const dedupCommand = defineCommand({
  name: "dedup",
  usage: "dedup PATH...",
  summary: "find duplicates once, print them and exit",
  options: {
    ...analysisOptions,
    skipped: {},
    json: {},
    csv: { value: "text" },
    html: { value: "text" },
    unique: { value: "text" },
    list: {},
    null: { short: "0", goesWith: "list" },
    explain: { value: "pair" },
    "fail-on-duplicates": {},
    color: { value: ["auto", "always", "never"] },
    ...modeOptions,
  },
  parse(parsed, misuse): DedupArguments | ModeArguments {
    const mode = modeArguments(parsed, misuse);
    if (mode !== undefined) return mode;
    const { switches, texts, lists } = parsed;
    const [first, second] = lists.get("explain") ?? [];
    const given: DedupArguments = {
      ...analysisArguments(parsed, misuse),
      ...planArguments(parsed, misuse),
      skipped: switches.has("skipped"),
      json: switches.has("json"),
      list: switches.has("list"),
      nul: switches.has("null"),
      explain: first === undefined || second === undefined ? undefined : [first, second],
      csv: texts.get("csv"),
      html: texts.get("html"),
      unique: texts.get("unique"),
      failOnDuplicates: switches.has("fail-on-duplicates"),
      color: (texts.get("color") ?? "auto") as DedupArguments["color"],
    };
    checkOutputs(given, misuse);
    return given;
  },
  async run(options) {
    if ("mode" in options) return runMode(options);
    const { dedup } = await import("./dedup/dedup.ts");
    return dedup(options);
  },
  help: `Finds near-duplicate documents and prints them in groups.

Usage:
  steward dedup [OPTIONS] PATH...
  steward dedup review [--all] [OPTIONS] PATH...
  steward dedup --apply-plan FILE | --undo-plan FILE [--dry-run]

PATH is a folder, read recursively, a file, or - for JSONL on standard input.
Read are text, source code, Markdown, Org, TeX, CSV, HTML, XML, RTF, PDF with a
text layer, DOCX, ODT, EPUB and mail with its attachments, each also packed by
gzip, zstd or bzip2. What a file is, is decided by its content. A JSONL file has
one {"id": ..., "content": ..., "title": ...} per line. Documents of all PATHs
are compared with each other.

Options:
  --threshold N   minimum confidence of a pair, from 0 to 1 (0.75)
  --min-words N   skip documents with fewer words, from 1 to 1000 (20)
  --ngram N       words in a phrase, from 1 to 10 (3)
  --jaccard-weight N
                  weight of the shared phrases in the confidence, in percent,
                  from 0 to 100 (60); --fuzzy-weight is the rest
  --fuzzy-weight N
                  weight of the likeness letter by letter, in percent,
                  from 0 to 100 (40); --jaccard-weight is the rest
  --fuzzy-sample N
                  characters that the likeness and --penalty look at,
                  from 100 to 100000 (10000)
  --penalty N     how much differing dates, amounts and numbers lower the
                  confidence, in percent, from 0 to 100 (70)
  --permutations N
                  values of a signature, from 16 to 1024 (256)
  --bands N       bands of a signature, from 1 to 1024 (as many as the threshold
                  needs: 64 for 0.75); more find more pairs and take longer
  --workers N     worker threads, from 1 to 256 (one per core)
  --state DIR     keep signatures in DIR, so that the next run only computes
                  those of new documents, and what was decided in a review;
                  without it nothing is stored
  --include GLOB  of folders read only files that match, e.g. '*.pdf' or
                  'letters/**'; may be given several times. Hidden files and
                  node_modules are read only if a GLOB names them: '.config/**'
  --exclude GLOB  leave out matching files and folders; may be given several
                  times
  --id-field F    the field of a JSONL line that holds its id (id; the number of
                  the line where there is none)
  --text-field F  the field that holds the text (content, else text)
  --skipped       list every file and line that was skipped, and why
  --quiet         no progress on standard error
  --color WHEN    auto, always or never (auto: on a terminal, without NO_COLOR)
  --help          print this text

Output, besides the groups for people; with a FILE only the summary is printed.
One of them may be - for standard output:
  --json          print one JSON object with summary, parameters and groups
  --csv FILE      write one row per document of a group, for spreadsheets
  --html FILE     write a page with groups and differences of texts; it needs
                  no network and no server
  --unique FILE   write the documents that stay as JSONL: lines of JSONL byte
                  for byte, other documents with their path and text
  --list          print the names of redundant documents, one a line; mails with
                  attachments, and the attachments, are left out
  --null          or -0: end each name of --list with NUL, as for xargs -0
  --explain A B   print why A and B are duplicates or are not: scores, dates,
                  amounts and numbers, words that differ. A and B are named as
                  in the groups; without PATH they are the files to read
  --fail-on-duplicates  exit 3 when there are duplicates

Decisions and delete plans:
  --delete-plan FILE
                  write which files would go to FILE: the groups' members
                  beside those marked *, of the groups that were accepted in a
                  review; of all groups if there was none. Nothing is deleted
  --all           with --delete-plan: of all groups but those decided otherwise;
                  with review: go through decided groups, too
  --apply-plan FILE
                  move the files of a plan to the trash, each after a check that
                  it and the file that stays for it have not changed
  --undo-plan FILE
                  move them back
  --dry-run       with the last two: check everything, move nothing

Examples:
  steward dedup ~/Documents
  steward dedup --threshold 0.9 scans/ export.jsonl
  steward dedup --html report.html ~/Documents
  steward dedup --unique clean.jsonl train-*.jsonl.zst
  steward dedup --list -0 scans/ | xargs -0 mv -t duplicates/
  steward dedup --explain letter.pdf letter-2.pdf
  steward dedup --include '*.pdf' --include '*.docx' ~/Documents
  steward dedup --id-field url --text-field body pages.jsonl.zst
  steward dedup review ~/Documents
  steward dedup --delete-plan plan.json ~/Documents
  steward dedup --apply-plan plan.json

review goes through the groups on the terminal and stores what you decide in
--state DIR ($XDG_STATE_HOME/steward/dedup). A folder of that name is ./review.

In each group * marks the document that Steward would keep. Nothing is changed
or deleted but by --apply-plan. Exits 0 on success, even when documents were
skipped, 1 on failure or when there was something to read but no document, 2 on
a usage error, 3 when --fail-on-duplicates finds some, 130 on Ctrl-C.
`,
});
