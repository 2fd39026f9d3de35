import { expect, it } from "vitest";
import { Quotas } from "../../../../src/tokens/vault/mounts/quotas.ts";

const quota = (installationId: string, remaining = 1) => ({
  installationId,
  limit: 5_000,
  remaining,
  resetAtMs: 0,
});

it("quotas are by mount and installation, of the last hour, and two hundred at most", () => {
  let nowMs = 0;
  const quotas = new Quotas({ now: () => nowMs });
  quotas.note("b/", quota("2"));
  quotas.note("b/", quota("10"));
  quotas.note("a/", quota("2"));
  quotas.note("b/", quota("2", 7));
  expect(
    quotas.all().map(({ mount, installationId, remaining }) => [mount, installationId, remaining]),
  ).toEqual([
    ["a/", "2", 1],
    ["b/", "2", 7],
    ["b/", "10", 1],
  ]);
  nowMs = 3_600_001;
  expect(quotas.all()).toEqual([]);
  for (let id = 0; id < 300; id += 1) quotas.note("b/", quota(String(id)));
  expect(quotas.all()).toHaveLength(200);
});
