/** Declares `steward sign`. */
import { defineCommand } from "./command.ts";
import { parameterArguments, parameterTable } from "./dedup/parameter-options.ts";
import type { SignArguments } from "./filters/arguments.ts";

const { "min-words": minWords, ngram, permutations, bands } = parameterTable;

export const signCommand = defineCommand({
  name: "sign",
  usage: "sign [FILE...]",
  summary: "print signatures of documents, for a cluster",
  options: {
    ...(minWords && { "min-words": minWords }),
    ...(ngram && { ngram }),
    ...(permutations && { permutations }),
    ...(bands && { bands }),
    text: {},
    "id-field": { value: "text" },
    "text-field": { value: "text" },
    workers: { value: { from: 1, to: 256, whole: true } },
    quiet: {},
  },
  parse(parsed, misuse): SignArguments {
    const { positionals: files, switches, texts, numbers } = parsed;
    for (const [name, value] of texts)
      if (value === "") throw misuse(`--${name} must not be empty`);
    if (files.includes("")) throw misuse("a FILE must not be empty");
    if (files.filter((file) => file === "-").length > 1)
      throw misuse("standard input (-) can be read only once");
    return {
      files: files.length === 0 ? ["-"] : files,
      idField: texts.get("id-field"),
      textField: texts.get("text-field"),
      withText: switches.has("text"),
      quiet: switches.has("quiet"),
      workers: numbers.get("workers"),
      parameters: parameterArguments(parsed),
    };
  },
  async run(options) {
    const { sign } = await import("./filters/sign.ts");
    return sign(options);
  },
  help: `Prints the signature of each document of JSON Lines, for an engine that finds
near-duplicates on many machines.

Usage:
  steward sign [OPTIONS] [FILE...]

FILE holds one {"id": ..., "content": ...} per line, plain or packed by gzip,
zstd or bzip2; - or no FILE is standard input. The first line of the output
names the format and all parameters. Then each document has a line, in order,
with id, identity (SHA-256 of the normalised text), words, bands (keys that
similar texts share) and sketch (base64, a byte for each value). Keeps nothing.

Options:
  --text          also print the normalised text, which steward verify reads
  --min-words N   skip documents with fewer words, from 1 to 1000 (20)
  --ngram N       words in a phrase, from 1 to 10 (3)
  --permutations N
                  values of a signature, from 16 to 1024 (256)
  --bands N       bands of a signature, from 1 to 1024, at most --permutations
                  (64, or --permutations if that is less)
  --id-field F    the field of a line that holds its id (id; the number of the
                  line where there is none)
  --text-field F  the field that holds the text (content, else text)
  --workers N     worker threads, from 1 to 256 (one per core)
  --quiet         do not name skipped lines on standard error
  --help          print this text

Examples:
  steward sign pages.jsonl.zst > signatures.jsonl
  produce-documents | steward sign --text --workers 1 | consume-signatures

Exits 0 on success, even when lines were skipped, 1 on failure or when there was
something to read but no document, 2 on a usage error, 130 on Ctrl-C.
`,
});
