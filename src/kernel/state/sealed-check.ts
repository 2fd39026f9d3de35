/**
 * The check of a sealed table's rows: encrypted, then given a check word like any other, which can
 * be verified without keys.
 */
import type { KeyRing } from "./key-ring.ts";
import { createRowCheck } from "./row-check.ts";
import type { RowCheck } from "./row-check.ts";

/** Seals and opens the rows of one sub-database. Both throw `sealed` while the ring is. */
export function createSealedCheck(name: string, ring: KeyRing): RowCheck {
  const check = createRowCheck(name);
  return {
    assertOpen: () => ring.assertOpen(),
    close: (key, value) => check.close(key, ring.encrypt(name, key, value)),
    open(key, stored) {
      const sealed = check.open(key, stored);
      return sealed === undefined ? undefined : ring.decrypt(name, key, sealed);
    },
  };
}
