/** Environments of the tokens service, shared by the service, backups and checks. */
import type { EnvSpec } from "../kernel/state/types.ts";
import { auditTables } from "./vault/audit/tables.ts";
import { expiryTables } from "./vault/expiry/tables.ts";
import { leaseTables } from "./vault/leases/tables.ts";
import { mountTables } from "./vault/mounts/tables.ts";
import { policyTables } from "./vault/policies/tables.ts";
import { tokenTables } from "./vault/token-store/tables.ts";

const GIB = 2 ** 30;
/** Schema version. */
const SCHEMA = 1;

/** All sealed tables: mounts, policies, tokens, leases, salts. */
export const tokensStore: Omit<EnvSpec, "directory"> = {
  name: "tokens",
  schema: SCHEMA,
  derived: false,
  maxBytes: 8 * GIB,
  tables: [
    ...mountTables,
    ...policyTables,
    ...expiryTables,
    ...tokenTables,
    ...leaseTables,
    ...auditTables,
  ],
};

export const tokensStores: readonly Omit<EnvSpec, "directory">[] = [tokensStore];
