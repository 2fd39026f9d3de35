/** Questions about the GitHub App, tried with the engine that mints tokens. */
import { readFileSync } from "node:fs";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import { Secret } from "../../kernel/base/secret.ts";
import { httpUrl } from "../../kernel/config/checks/rules.ts";
import { parseBoolean } from "../../kernel/config/values/types.ts";
import { DEFAULT_BASE_URL } from "../../tokens/engine/base-url.ts";
import { ask, until } from "./answers.ts";
import { checkApp, type GitHubApp } from "./check-app.ts";
import type { InitDeps, Part } from "./part.ts";
import { typedPath } from "./typed-path.ts";

/** Where the app is stored: the mount that every configuration has. */
export const MOUNT = "github/";

/** With the app to store, which a configuration cannot hold. */
export interface TokensPart extends Part {
  readonly app: GitHubApp;
}

/** Undefined when no tokens are to be minted. */
export async function askTokens(deps: InitDeps): Promise<TokensPart | undefined> {
  const answer = await ask(deps.answers, {
    id: "tokens",
    text: "Mint GitHub tokens with a GitHub App? yes or no",
    usual: "no",
    rule: (text) =>
      parseBoolean(text) === undefined
        ? { rule: `must be yes or no, got ${JSON.stringify(text.slice(0, 80))}` }
        : undefined,
  });
  if (parseBoolean(answer) !== true) return undefined;
  const app = await until(deps.answers, () => askApp(deps));
  return {
    app,
    secrets: [],
    lines: [
      "# GitHub tokens are minted at github/ of the Vault API. The app's id and key are in the state folder, sealed:",
      "# bao read github/config; bao read github/doctor",
      "tokens:",
      "  mounts:",
      "    - path: github",
      "      # The longest lease of a token; GitHub's own limit is an hour.",
      "      max_lease_ttl: 1h",
      "",
    ],
  };
}

async function askApp({ answers, environment, signal, say }: InitDeps): Promise<GitHubApp> {
  const url = await ask(answers, {
    id: "github.url",
    text: "Address of GitHub's API",
    usual: DEFAULT_BASE_URL,
    rule: httpUrl,
  });
  const appId = await ask(answers, {
    id: "github.app_id",
    text: "App id (on the page of the app's settings)",
    rule: (text) =>
      /^[1-9]\d{0,14}$/.test(text)
        ? undefined
        : { rule: "must be a whole number above 0", remedy: "the app's settings show it" },
  });
  const keyFile = await answers.read({
    id: "github.private_key_file",
    text: "File with the app's private key (.pem)",
  });
  // An answer given before is offered again, so that only a text takes it back. No login is `-`.
  const organisation = await answers.read({
    id: "github.organisation",
    text: "Organisation or user that the app is installed for; - or empty: not checked",
    usual: "",
  });
  const app = {
    url,
    appId: Number(appId),
    privateKey: readKey(typedPath(keyFile, "github.private_key_file", environment)),
    organisation: organisation === "-" ? "" : organisation,
  };
  say("Reading the app at GitHub; no token is minted.");
  for (const line of await checkApp(app, { environment, signal })) say(`  ${line}`);
  return app;
}

function readKey(path: string): Secret {
  try {
    return Secret.of(readFileSync(path, "utf8"), path);
  } catch (error) {
    throw new StewardError(
      "not_found",
      `${path} cannot be read: ${toStewardError(error).message}`,
      {
        field: "github.private_key_file",
        remedy: "check the path and its permissions",
        cause: error,
      },
    );
  }
}
