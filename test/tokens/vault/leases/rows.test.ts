import { assert, integer, property } from "fast-check";
import { expect, it } from "vitest";
import { systemIds } from "../../../../src/kernel/base/ids.ts";
import { LEASE_ID_LENGTH, leaseName } from "../../../../src/tokens/vault/leases/rows.ts";

it("names leases in the order of their time, so that those of a moment lie together, and by chance within it", () => {
  const time = integer({ min: 0, max: 62 ** 7 - 1 });
  assert(
    property(time, time, (left, right) => {
      const names = [left, right].map((nowMs) => leaseName(systemIds, nowMs));
      for (const name of names)
        expect(name).toMatch(new RegExp(`^[0-9A-Za-z]{${LEASE_ID_LENGTH}}$`));
      if (left !== right)
        expect(names.toSorted()).toEqual(left < right ? names : names.toReversed());
    }),
  );
  const [first, second] = [leaseName(systemIds, 5), leaseName(systemIds, 5)] as const;
  expect([first.slice(0, 7), second.slice(0, 7)]).toEqual(["0000005", "0000005"]);
  expect(first).not.toBe(second);
  expect(new Date(62 ** 7 - 1).getUTCFullYear()).toBe(2081);
  expect(leaseName(systemIds, 62 ** 7)).toHaveLength(LEASE_ID_LENGTH); // from then on the order begins anew, and nothing else
});
