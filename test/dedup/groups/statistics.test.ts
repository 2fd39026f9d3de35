import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { createDocumentIndex } from "../../../src/dedup/documents/index.ts";
import { newDecision } from "../../../src/dedup/groups/decision.ts";
import { createGroupIndex } from "../../../src/dedup/groups/index.ts";
import { createGroupCounts } from "../../../src/dedup/groups/statistics.ts";
import { GroupStatus } from "../../../src/gen/steward/dedup/v1/groups_pb.ts";
import { DocumentRowSchema, GroupRowSchema } from "../../../src/gen/steward/state/v1/dedup_pb.ts";

function document(docNo: number, correspondent: string) {
  return create(DocumentRowSchema, {
    docNo,
    id: `id-${docNo}`,
    archive: "a",
    archiveRef: String(docNo),
    title: "",
    correspondent,
  });
}

function group(id: string, members: readonly number[]) {
  return create(GroupRowSchema, { id, confidence: 0.9, members: [...members] });
}

function open() {
  const documents = createDocumentIndex(["a"]);
  const index = createGroupIndex();
  let walks = 0;
  const counts = createGroupCounts({
    documents,
    index: {
      get revision() {
        return index.revision;
      },
      listed() {
        walks += 1;
        return index.listed();
      },
    },
  });
  return { documents, index, counts, walks: () => walks };
}

it("groups are counted once for any number of calls, and again after a change that readers see", async () => {
  const { documents, index, counts, walks } = open();
  documents.put(document(1, "Bank"));
  index.put(0, group("g", [1, 2]), newDecision(1));
  await Promise.all([counts(), counts()]);
  expect(await counts()).toMatchObject({
    total: 1,
    documents: 2,
    correspondents: [{ name: "Bank", count: 1 }],
  });
  expect(walks()).toBe(1);

  index.put(7, group("later", [3, 4]), newDecision(1));
  expect((await counts()).total).toBe(1);
  expect(walks()).toBe(1);
  index.show(7);
  expect((await counts()).total).toBe(2);

  index.put(7, group("g", [1, 2]), { ...newDecision(1), status: GroupStatus.IGNORED });
  expect((await counts()).byStatus.get(GroupStatus.IGNORED)).toBe(1);
  index.remove(7, "later");
  expect((await counts()).total).toBe(1);
});

it("a renamed correspondent and a removed document reach the counts at once", async () => {
  const { documents, index, counts } = open();
  documents.put(document(1, "Bank"));
  index.put(0, group("g", [1, 2]), newDecision(1));
  await counts();
  documents.put(document(1, "Savings bank"));
  expect((await counts()).correspondents).toEqual([{ name: "Savings bank", count: 1 }]);
  documents.remove(1);
  expect((await counts()).correspondents).toEqual([]);
});

it("documents of deleted groups are not counted as duplicates, and a search still finds the group", async () => {
  const { index, counts } = open();
  index.put(0, group("g", [1, 2]), { ...newDecision(1), status: GroupStatus.DELETED });
  expect(await counts()).toMatchObject({ total: 1, documents: 0 });
  const found = index.select(
    { statuses: new Set([GroupStatus.DELETED]), members: new Set([2]) },
    { by: "confidence", descending: true },
    { offset: 0, limit: 10 },
  );
  expect(found).toMatchObject({ ids: ["g"], total: 1, totalMemberCount: 0 });
});
