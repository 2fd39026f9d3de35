/** Declares `steward jobs`. */
import { defineCommand, refuseOperands } from "./command.ts";
import type { JobsArguments } from "./remote/jobs.ts";
import { REMOTE_HELP, remoteArguments, remoteOptions } from "./remote/options.ts";

export const jobsCommand = defineCommand({
  name: "jobs",
  usage: "jobs [ID|cancel ID]",
  summary: "list jobs, follow or cancel one",
  asksDaemon: true,
  words: ["cancel"],
  options: {
    ...remoteOptions,
    follow: { short: "f" },
    limit: { value: { from: 1, to: 200, whole: true } },
  },
  parse(parsed, misuse): JobsArguments {
    const [first, second] = parsed.positionals;
    const isCancel = first === "cancel";
    refuseOperands(parsed, isCancel ? 2 : 1, misuse);
    if (isCancel && second === undefined) throw misuse("cancel needs the ID of a job");
    if (isCancel && parsed.switches.has("follow")) throw misuse("--follow does not go with cancel");
    return {
      ...remoteArguments(parsed, misuse),
      action: isCancel ? "cancel" : first === undefined ? "list" : "show",
      id: (isCancel ? second : first) ?? "",
      follow: parsed.switches.has("follow"),
      limit: parsed.numbers.get("limit"),
    };
  },
  async run(options, context) {
    const { jobs } = await import("./remote/jobs.ts");
    return jobs(options, context);
  },
  help: `Lists the daemon's syncs, analyses and batch operations, newest first, or shows
one with its result.

Usage:
  steward jobs [OPTIONS] [ID]
  steward jobs [OPTIONS] cancel ID

Options:
  --follow        or -f: print the progress of the job ID, or of the one that
                  runs, until it ends; with --json, one object a line
  --limit N       how many to list, from 1 to 200; default 50
${REMOTE_HELP}
Examples:
  steward jobs
  steward jobs --follow
  steward jobs cancel WyGlOMVSWokedorQ_FNy9

Exits 0 on success, 1 on failure or when a job that was followed did not
complete, 2 on a usage error, 130 on Ctrl-C.
`,
});
