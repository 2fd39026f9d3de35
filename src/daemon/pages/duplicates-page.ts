/**
 * The page at `/duplicates`: groups of near-duplicates, those pending review first. It is
 * read-only; changes go through the API.
 */
import { pageAssets } from "../../../gateway/web/assets.ts";
import { formatCount, formatPercent, formatSome } from "../../../gateway/web/format.ts";
import { html, type View } from "../../../gateway/web/html.ts";
import { empty } from "../../../gateway/web/pieces/section.ts";
import { stateText, type State } from "../../../gateway/web/pieces/state.ts";
import { pageAnswer } from "../../../gateway/web/shell.ts";
import type { Dedup } from "../../dedup/service.ts";
import {
  DuplicateService,
  type GroupSummary,
  type ListGroupsResponse,
} from "../../gen/steward/dedup/v1/duplicates_pb.ts";
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import { Access } from "../../gen/steward/options/v1/options_pb.ts";
import type { PlainRoute } from "../../kernel/service.ts";
import { callHandler } from "./call-handler.ts";

/** Groups on the page, highest similarity first; the API lists the rest. */
const PAGE_GROUPS = 100;

const NOT_KNOWN = ["unknown", "not known"] as const;
const STATUS: Readonly<Record<number, readonly [State, string]>> = {
  [GroupStatus.PENDING]: ["notice", "to review"],
  [GroupStatus.FALSE_POSITIVE]: ["unknown", "not duplicates"],
  [GroupStatus.IGNORED]: ["unknown", "ignored"],
  [GroupStatus.DELETED]: ["unknown", "deleted"],
};

export interface DuplicatesPageOptions {
  readonly demo: boolean;
  readonly version: string;
}

/** It requires the same access as the API that it reads. */
export function duplicatesRoute(
  { service }: Pick<Dedup, "service">,
  options: DuplicatesPageOptions,
): PlainRoute {
  const nav = [
    { href: "/", label: "Status" },
    { href: "/duplicates", label: "Duplicates", here: true },
    { href: "/docs", label: "API" },
  ];
  return {
    verb: "GET",
    template: "/duplicates",
    access: Access.OPERATOR,
    dialect: "dedup",
    async handle({ headers }, call) {
      const groups = await callHandler(
        service.rpc,
        DuplicateService.method.listGroups,
        { limit: PAGE_GROUPS },
        call,
      );
      return await pageAnswer(
        { title: "Duplicates", ...options, nav, module: "plain.js", body: duplicates(groups) },
        pageAssets(),
        headers,
      );
    },
  };
}

function duplicates({ data, meta }: ListGroupsResponse): View {
  const total = meta?.total ?? data.length;
  return html`<div class="stack"><section class="part"><h2>Duplicates</h2>
    <p class="note">${summary(data.length, total, meta?.totalMemberCount ?? 0)} Review them with <a href="/docs#group-DuplicateService">the API</a>; this page changes nothing.</p>
    ${data.length === 0 ? empty(html`<span>No group of near-duplicates. They are found by an analysis, which follows each sync: add an archive to <code>dedup.archives</code> and sync it with <code>POST /api/v1/sync</code>.</span>`) : groupTable(data)}
  </section></div>`;
}

function summary(shown: number, total: number, members: number): string {
  if (total === 0) return "";
  return `${formatSome(total, "group")} of ${formatSome(members, "document")}, the most alike first${shown < total ? `; the first ${formatCount(shown)} are shown` : ""}.`;
}

function groupTable(rows: readonly GroupSummary[]): View {
  const heads = ["Document that stays", "Documents", "Confidence", "Status", "Details"];
  return html`<div class="scroll"><table aria-label="groups"><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${cells(row).map((cell, index) => html`<td data-label=${heads[index]}>${cell}</td>`)}</tr>`)}</tbody></table></div>`;
}

function cells({
  id,
  status,
  memberCount,
  confidenceScore,
  primaryDocumentTitle,
}: GroupSummary): readonly (View | string)[] {
  const title =
    primaryDocumentTitle === undefined || primaryDocumentTitle === ""
      ? "not known"
      : primaryDocumentTitle;
  return [
    html`<strong>${title}</strong>`,
    formatCount(memberCount),
    formatPercent(confidenceScore),
    stateText(...(STATUS[status] ?? NOT_KNOWN)),
    html`<a href=${`/api/v1/duplicates/${encodeURIComponent(id)}`} aria-label=${`Details of ${title} as JSON`}>JSON</a>`,
  ];
}
