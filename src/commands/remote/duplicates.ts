/** `steward duplicates`: the groups of the daemon's archives, one of them, and its status. */
import type {
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
  );

export function duplicates(options: DuplicatesArguments, context: CommandContext): Promise<number> {
  return runRemote(options, context, async (session) => {
    if (options.action === "list") return await list(options, session);
    if (options.action === "show") return await show(options.id, session);
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
        member.paperlessId === null
          ? (member.archiveRef ?? member.documentId)
          : `#${member.paperlessId}`,
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
