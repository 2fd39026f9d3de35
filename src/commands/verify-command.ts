/** Declares `steward verify`. */
import { defineCommand } from "./command.ts";
import { parameterArguments, parameterTable } from "./dedup/parameter-options.ts";
import type { VerifyArguments } from "./filters/arguments.ts";

const scoreOptions = ["threshold", "jaccard-weight", "fuzzy-weight", "fuzzy-sample", "penalty"];

export const verifyCommand = defineCommand({
  name: "verify",
  usage: "verify [FILE]",
  summary: "score candidate pairs, for a cluster",
  options: {
    ...Object.fromEntries(
      Object.entries(parameterTable).filter(([option]) => scoreOptions.includes(option)),
    ),
    cover: {},
    workers: { value: { from: 1, to: 256, whole: true } },
  },
  parse(parsed, misuse): VerifyArguments {
    const { positionals: files, switches, numbers } = parsed;
    if (files.includes("")) throw misuse("a FILE must not be empty");
    if (files.length > 1) throw misuse("only one FILE can be read at a time");
    const [jaccard, fuzzy] = [numbers.get("jaccard-weight"), numbers.get("fuzzy-weight")];
    if (jaccard !== undefined && fuzzy !== undefined && jaccard + fuzzy !== 100)
      throw misuse("--jaccard-weight and --fuzzy-weight must add up to 100");
    return {
      files: files.length === 0 ? ["-"] : files,
      cover: switches.has("cover"),
      workers: numbers.get("workers"),
      parameters: parameterArguments(parsed),
    };
  },
  async run(options) {
    const { verify } = await import("./filters/verify.ts");
    return verify(options);
  },
  help: `Prints exact scores of candidate pairs, or the groups that they form, for an
engine that finds near-duplicates on many machines.

Usage:
  steward verify [OPTIONS] [FILE]

FILE, or standard input, begins with the first line that steward sign wrote.
Then each component is a few lines of JSON: one that begins it, its texts, its
pairs by the positions of their texts with the number of equal sketch bytes,
and one that ends it:

  {"component": "7"}
  {"id": "a", "identity": "5e88...", "text": "..."}
  {"id": "b", "identity": "ba78...", "text": "..."}
  {"pairs": [[0, 1, 201]]}
  {"end": "7"}

The first line of the output names the format and all parameters. Then each pair
has a line with its scores, null where they were not needed to reject it. Keeps
nothing.

Options:
  --cover         print groups instead: a centre, and its members with their
                  scores; needs identities and sketch bytes
  --threshold N   minimum confidence of a pair, from 0 to 1 (0.75)
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
  --workers N     worker threads, from 1 to 256 (one per core)
  --help          print this text

Examples:
  steward verify components.jsonl > scores.jsonl
  produce-components | steward verify --cover --workers 1 | consume-groups

Exits 0 on success, 1 on failure, 2 on a usage error, 130 on Ctrl-C.
`,
});
