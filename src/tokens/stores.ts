/** Environments of the tokens service, shared by the service, backups and checks. */
import type { EnvSpec } from "../kernel/state/types.ts";
import { auditTables } from "./vault/audit/tables.ts";
import { expiryTables } from "./vault/expiry/tables.ts";
import { leaseTables } from "./vault/leases/tables.ts";
import { mountTables } from "./vault/mounts/tables.ts";
import { policyTables } from "./vault/policies/tables.ts";
import { sealTables } from "./vault/seal/tables.ts";
import { tokenTables } from "./vault/token-store/tables.ts";

const GIB = 2 ** 30;
/** Schema version. */
const SCHEMA = 1;

/** Sealed tables: mounts, policies, tokens, leases, salts; and what is needed to unseal them. */
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
    ...sealTables,
  ],
};

export const tokensStores: readonly Omit<EnvSpec, "directory">[] = [tokensStore];
