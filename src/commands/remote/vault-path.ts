/** Paths of the Vault API below a mount or a prefix. */
import { pathOf } from "../../kernel/client/http/url.ts";

/** Encodes each segment; a mount such as `team/github` keeps its slashes. */
export function encodedPath(path: string): string {
  return path
    .split("/")
    .map((part) => pathOf`${part}`)
    .join("/");
}
