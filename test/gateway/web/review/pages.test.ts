/** The states that the review pages may be in, as their HTML. */
import { describe, expect, it } from "vitest";
import { documentPage, documentsPage } from "../../../../gateway/web/review/documents.ts";
import { duplicatesPage } from "../../../../gateway/web/review/duplicates.ts";
import type { DuplicatesFacts, OpenGroup } from "../../../../gateway/web/review/load.ts";
import { planPage } from "../../../../gateway/web/review/plan.ts";
import { renderHtml } from "../render-html.ts";
import { activity, document, facts, group, job, member, stateOf, summary } from "./fixtures.ts";

const never = { lastSyncAt: null, lastSyncDocumentCount: null, totalDocuments: 0 } as const;
const noAnalysis = { lastAnalysisAt: null, totalDuplicateGroups: 0 } as const;

/** Text without tags, white space joined. */
function textOf(html: string): string {
  return html
    .replaceAll(/<[^>]+>/g, " ")
    .replaceAll(/\s+/g, " ")
    .replaceAll(" .", ".");
}

function page(given: DuplicatesFacts, query = "", marks = {}): string {
  return renderHtml(
    duplicatesPage(given, stateOf(query), { progress: undefined, selected: undefined, ...marks }),
  );
}

function opened(fields: Partial<OpenGroup> = {}, a = "one two three", b = "one 2 three"): string {
  const open: OpenGroup = {
    group: group("g"),
    other: "b",
    texts: { value: { docA: { fullText: a, wordCount: 3 }, docB: { fullText: b, wordCount: 3 } } },
    ...fields,
  };
  return page({ ...facts([summary("g")]), open: { value: open } }, "group=g");
}

describe("the list of groups", () => {
  it.each([
    [
      "nothing was synced",
      [],
      {
        sync: { ...activity().sync, ...never },
        analysis: { ...activity().analysis, ...noAnalysis },
      },
      "",
      "Add an archive to dedup.archives",
    ],
    [
      "nothing was analysed",
      [],
      { analysis: { ...activity().analysis, ...noAnalysis } },
      "",
      "Not analysed yet. 3 documents were read",
    ],
    [
      "no duplicates were found",
      [],
      { analysis: { ...activity().analysis, totalDuplicateGroups: 0 } },
      "",
      "No near-duplicates among 3 documents.",
    ],
    [
      "everything is reviewed",
      [],
      { accepted: 2 },
      "",
      "Every group is reviewed. 2 groups are in the delete plan",
    ],
    ["nothing is accepted", [], {}, "show=accepted", "No group is in the delete plan."],
    [
      "nothing was rejected",
      [],
      {},
      "show=false_positive",
      "No group is marked as not duplicates.",
    ],
    ["nothing matches", [], {}, "q=x", "No group matches. Show all of this list"],
    [
      "documents changed",
      [summary("g")],
      { waiting: 1 },
      "",
      "The groups are older than the documents. 1 document is new or changed",
    ],
    [
      "settings changed",
      [summary("g")],
      { analysis: { ...activity().analysis, analysisStale: true, warnings: ["few bands"] } },
      "",
      "The groups are from other settings.",
    ],
    [
      "settings miss groups",
      [summary("g")],
      { analysis: { ...activity().analysis, warnings: ["finds 90 % of the pairs"] } },
      "",
      "finds 90 % of the pairs",
    ],
    [
      "a sync failed",
      [summary("g")],
      { failed: [job("sync", "failed", { errorMessage: "papers: gone" })] },
      "",
      "The last sync failed 1 h ago : papers: gone. What is shown is from the one before.",
    ],
    [
      "an analysis failed",
      [summary("g")],
      { failed: [job("analysis", "failed")] },
      "",
      "The last analysis failed",
    ],
    [
      "a job runs",
      [summary("g")],
      { sync: { ...activity().sync, isSyncing: true, currentJobId: "j" } },
      "",
      "Syncing the archives",
    ],
  ])("where %s says so", (_what, rows, fields, query, text) => {
    expect(textOf(page(facts(rows, fields as never), query))).toContain(text);
  });

  it("says that it is past its last page, and leads to the first", () => {
    expect(textOf(page(facts([], {}, 60), "offset=100"))).toContain("Go to the first page");
  });

  it("says what could not be read and why, and offers to try again; the rest is there", () => {
    const html = page({
      ...facts([]),
      list: { problem: "the store is unavailable", gone: false },
    });
    expect(textOf(html)).toContain("The groups cannot be read. the store is unavailable");
    expect(html).toContain('data-act="reload"');
    expect(textOf(html)).toContain("Synced 1 h ago");
  });

  it("shows how far a job is, and that its stream broke off", () => {
    const progress = {
      jobId: "j",
      type: "analysis",
      progress: 0.42,
      message: "joining",
      lost: true,
    };
    const html = page(facts([summary("g")]), "", { progress });
    expect(textOf(html)).toContain("Analysing the documents : joining (no news at the moment)");
    expect(html).toContain('value="0.42"');
    expect(html).toMatch(/<button type="button" data-act="sync" disabled>/);
  });

  it("has links for each choice, which keep the others and begin at the first page", () => {
    const html = page(facts([summary("g")]), "q=tax&offset=50&min=0.9&sort=-member_count&group=x");
    expect(html).toContain('href="?q=tax&amp;min=0.95&amp;sort=-member_count"');
    expect(html).toContain('href="?q=tax&amp;min=0.9&amp;sort=-member_count&amp;show=ignored"');
    expect(html).toContain('href="?q=tax&amp;min=0.9&amp;sort=member_count"');
    expect(html).toContain(
      'href="?q=tax&amp;offset=50&amp;min=0.9&amp;sort=-member_count&amp;group=g"',
    );
  });

  it("pages by what is there", () => {
    const rows = Array.from({ length: 50 }, (_, index) => summary(`g${index}`));
    const html = page(facts(rows, {}, 120));
    expect(html).toContain('rel="next"');
    expect(html).not.toContain('rel="prev"');
    expect(textOf(html)).toContain("1 to 50 of 120 groups of 240 documents");
  });
});

describe("an open group", () => {
  it("has the words that differ, marked, beside one another", () => {
    const html = opened();
    expect(html).toContain("<del>two</del>");
    expect(html).toContain("<ins>2</ins>");
    expect(textOf(html)).toContain("1 word differs.");
  });

  it("shows 100 differences of many and 100 documents of many, and says how many there are", () => {
    const words = (odd: string): string =>
      Array.from({ length: 8_000 }, (_, at) => (at % 40 === 39 ? `${odd}${at}` : `w${at}`)).join(
        " ",
      );
    const html = opened({}, words("a"), words("b"));
    expect(html.match(/class="hunk"/g)?.length).toBe(100);
    expect(textOf(html)).toContain("further differences not shown");
    const members = Array.from({ length: 5_000 }, (_, index) =>
      member(`d${index}`, { isPrimary: index === 0 }),
    );
    const large = opened({ group: group("g", { members }), other: "d1" });
    expect(large.match(/data-act="primary"/g)?.length).toBe(99);
    expect(textOf(large)).toContain("The first 100 of 5,000 documents are shown.");
  });

  it("says of a cut text that only its beginning was compared", () => {
    const members = [member("a", { isPrimary: true }), member("b", { truncated: true })];
    expect(textOf(opened({ group: group("g", { members }) }))).toContain(
      "only the beginning of its text was compared",
    );
  });

  it("says where there is no text, and where the texts cannot be read", () => {
    expect(
      textOf(opened({ texts: { value: { docA: null, docB: { fullText: "x", wordCount: 1 } } } })),
    ).toContain("One of the two has no text");
    expect(textOf(opened({ texts: { problem: "the disk is gone", gone: false } }))).toContain(
      "The texts cannot be read. the disk is gone",
    );
  });

  it.each([
    ["pending", false, ["accept", "reject", "ignore"]],
    ["pending", true, ["reopen", "accept"]],
    ["false_positive", false, ["reopen"]],
    ["ignored", false, ["reopen"]],
    ["deleted", false, ["reopen"]],
  ] as const)("that is %s (accepted: %s) offers %j", (status, accepted, actions) => {
    const html = opened({ group: group("g", { status, accepted }) });
    const offered = [...html.matchAll(/data-act="(accept|reject|ignore|reopen)"/g)].map(
      ([, act]) => act,
    );
    expect(offered).toEqual(actions);
  });

  it("shows the decisions that a new member suspended", () => {
    const history = [{ status: "false_positive", decidedAt: "2026-01-01T00:00:00.000Z" }] as const;
    expect(textOf(opened({ group: group("g", { history }) }))).toContain(
      "1 earlier decision not duplicates 1 d ago",
    );
  });

  it("that is gone says so", () => {
    const html = page({ ...facts([]), open: { problem: "no", gone: true } }, "group=g");
    expect(textOf(html)).toContain("This group is gone.");
  });
});

describe("the plan", () => {
  const named = {
    documentId: "a",
    title: "A",
    archive: "papers",
    archiveRef: "a",
    paperlessId: null,
  };
  it("says of each document whether it would be deleted, for which one, or why it is left out", () => {
    const html = renderHtml(
      planPage(
        {
          plan: {
            value: {
              data: {
                groups: [
                  {
                    groupId: "g",
                    confidenceScore: 0.9,
                    acceptedAt: "2026-01-01T00:00:00.000Z",
                    primary: named,
                    documents: [
                      {
                        document: { ...named, title: "B" },
                        deleted: true,
                        reason: null,
                        confidenceScore: 0.95,
                        keptBy: "g",
                      },
                      {
                        document: { ...named, title: "C" },
                        deleted: true,
                        reason: null,
                        confidenceScore: 0.85,
                        keptBy: "h",
                      },
                      {
                        document: { ...named, title: "D" },
                        deleted: false,
                        reason: "has changed",
                        confidenceScore: null,
                        keptBy: null,
                      },
                    ],
                    documentCount: 130,
                  },
                ],
              },
              meta: {
                total: 1,
                limit: 50,
                offset: 0,
                deletedCount: 2,
                primaryCount: 1,
                leftOutCount: 1,
              },
            },
          },
        },
        stateOf(),
      ),
    );
    const text = textOf(html);
    expect(text).toContain("would be deleted B papers : a , 95 % with the one that stays");
    expect(text).toContain(
      "would be deleted C papers : a , 85 % with the one that stays of another accepted group",
    );
    expect(text).toContain("left out D papers : a : it has changed");
    expect(text).toContain("and 127 documents more; the download has all.");
  });

  it("that is empty, or cannot be read, says what to do", () => {
    const meta = {
      total: 0,
      limit: 50,
      offset: 0,
      deletedCount: 0,
      primaryCount: 0,
      leftOutCount: 0,
    };
    expect(
      textOf(renderHtml(planPage({ plan: { value: { data: { groups: [] }, meta } } }, stateOf()))),
    ).toContain("No group is in the delete plan. Review the groups");
    expect(
      textOf(renderHtml(planPage({ plan: { problem: "why", gone: false } }, stateOf()))),
    ).toContain("The delete plan cannot be read. why");
  });
});

describe("documents", () => {
  it("say that their text is cut, and show the first part of a long one", () => {
    const content = {
      fullText: "x".repeat(300_000),
      normalizedText: "",
      wordCount: 1,
      contentHash: "",
    };
    const html = renderHtml(
      documentPage({ document: { value: document({ truncated: true, content }) } }, stateOf()),
    );
    expect(html.length).toBeLessThan(220_000);
    expect(textOf(html)).toContain("The text is cut.");
    expect(textOf(html)).toContain("The first 200,000 of 300,000 characters.");
  });

  it("without text, without groups, without any document say so", () => {
    const html = renderHtml(
      documentPage({ document: { value: document({ content: null }) } }, stateOf()),
    );
    expect(textOf(html)).toContain("It has no text.");
    expect(textOf(html)).toContain("It is in no group of near-duplicates.");
    const meta = { total: 0, limit: 50, offset: 0 };
    const list = { value: { data: [], meta } };
    expect(textOf(renderHtml(documentsPage({ list, waiting: false }, stateOf())))).toContain(
      "No documents were read yet.",
    );
    expect(
      textOf(renderHtml(documentsPage({ list, waiting: true }, stateOf("waiting=true")))),
    ).toContain("No document changed since the last analysis.");
  });

  it("show what they hold as text", () => {
    const evil = `<script>alert(1)</script>"'&`;
    const html = [
      renderHtml(
        documentPage(
          { document: { value: document({ title: evil, archiveRef: evil }) } },
          stateOf(),
        ),
      ),
      opened(
        {
          group: group("g", {
            reasons: [evil],
            members: [member("a", { isPrimary: true, title: evil }), member("b")],
          }),
        },
        evil,
        "x",
      ),
      page(facts([summary("g", { primaryDocumentTitle: evil })]), `q=${encodeURIComponent(evil)}`),
    ].join("");
    expect(html).not.toContain("<script>");
    expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;");
  });
});

describe("pictures of an open group", () => {
  const withPictures = (a: number | null, b: number | null): string =>
    opened({
      group: group("g", {
        members: [
          member("a", { isPrimary: true, paperlessId: a }),
          member("b", { paperlessId: b }),
        ],
      }),
    });

  it("stand beside one another, with what is to happen to each document", () => {
    const html = withPictures(7, 8);
    expect(html.match(/<img[^>]*thumb/g)).toHaveLength(2);
    expect(html).toMatch(/documents\/7\/thumb.*stays.*documents\/8\/thumb.*would be deleted/s);
  });

  it("are a sentence where one of two archives has none, and nothing where both have none", () => {
    const sentence = "Its archive has no pictures";
    expect(withPictures(null, 8)).toContain(sentence);
    expect(withPictures(null, null)).not.toContain(sentence);
  });
});
