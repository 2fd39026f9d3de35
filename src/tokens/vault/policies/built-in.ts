/** The policies that are always there. */

/** Everything; it has no text. */
export const ROOT_POLICY = "root";
/** Given to every token unless it is made without. */
export const DEFAULT_POLICY = "default";
/** Policy of wrapping tokens: allows nothing, is not listed, and cannot be written or assigned. */
export const WRAPPING_POLICY = "response-wrapping";

/** What every token may do for itself. Served until it is written anew. */
export const DEFAULT_POLICY_TEXT: string = `# Tokens may look up, renew and revoke themselves.
path "auth/token/lookup-self" {
    capabilities = ["read"]
}
path "auth/token/renew-self" {
    capabilities = ["update"]
}
path "auth/token/revoke-self" {
    capabilities = ["update"]
}

# They may ask what they may do.
path "sys/capabilities-self" {
    capabilities = ["update"]
}
path "sys/internal/ui/resultant-acl" {
    capabilities = ["read"]
}

# They may renew and look up leases whose id they know.
path "sys/renew" {
    capabilities = ["update"]
}
path "sys/leases/renew" {
    capabilities = ["update"]
}
path "sys/leases/lookup" {
    capabilities = ["update"]
}

# Their own private storage.
path "cubbyhole/*" {
    capabilities = ["create", "read", "update", "delete", "list"]
}

# They may wrap what they know, and unwrap what they were given.
path "sys/wrapping/wrap" {
    capabilities = ["update"]
}
path "sys/wrapping/lookup" {
    capabilities = ["update"]
}
path "sys/wrapping/unwrap" {
    capabilities = ["update"]
}

path "sys/tools/hash" {
    capabilities = ["update"]
}
path "sys/tools/hash/*" {
    capabilities = ["update"]
}
`;
