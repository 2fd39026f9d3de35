/** The backend `jwt`: programs log in with an identity token that their platform signed. */
import { createNamedSerial } from "../../../../kernel/async/serial.ts";
import { createBackend } from "../../../logical/backend.ts";
import type { Backend, Host } from "../../../logical/types.ts";
import type { AuthDeps } from "../deps.ts";
import { configPath } from "./config-path.ts";
import type { JwtContext } from "./context.ts";
import { createKeySource } from "./keys.ts";
import { loginPath, renewalTerms } from "./login.ts";
import { rolePaths } from "./role-paths.ts";
import { openJwtStorage } from "./storage.ts";
import { openUsedTokens } from "./used-tokens.ts";

/** One for each mount. */
export async function createJwtBackend(deps: AuthDeps, host: Host): Promise<Backend> {
  const storage = await openJwtStorage(host.storage, deps.ids);
  const keys = createKeySource({ clock: deps.clock, log: host.log, openHttp: deps.openHttp });
  const used = await openUsedTokens(host.storage, deps.expiry);
  const context: JwtContext = { ...deps, host, storage, keys, used, lock: createNamedSerial() };
  deps.tokens.issuer(storage.mountId, (entry) => renewalTerms(context, entry));
  return createBackend({
    type: "jwt",
    paths: [configPath(context), loginPath(context), ...rolePaths(context)],
    help: "Programs log in with an identity token that their platform signed, e.g. that of a CI job, and get a token with the role's policies.",
    close: () => keys.close(),
  });
}
