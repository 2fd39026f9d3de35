/** The outputs beside the printed groups: files, and data on standard output. */
import { tmpdir } from "node:os";
import { dirname, resolve } from "node:path";
import type { RecordBytes } from "../../dedup/archives/jsonl.ts";
import { scorePairs } from "../../dedup/plan/score-pairs.ts";
import { createRejections } from "../../dedup/review/rejections.ts";
import { findRedundant } from "../../dedup/redundant.ts";
import type { ReviewedGroup } from "../../dedup/review/decisions.ts";
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import { readStoredText } from "../../dedup/stored-text.ts";
import { systemClock } from "../../kernel/base/clock.ts";
import { formatCsv } from "../report/csv.ts";
import { formatList } from "../report/list.ts";
import { writeAll } from "../report/output.ts";
import type { Pieces } from "../report/output.ts";
import { counted, formatCount } from "../report/text.ts";
import type { WrittenFile } from "../report/types.ts";
import type { DedupArguments } from "./arguments.ts";
import { deletePlanOutput, refuseCarriedOut } from "./delete-plan.ts";
import type { Findings } from "./find.ts";
import { checkOutputFiles, writeOutputFile } from "./output-file.ts";
import type { Run } from "./run.ts";
import { reportOf, statusName } from "./report.ts";
import { createSpools } from "./spool.ts";
import { formatUnique, takeVersions } from "./unique.ts";

/** The outputs of one run; disposing deletes what they kept. */
export interface Outputs extends AsyncDisposable {
  /** Keeps what can be read once only for `--unique`. */
  readonly record: ((path: string) => RecordBytes) | undefined;
  /** Whether data go to standard output, so that nothing else may. */
  readonly usesStandardOutput: boolean;
  /** Writes all of them; resolves with the files. */
  write(findings: Findings): Promise<readonly WrittenFile[]>;
}

/** One output, once the findings are there. */
interface Output {
  readonly option: string;
  /** `-` is standard output. */
  readonly path: string;
  readonly pieces: Pieces;
  readonly holds: string;
}

/** Throws before anything is read when an output cannot be written. */
export async function prepareOutputs(run: Run, options: DedupArguments): Promise<Outputs> {
  const files = namedOutputs(options).filter(({ path }) => path !== "-");
  await checkOutputFiles(files, options);
  if (options.deletePlan !== undefined) await refuseCarriedOut(options.deletePlan);
  const { unique } = options;
  const spools = createSpools(
    unique === undefined || unique === "-" ? tmpdir() : dirname(resolve(unique)),
  );
  const versions = await takeVersions(unique === undefined ? [] : options.paths);

  async function outputsOf(findings: Findings): Promise<Output[]> {
    const { corpus, groups } = findings;
    const { csv, html, list, nul } = options;
    const documents = groups.reduce((sum, { members }) => sum + members.length, 0);
    const inGroups = `${counted(groups.length, "group")} of ${counted(documents, "document")}`;
    const outputs: Output[] = [];
    if (csv !== undefined)
      outputs.push({
        option: "--csv",
        path: csv,
        pieces: formatCsv(
          findings.reviewed.map(({ group, status }) => ({ group, status: statusName(status) })),
          corpus,
        ),
        holds: inGroups,
      });
    if (html !== undefined) {
      const { formatHtml } = await import("../report/html/report.ts");
      outputs.push({
        option: "--html",
        path: html,
        pieces: formatHtml({
          summary: reportOf(findings, run.parameters, false).summary,
          parameters: { ...run.parameters },
          groups,
          text: (number) => readStoredText(corpus.text(number) ?? new Uint8Array()),
          atMs: systemClock.now(),
          signal: run.signal,
        }),
        holds: inGroups,
      });
    }
    if (options.deletePlan !== undefined)
      outputs.push(await deletePlanOutput(run, findings, options.deletePlan, options.all));
    if (unique !== undefined) {
      const redundant = await redundantOf(run, findings, () => false);
      outputs.push({
        option: "--unique",
        path: unique,
        pieces: formatUnique({ ...run, corpus, redundant, versions, spools }),
        holds: `${formatCount(corpus.size - redundant.size)} of ${counted(corpus.size, "document")}, ${formatCount(redundant.size)} redundant left out`,
      });
    }
    if (list) {
      const sharesFile = (number: number): boolean => corpus.source(number)?.sharesFile === true;
      const redundant = await redundantOf(run, findings, sharesFile);
      const names = [...redundant].sort((a, b) => a - b).map((each) => corpus.document(each).ref);
      const escape = process.stdout.isTTY && !nul;
      outputs.push({
        option: "--list",
        path: "-",
        pieces: formatList(names, { nul, escape }),
        holds: counted(names.length, "redundant document"),
      });
    }
    return outputs;
  }

  return {
    record: unique === undefined ? undefined : spools.recorder,
    usesStandardOutput: options.list || namedOutputs(options).some(({ path }) => path === "-"),
    async write(findings) {
      const written: WrittenFile[] = [];
      for (const output of await outputsOf(findings)) {
        if (output.path === "-") await writeAll(output.pieces, process.stdout, run.signal);
        else await writeOutputFile(output, output.pieces, run.signal);
        if (output.path !== "-") written.push(output);
      }
      return written;
    },
    [Symbol.asyncDispose]: () => spools.remove(),
  };
}

function namedOutputs({
  csv,
  html,
  unique,
  deletePlan,
}: DedupArguments): { option: string; path: string }[] {
  return Object.entries({
    "--csv": csv,
    "--html": html,
    "--unique": unique,
    "--delete-plan": deletePlan,
  }).flatMap(([option, path]) => (path === undefined ? [] : [{ option, path }]));
}

async function redundantOf(
  { parameters, pool, signal }: Run,
  { corpus, reviewed, decisions }: Findings,
  stays: (number: number) => boolean,
): Promise<ReadonlySet<number>> {
  const rejected = createRejections(decisions?.rejections ?? []);
  const isPending = ({ status }: ReviewedGroup): boolean => status === GroupStatus.PENDING;
  const members = ({ group }: ReviewedGroup): readonly number[] => group.found.members;
  return await findRedundant({
    groups: reviewed.filter(isPending).map(({ group: { found, members } }) => ({
      found,
      primary: members.find(({ primary }) => primary)?.number ?? -1,
    })),
    // Of a group that was ignored all documents stay.
    stays: new Set(
      reviewed.flatMap((each) => (isPending(each) ? members(each).filter(stays) : members(each))),
    ),
    isTruncated: (number) => corpus.document(number).truncated === true,
    async verify(pairs) {
      const scores = await scorePairs({ ...corpus, pairs, parameters, pool, signal });
      return scores.map(
        (score, at) => score !== undefined && !rejected(...(pairs[at] ?? [-1, -1])),
      );
    },
  });
}
