import { expect, it } from "vitest";
import { tokensStore } from "../../../../src/tokens/stores.ts";
import { cubbyholes, wrappedAnswers } from "../../../../src/tokens/vault/mounts/tables.ts";

it("what tokens may store at will takes at most half of the store, so leases and tokens have room", () => {
  const bytes = [cubbyholes, wrappedAnswers].map(
    ({ limit }) => limit.bytes ?? Number.POSITIVE_INFINITY,
  );
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(tokensStore.maxBytes / 2);
});
