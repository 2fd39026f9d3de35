/** From a request to its answer: who may ask, and which operation answers. Nothing here waits. */
import {
  listInstallations,
  lookUpAccount,
  lookUpRepository,
  showApp,
  showInstallation,
} from "./app-operations.ts";
import { notFound, type Reply } from "../answers.ts";
import type { Call, Parts } from "../call.ts";
import { mint } from "./mint.ts";
import { withToken } from "./token-operations.ts";

/** Performs one operation. */
export function perform(call: Call, parts: Parts): Reply {
  const { operation } = call.route;
  switch (operation) {
    case "unknown":
      return notFound(operation);
    case "revoke":
    case "repositories":
    case "repository":
    case "rate_limit":
      return withToken(call, parts);
    default:
      break;
  }
  const app = parts.jwt.check(call.authorization, call.nowMs);
  if ("status" in app) return app;
  switch (operation) {
    case "app":
      return showApp(app, call.bases);
    case "installations":
      return listInstallations(app, call, parts);
    case "installation":
      return showInstallation(app, call);
    case "repo_installation":
      return lookUpRepository(app, call);
    case "mint":
      return mint(app, call, parts);
    default:
      return lookUpAccount(app, call, operation);
  }
}
