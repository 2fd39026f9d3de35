/** Declares `steward duplicates`. */
import { defineCommand, quote, refuseOperands, type Misuse } from "./command.ts";
import type { ParsedOptions } from "./options.ts";
import type { DuplicatesArguments } from "./remote/duplicates.ts";
import { REMOTE_HELP, remoteArguments, remoteOptions } from "./remote/options.ts";

const STATUSES = ["pending", "false_positive", "ignored", "deleted"] as const;
const MAX_OFFSET = 2_147_483_647;

export const duplicatesCommand = defineCommand({
  name: "duplicates",
  usage: "duplicates",
  summary: "list groups, show one, decide about one",
  asksDaemon: true,
  words: ["list", "show", "status", "delete"],
  options: {
    ...remoteOptions,
    status: { value: STATUSES },
    search: { value: "text" },
    limit: { value: { from: 1, to: 100, whole: true } },
    offset: { value: { from: 0, to: MAX_OFFSET, whole: true } },
    merge: {},
    yes: {},
  },
  parse,
  async run(options, context) {
    const { duplicates } = await import("./remote/duplicates.ts");
    return duplicates(options, context);
  },
  help: `Works on the groups of near-duplicates in the daemon's archives.

Usage:
  steward duplicates [OPTIONS] [list]
  steward duplicates [OPTIONS] show ID
  steward duplicates [OPTIONS] status ID pending|false_positive|ignored
  steward duplicates [OPTIONS] delete ID... [--merge] --yes

A group that is called false_positive rejects every pair of its members, now and
in later analyses; another status takes that back.

delete moves the documents of groups that need not stay to the trash of
Paperless-ngx. Without --yes it only says which ones.

Options:
  --status STATUS only groups with this status: pending, false_positive, ignored
                  or deleted; default: all but deleted
  --search TEXT   only groups with this in the title of a document
  --merge         with delete: first copy tags, correspondent, type, date and
                  notes to the document that stays
  --yes           with delete: do it and follow it to its end; with --json, one
                  object a line
  --limit N       how many to list, from 1 to 100; default 50
  --offset N      how many to leave out first, from 0 to ${MAX_OFFSET}
${REMOTE_HELP}
Examples:
  steward duplicates
  steward duplicates --search invoice --json
  steward duplicates show 6VBeL6O2DlEop9DGjnchh
  steward duplicates status 6VBeL6O2DlEop9DGjnchh false_positive
  steward duplicates delete 6VBeL6O2DlEop9DGjnchh --merge --yes

Exits 0 on success, 1 on failure, 2 on a usage error, 130 on Ctrl-C.
`,
});

function parse(parsed: ParsedOptions, misuse: Misuse): DuplicatesArguments {
  const { positionals, texts, numbers, switches } = parsed;
  const [action = "list", id, status] = positionals;
  const remote = remoteArguments(parsed, misuse);
  if (action === "list") {
    refuseOperands(parsed, 1, misuse);
    return {
      ...remote,
      action,
      status: texts.get("status"),
      search: texts.get("search"),
      limit: numbers.get("limit"),
      offset: numbers.get("offset"),
    };
  }
  const stray = ["status", "search", "limit", "offset"].find(
    (name) => texts.has(name) || numbers.has(name),
  );
  if (stray !== undefined) throw misuse(`--${stray} goes with list`);
  if (action === "delete") {
    const ids = positionals.slice(1);
    if (ids.length === 0) throw misuse("delete needs the IDs of groups");
    return { ...remote, action, ids, merge: switches.has("merge"), yes: switches.has("yes") };
  }
  const flag = ["merge", "yes"].find((name) => switches.has(name));
  if (flag !== undefined) throw misuse(`--${flag} goes with delete`);
  if (action === "show") {
    if (id === undefined) throw misuse("show needs the ID of a group");
    refuseOperands(parsed, 2, misuse);
    return { ...remote, action, id };
  }
  if (action !== "status")
    throw misuse(`unknown action ${quote(action)}: list, show, status or delete`);
  if (id === undefined || status === undefined)
    throw misuse("status needs the ID of a group and its new status");
  if (!["pending", "false_positive", "ignored"].includes(status))
    throw misuse(`the status must be pending, false_positive or ignored, got ${quote(status)}`);
  refuseOperands(parsed, 3, misuse);
  return { ...remote, action, id, status };
}
