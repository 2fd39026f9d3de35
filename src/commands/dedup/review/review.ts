/**
 * `steward dedup review`: finds the groups and asks a person about each. A decision is durable
 * before the next group shows.
 */
import type { ReadStream, WriteStream } from "node:tty";
import type { Corpus } from "../../../dedup/corpus.ts";
import { GroupStatus } from "../../../gen/steward/dedup/v1/groups_pb.ts";
import type { Decisions, ReviewedGroup } from "../../../dedup/review/decisions.ts";
import { readStoredText } from "../../../dedup/stored-text.ts";
import { assert, StewardError } from "../../../kernel/base/errors.ts";
import { counted } from "../../report/text.ts";
import { misuseOf } from "../../command.ts";
import type { AnalysisArguments, ReviewArguments } from "../arguments.ts";
import { findDuplicates } from "../find.ts";
import { withRun } from "../run.ts";
import { withStores } from "../with-stores.ts";
import { reviewFolder } from "./folder.ts";
import { createReview } from "./session.ts";
import { styleFor } from "./style.ts";
import { openTerminal } from "./terminal.ts";

/** Runs the review; resolves with its exit code. Throws what made it fail. */
export async function review(given: ReviewArguments): Promise<number> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY)
    throw misuseOf("dedup review")(
      "needs a terminal for its keys and its screen; without one use steward dedup --json and the daemon's API",
    );
  const options = { ...given, state: given.state ?? reviewFolder(process.env) };
  return await withRun(options, (run) =>
    withStores(run, async (stores) => {
      const { corpus, reviewed, kept, decisions } = await findDuplicates(run, stores);
      run.progress.end("done");
      assert(decisions !== undefined, "a review has a state folder");
      const open = given.all ? [...reviewed, ...kept] : reviewed.filter(isOpen);
      if (open.length === 0) {
        stdout.write(nothingToReview(reviewed));
        return 0;
      }
      const last = await reviewAll(open, { corpus, decisions, signal: run.signal }, stdin, stdout);
      stdout.write(summarise(last, options));
      return 0;
    }),
  );
}

interface ReviewDeps {
  readonly corpus: Corpus;
  readonly decisions: Decisions;
  readonly signal: AbortSignal;
}

/** Resolves with the groups as they were left. */
async function reviewAll(
  groups: readonly ReviewedGroup[],
  { corpus, decisions, signal }: ReviewDeps,
  input: ReadStream,
  output: WriteStream & { readonly fd: number },
): Promise<readonly ReviewedGroup[]> {
  const hangUp = new AbortController();
  const onHangUp = (): void => hangUp.abort(new StewardError("cancelled", "the terminal is gone"));
  process.once("SIGHUP", onHangUp);
  const either = AbortSignal.any([signal, hangUp.signal]);
  const terminal = openTerminal(input, output, either);
  try {
    const session = createReview(groups, {
      terminal,
      decisions,
      style: styleFor(process.env),
      text: (number) => textOf(corpus, number),
    });
    await session.run();
    return session.groups;
  } finally {
    terminal.close();
    process.off("SIGHUP", onHangUp);
  }
}

function isOpen({ accepted, status }: ReviewedGroup): boolean {
  return !accepted && status === GroupStatus.PENDING;
}

function textOf(corpus: Corpus, number: number): string {
  const stored = corpus.text(number);
  return stored === undefined ? "" : readStoredText(stored);
}

function nothingToReview(groups: readonly ReviewedGroup[]): string {
  return groups.length === 0
    ? "There are no groups of near-duplicates.\n"
    : `All ${counted(groups.length, "group")} were decided before; --all shows them again.\n`;
}

function summarise(groups: readonly ReviewedGroup[], { state = "" }: AnalysisArguments): string {
  const accepted = groups.filter((group) => group.accepted).length;
  const open = groups.filter(isOpen).length;
  const figures = [
    `${accepted} accepted`,
    `${groups.length - accepted - open} not duplicates`,
    `${open} open`,
  ].join(", ");
  const next = accepted > 0 ? "Next: steward dedup --delete-plan FILE with the same PATHs.\n" : "";
  return `${counted(groups.length, "group")}: ${figures}. Stored in ${state}.\n${next}`;
}
