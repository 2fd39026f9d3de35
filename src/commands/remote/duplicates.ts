/** `steward duplicates`: the groups of the daemon's archives, one of them, and its status. */
import type {
  DeleteNonPrimaryResponse,
  GetGroupResponse,
  Group,
  ListGroupsResponse,
  SetGroupStatusResponse,
} from "../../gen/dedup-json.ts";
import { printable } from "../../kernel/base/text/printable.ts";
import { pathOf } from "../../kernel/client/http/url.ts";
import type { CommandContext } from "../command.ts";
import { counted, formatPercent } from "../report/text.ts";
import type { RemoteArguments } from "./options.ts";
import { follow } from "./jobs.ts";
import { runRemote, type RemoteSession } from "./run.ts";
import { tableLines } from "./table.ts";

export type DuplicatesArguments = RemoteArguments &
  (
    | {
        readonly action: "list";
        readonly status: string | undefined;
        readonly search: string | undefined;
        readonly limit: number | undefined;
        readonly offset: number | undefined;
      }
    | { readonly action: "show"; readonly id: string }
    | { readonly action: "status"; readonly id: string; readonly status: string }
    | {
        readonly action: "delete";
        readonly ids: readonly string[];
        readonly merge: boolean;
        /** Without it nothing is deleted. */
        readonly yes: boolean;
      }
  );

export function duplicates(options: DuplicatesArguments, context: CommandContext): Promise<number> {
  return runRemote(options, context, async (session) => {
    if (options.action === "list") return await list(options, session);
    if (options.action === "show") return await show(options.id, session);
    if (options.action === "delete") return await deleteRedundant(options, session);
    return await setStatus(options, session);
  });
}

async function list(
  { status, search, limit, offset }: Extract<DuplicatesArguments, { action: "list" }>,
  { daemon, signal, print, printJson, style }: RemoteSession,
): Promise<number> {
  const answer = await daemon.json<ListGroupsResponse>(
    { path: "/api/v1/duplicates", query: { status, search, limit, offset } },
    signal,
  );
  if (printJson(answer)) return 0;
  const { data, meta } = answer;
  for (const line of data.length === 0
    ? []
    : tableLines(
        [
          { head: "ID" },
          { head: "STATUS" },
          { head: "ALIKE", figures: true },
          { head: "DOCUMENTS", figures: true },
          { head: "TITLE OF THE PRIMARY" },
        ],
        data.map((group) => [
          group.id,
          group.status,
          formatPercent(group.confidenceScore),
          String(group.archivedMemberCount ?? group.memberCount),
          group.primaryDocumentTitle ?? "",
        ]),
      ))
    print(line);
  const shown = meta.offset + data.length;
  print(
    style.quiet(
      meta.total === 0
        ? "no group matches"
        : `${counted(meta.total, "group")} in all${shown < meta.total ? `; more with --offset ${shown}` : ""}`,
    ),
  );
  return 0;
}

async function show(id: string, session: RemoteSession): Promise<number> {
  const answer = await session.daemon.json<GetGroupResponse>(
    { path: pathOf`/api/v1/duplicates/${id}` },
    session.signal,
  );
  if (!session.printJson(answer))
    for (const line of describe(answer.data, session)) session.print(line);
  return 0;
}

function describe(group: Group, { style }: RemoteSession): string[] {
  return [
    `${group.id}: ${group.status}, ${formatPercent(group.confidenceScore)} alike`,
    ...group.reasons.map((reason) => `  ${printable(reason)}`),
    "",
    ...tableLines(
      [
        { head: "KEEP" },
        { head: "DOCUMENT" },
        { head: "ARCHIVE" },
        { head: "DATE" },
        { head: "CORRESPONDENT" },
        { head: "TITLE" },
      ],
      group.members.map((member) => [
        member.isPrimary ? "yes" : "",
        nameOf(member),
        member.archive,
        member.createdDate?.slice(0, 10) ?? "",
        member.correspondent ?? "",
        member.title,
      ]),
    ),
    ...group.history.map(({ status, decidedAt }) =>
      style.quiet(`${status.replaceAll("_", " ")} since ${decidedAt ?? "an unknown time"}`),
    ),
  ];
}

async function setStatus(
  { id, status }: Extract<DuplicatesArguments, { action: "status" }>,
  { daemon, signal, print, printJson }: RemoteSession,
): Promise<number> {
  const answer = await daemon.json<SetGroupStatusResponse>(
    { method: "PUT", path: pathOf`/api/v1/duplicates/${id}/status`, body: { status } },
    signal,
  );
  if (!printJson(answer)) print(`${answer.data.id}: ${answer.data.status}`);
  return 0;
}

function nameOf({ paperlessId, archiveRef, documentId }: Group["members"][number]): string {
  return paperlessId === null ? (archiveRef ?? documentId) : `#${paperlessId}`;
}

/** Follows the job to its end; without `--yes` only says what would go. */
async function deleteRedundant(
  { ids, merge, yes, json }: Extract<DuplicatesArguments, { action: "delete" }>,
  session: RemoteSession,
): Promise<number> {
  const { daemon, signal } = session;
  if (!yes) return await preview(ids, session);
  const started = await daemon.json<DeleteNonPrimaryResponse>(
    {
      method: "POST",
      path: "/api/v1/batch/delete-non-primary",
      body: { groupIds: ids, confirm: true, merge },
    },
    signal,
  );
  const { jobId } = started.data;
  const code = await follow(jobId, session);
  const { data } = await daemon.json<{ readonly data: { readonly result: DeletionResult | null } }>(
    { path: pathOf`/api/v1/jobs/${jobId}` },
    signal,
  );
  if (data.result === null) return 1;
  const { deletedDocuments, skippedDocuments, failedDocuments, errors } = data.result;
  if (!json) {
    session.print(
      `${counted(deletedDocuments, "document")} moved to the trash, ${skippedDocuments} left out, ${failedDocuments} failed`,
    );
    for (const error of errors) session.print(`  ${printable(error)}`);
  }
  return code === 0 && failedDocuments === 0 ? 0 : 1;
}

/** Of a finished deletion. */
interface DeletionResult {
  readonly deletedDocuments: number;
  readonly skippedDocuments: number;
  readonly failedDocuments: number;
  readonly errors: readonly string[];
}

async function preview(ids: readonly string[], session: RemoteSession): Promise<number> {
  const groups: Group[] = [];
  for (const id of ids) {
    const answer = await session.daemon.json<GetGroupResponse>(
      { path: pathOf`/api/v1/duplicates/${id}` },
      session.signal,
    );
    groups.push(answer.data);
  }
  if (session.printJson({ data: groups })) return 0;
  for (const { id, members } of groups) {
    const kept = members.find(({ isPrimary }) => isPrimary);
    session.print(`${id}: ${kept === undefined ? "nothing" : nameOf(kept)} would stay`);
    for (const member of members.filter(({ isPrimary }) => !isPrimary))
      session.print(`  ${nameOf(member)} ${printable(member.title)}`);
  }
  session.print(session.style.quiet("nothing was deleted; add --yes to move these to the trash"));
  return 0;
}
