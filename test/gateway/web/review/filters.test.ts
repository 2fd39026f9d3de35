import { expect, it } from "vitest";
import { isListed, queryOf, readFilters } from "../../../../gateway/web/review/filters.ts";

it.each([
  [
    "",
    { shown: "pending", minConfidence: undefined, sort: "confidence", descending: true, offset: 0 },
  ],
  [
    "show=accepted&min=0.9&sort=created_at&offset=50",
    { shown: "accepted", minConfidence: 0.9, sort: "created_at", descending: false, offset: 50 },
  ],
  [
    "show=nonsense&min=7&sort=-nonsense&offset=-1",
    { shown: "pending", minConfidence: undefined, sort: "confidence", descending: true, offset: 0 },
  ],
  ["min=&offset=1.5", { minConfidence: 0, offset: 0 }],
  ["offset=99999999999", { offset: 0 }],
])("the address %j means %j", (query, expected) => {
  expect(readFilters(new URLSearchParams(query))).toMatchObject(expected);
});

it("an accepted group is pending to the API", () => {
  const of = (show: string): object => queryOf(readFilters(new URLSearchParams({ show })));
  expect([of("pending"), of("accepted"), of("ignored")]).toEqual([
    { status: ["pending"], plan: "out" },
    { status: ["pending"], plan: "in" },
    { status: ["ignored"], plan: undefined },
  ]);
  const accepted = { status: "pending", accepted: true } as const;
  expect([
    isListed(accepted, "accepted"),
    isListed(accepted, "pending"),
    isListed(accepted, "all"),
    isListed({ status: "ignored", accepted: false }, "ignored"),
  ]).toEqual([true, false, true, true]);
});
