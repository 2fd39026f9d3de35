/** The pages `/documents`, a list to search, and `/documents/{id}`, one document with its text. */
import type { Document, DocumentSummary } from "../../../src/gen/dedup-json.ts";
import { formatCount, formatPercent, formatSome } from "../format.ts";
import { html, type View } from "../html.ts";
import { linkWith, type PageState } from "../page-state.ts";
import { keyValues, listView } from "../pieces/key-values.ts";
import { pageImage } from "../pieces/page-image.ts";
import { empty, part } from "../pieces/section.ts";
import { stateText } from "../pieces/state.ts";
import { moment } from "../pieces/time.ts";
import { paging } from "./list.ts";
import { problemOf, valueOf, type DocumentFacts, type DocumentsFacts } from "./load.ts";
import { banner, problemBanner, statusOf, titleOf, whereIs } from "./words.ts";

/** Characters of a text that a page shows; the API has all of it. */
const SHOWN_CHARS = 200_000;

export function documentsPage({ list, waiting }: DocumentsFacts, state: PageState): View {
  const read = valueOf(list);
  const search = state.params.get("q") ?? "";
  return html`<div class="stack review">
    <div class="row review-head"><h2>Documents</h2></div>
    <div class="tools review-tools">
      <label class="filter scripted"><span class="sr">Search titles</span><input type="search" data-param="q" value=${search} placeholder="Search titles" autocomplete="off" spellcheck="false" /></label>
      <nav class="segments" aria-label="Documents"><a data-stay href=${linkWith(state, { waiting: undefined, offset: undefined })} aria-current=${waiting ? undefined : "true"}>All</a><a data-stay href=${linkWith(state, { waiting: "true", offset: undefined })} aria-current=${waiting ? "true" : undefined}>Changed since the analysis</a></nav>
    </div>
    ${
      read === undefined
        ? problemBanner("The documents", problemOf(list) ?? "")
        : read.data.length === 0
          ? nothing(search, waiting, read.meta.total, state)
          : html`<div class="table"><span class="count" role="status">${countOf(read.meta, read.data.length)}</span>
      <div class="scroll"><table aria-label="documents"><thead><tr>${["Document", "Archive", "Type", "Date", "Analysis"].map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
      <tbody>${read.data.map((row) => documentRow(row))}</tbody></table></div>
      ${paging(read.meta, read.data.length, state)}</div>`
    }
  </div>`;
}

function countOf(meta: { readonly total: number; readonly offset: number }, rows: number): string {
  const all = formatSome(meta.total, "document");
  return rows === meta.total
    ? all
    : `${formatCount(meta.offset + 1)} to ${formatCount(meta.offset + rows)} of ${all}`;
}

function nothing(search: string, waiting: boolean, total: number, state: PageState): View {
  if (total > 0)
    return empty(
      html`<span>There is nothing on this page of the list any more. <a data-stay href=${linkWith(state, { offset: undefined })}>Go to the first page</a></span>`,
    );
  if (search !== "" || waiting)
    return empty(
      html`<span>${waiting && search === "" ? "No document changed since the last analysis." : "No document matches."} <a data-stay href=${linkWith(state, { q: undefined, waiting: undefined, offset: undefined })}>Show all documents</a></span>`,
    );
  return empty(
    html`<span>No documents were read yet. Add an archive to <code>dedup.archives</code> in the configuration and sync it on the page <a href="/duplicates">Duplicates</a> or with <code>POST /api/v1/sync</code>.</span>`,
  );
}

function documentRow(row: DocumentSummary): View {
  const { id, correspondent, documentType, createdDate, truncated, processingStatus } = row;
  return html`<tr key=${id}>
    <td data-label="Document"><a class="row-link" href=${`/documents/${encodeURIComponent(id)}`}>${titleOf(row)}</a>${correspondent === null ? undefined : html`<small>${correspondent}</small>`}${truncated ? html`<small>${stateText("notice", "text cut at the size limit")}</small>` : undefined}</td>
    <td data-label="Archive">${whereIs(row)}</td>
    <td data-label="Type">${documentType ?? "–"}</td>
    <td data-label="Date">${createdDate === null ? "–" : createdDate.slice(0, 10)}</td>
    <td data-label="Analysis">${processingStatus === "pending" ? stateText("notice", "waiting") : "done"}</td>
  </tr>`;
}

/** One document; `gone` when the archive has it no more. */
export function documentPage({ document }: DocumentFacts, state: PageState): View {
  const read = valueOf(document);
  return html`<div class="stack review">
    <a class="back-always" href="/documents">← All documents</a>
    ${
      read !== undefined
        ? documentView(read, state)
        : "gone" in document && document.gone
          ? banner(
              "notice",
              html`<span><strong>This document is gone.</strong> Its archive has it no more, or the link is wrong.</span>`,
            )
          : problemBanner("The document", problemOf(document) ?? "")
    }
  </div>`;
}

function documentView(document: Document, state: PageState): View {
  const { content, groupMemberships, truncated } = document;
  const text = content?.fullText ?? "";
  return html`<article class="stack">
    <h2>${titleOf(document)}</h2>
    ${truncated ? banner("notice", html`<span><strong>The text is cut.</strong> The document is larger than the size limit: only its beginning is kept and compared, and it is never put into a delete plan.</span>`) : undefined}
    ${pageImage(document, titleOf(document))}
    ${keyValues([
      ["Archive", whereIs(document)],
      document.correspondent === null ? undefined : ["Correspondent", document.correspondent],
      document.documentType === null ? undefined : ["Type", document.documentType],
      document.tags.length === 0 ? undefined : ["Tags", listView(document.tags)],
      document.createdDate === null ? undefined : ["Created", document.createdDate],
      document.modifiedDate === null ? undefined : ["Modified", document.modifiedDate],
      ["Words", content === null ? "no text" : formatCount(content.wordCount)],
      ["Synced", moment(document.syncedAt ?? undefined, state)],
      [
        "Analysis",
        document.processingStatus === "pending" ? stateText("notice", "waiting") : "done",
      ],
    ])}
    ${part(
      "Groups",
      groupMemberships.length === 0
        ? empty("It is in no group of near-duplicates.")
        : html`<ul class="plain">${groupMemberships.map(({ groupId, confidenceScore, isPrimary, status }) => html`<li><a href=${`/duplicates?show=all&group=${encodeURIComponent(groupId)}`}>Group with a confidence of ${formatPercent(confidenceScore)}</a>: ${isPrimary ? "this document stays" : "another document stays"}, ${statusOf({ status, accepted: false })[1]}</li>`)}</ul>`,
    )}
    ${part(
      "Text",
      text === ""
        ? empty("It has no text.")
        : html`<div><pre class="text" tabindex="0" aria-label="Text of the document">${text.slice(0, SHOWN_CHARS)}</pre>${text.length > SHOWN_CHARS ? html`<p class="note">The first ${formatCount(SHOWN_CHARS)} of ${formatCount(text.length)} characters. <a href=${`/api/v1/documents/${encodeURIComponent(document.id)}/content`}>All of it as JSON</a></p>` : undefined}</div>`,
    )}
  </article>`;
}
