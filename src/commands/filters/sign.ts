/** `steward sign`: JSON Lines in, signatures out. */
import { brokenRules, defaultParameters } from "../../dedup/analysis/parameters.ts";
import type { AnalysisParameters } from "../../dedup/analysis/parameters.ts";
import { signatureHeader } from "../../dedup/filters/header.ts";
import { signStream } from "../../dedup/filters/sign-stream.ts";
import { printable } from "../../kernel/base/text/printable.ts";
import { misuseOf } from "../command.ts";
import { optionOf } from "../dedup/parameters.ts";
import type { SignArguments } from "./arguments.ts";
import { runFilter } from "./run.ts";

/** Lines that are named on standard error; the others are counted. */
const MAX_REMARKS = 1_000;

/** Runs the command; resolves with its exit code. Throws what made the run fail. */
export async function sign(options: SignArguments): Promise<number> {
  const parameters = parametersOf(options.parameters);
  const report = createReport(options.quiet);
  const end = await runFilter(options, async function* ({ pool, signal, sources }) {
    yield signatureHeader(parameters, options.withText);
    yield* signStream({
      sources,
      fields: { id: options.idField, text: options.textField },
      parameters,
      withText: options.withText,
      pool,
      signal,
      read: report.add,
    });
  });
  return typeof end === "number" ? end : report.end(end === "done");
}

/** Bands that are not given are no more than there are values. Throws a usage error. */
function parametersOf(given: SignArguments["parameters"]): AnalysisParameters {
  const parameters = { ...defaultParameters, ...given };
  if (given.numBands === undefined)
    parameters.numBands = Math.min(parameters.numBands, parameters.numPermutations);
  const [broken] = brokenRules(parameters, optionOf);
  if (broken !== undefined) throw misuseOf("sign")(`${optionOf(broken.name)} ${broken.rule}`);
  return parameters;
}

interface Report {
  add: Parameters<typeof signStream>[0]["read"];
  /** Names what was left out; the exit code. */
  end(complete: boolean): number;
}

function createReport(quiet: boolean): Report {
  const counts = new Map<string, number>();
  let documents = 0;
  let remarks = 0;
  const complain = (text: string): void => void process.stderr.write(`steward sign: ${text}\n`);
  return {
    add(name, result) {
      documents += result.documents;
      for (const { number, reason, wrong } of result.leftOut) {
        counts.set(reason, (counts.get(reason) ?? 0) + 1);
        if (quiet || wrong === undefined || remarks === MAX_REMARKS) continue;
        remarks += 1;
        complain(`${printable(name)}: line ${number} ${printable(wrong)}; it was skipped`);
      }
    },
    end(complete) {
      if (counts.size > 0 && !quiet) {
        const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`);
        complain(`skipped lines: ${reasons.join(", ")}`);
      }
      if (!complete || documents > 0 || counts.size === 0) return 0;
      complain("nothing was signed: no line is a document");
      return 1;
    },
  };
}
