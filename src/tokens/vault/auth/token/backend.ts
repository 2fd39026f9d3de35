/** The backend of `auth/token/`: tokens that make, look up, renew and revoke tokens. */
import { createBackend } from "../../../logical/backend.ts";
import type { Backend } from "../../../logical/types.ts";
import type { AuthDeps } from "../deps.ts";
import { createPaths } from "./create.ts";
import { lookupPaths } from "./lookup.ts";
import { renewPaths } from "./renew.ts";
import { revokePaths } from "./revoke.ts";
import { rolePaths } from "./roles.ts";

/** One for all mounts. */
export function createTokenBackend(deps: AuthDeps): Backend {
  return createBackend({
    type: "token",
    paths: [
      ...createPaths(deps),
      ...lookupPaths(deps),
      ...renewPaths(deps),
      ...revokePaths(deps),
      ...rolePaths(deps.env),
    ],
    help: "Tokens are how requests are authenticated. They are created by other tokens or by logins, and are revoked with their parent token.",
  });
}
