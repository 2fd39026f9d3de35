/**
 * Row check of a sealed table: encrypts, then appends a checksum that can be verified without keys.
 */
import type { KeyRing } from "./key-ring.ts";
import { createRowCheck } from "./row-check.ts";
import type { RowCheck } from "./row-check.ts";

/**
 * Encrypts and decrypts the rows of one sub-database. Both throw `sealed` while the ring is sealed.
 */
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
