/** The backend `approle`: applications log in with a role id and a secret id. */
import { createBackend } from "../../../logical/backend.ts";
import type { Backend, Host } from "../../../logical/types.ts";
import type { AuthDeps } from "../deps.ts";
import type { ApproleContext } from "./context.ts";
import { fieldPaths } from "./field-paths.ts";
import { createNamedSerial } from "../../../../kernel/async/serial.ts";
import { loginPath, renewalTerms } from "./login.ts";
import { rolePaths } from "./role-paths.ts";
import { secretIdPaths } from "./secret-id-paths.ts";
import { openApproleStorage } from "./storage.ts";
import { startTidying } from "./tidy.ts";

/** One for each mount. */
export async function createApproleBackend(deps: AuthDeps, host: Host): Promise<Backend> {
  const storage = await openApproleStorage(host.storage, deps.ids);
  const context: ApproleContext = { ...deps, host, storage, lock: createNamedSerial() };
  const tidying = startTidying(context);
  deps.tokens.issuer(storage.mountId, (entry) => renewalTerms(context, entry));
  return createBackend({
    type: "approle",
    paths: [
      loginPath(context),
      ...rolePaths(context),
      ...fieldPaths(context),
      ...secretIdPaths(context),
    ],
    help: "Applications log in with the id of a role and a secret id, and get a token with the role's policies.",
    close: () => tidying.close(),
  });
}
