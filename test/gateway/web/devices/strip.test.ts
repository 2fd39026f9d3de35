import { expect, it } from "vitest";
import { segmentsOf } from "../../../../gateway/web/devices/strip.ts";

const NOW_MS = Date.parse("2026-11-20T12:00:00Z");
const at = (hoursAgo: number): string => new Date(NOW_MS - hoursAgo * 3_600_000).toISOString();
const hours = (
  changes: readonly (readonly [hoursAgo: number, state: "online" | "offline" | "gone"])[],
  observed: readonly (readonly [from: number, to: number])[],
) =>
  segmentsOf(
    { changes: changes.map(([ago, state]) => ({ at: at(ago), state })) },
    { observed: observed.map(([from, to]) => ({ from: at(from), to: at(to) })) },
    NOW_MS,
  ).map(({ fromMs, toMs, state }) => [
    (NOW_MS - fromMs) / 3_600_000,
    (NOW_MS - toMs) / 3_600_000,
    state,
  ]);

it("shows states where they were observed, and what was not observed as unknown", () => {
  expect(
    hours(
      [
        [30, "online"],
        [20, "offline"],
        [4, "online"],
      ],
      [
        [40, 18],
        [6, 0],
      ],
    ),
  ).toEqual([
    [24, 20, "online"],
    [20, 18, "offline"],
    [18, 6, "unknown"],
    [6, 4, "offline"],
    [4, 0, "online"],
  ]);
});

it("knows nothing before the first change and after the last observation", () => {
  expect(hours([[5, "online"]], [[10, 2]])).toEqual([
    [24, 5, "unknown"],
    [5, 2, "online"],
    [2, 0, "unknown"],
  ]);
  expect(hours([[0.01, "online"]], [[0.01, 0.01]])).toEqual([
    [24, 0.01, "unknown"],
    [0.01, 0, "online"],
  ]);
  expect(hours([[0, "online"]], [[0, 0]])).toEqual([
    [24, 0, "unknown"],
    [0, 0, "online"],
  ]);
  expect(hours([], [])).toEqual([[24, 0, "unknown"]]);
});
