/** The tokens service over a folder, unsealed, without a daemon around it. To be closed. */
import { systemClock, type Clock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import type { Log } from "../../../src/kernel/base/log.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import { openTokens, type Tokens, type TokensOptions } from "../../../src/tokens/service.ts";
import type { MountSpec } from "../../../src/tokens/vault/mounts/mounts.ts";
import { quietLog } from "../../kernel/state/fixtures/tables.ts";
import { direct } from "./engine.ts";

/** The mount that the configuration declares by default. */
export const githubMount: MountSpec = {
  path: "github/",
  class: "secret",
  type: "github",
  description: "",
  defaultLeaseTtlMs: 0,
  maxLeaseTtlMs: 0,
};

/** Version 0.1.0 without mounts, with an audit file in the folder. */
export async function openService(
  directory: string,
  options: Partial<TokensOptions> = {},
  { clock = systemClock, log = quietLog }: { readonly clock?: Clock; readonly log?: Log } = {},
): Promise<Tokens> {
  return await openTokens(
    {
      state: createStateFactory({ directory, clock, log: quietLog }),
      clock,
      ids: systemIds,
      log,
    },
    {
      directory,
      version: "0.1.0",
      mounts: [],
      seal: { type: "file", keyFile: undefined, credentials: undefined },
      audit: [{ filePath: "audit.log", hmacAccessor: true, elideListResponses: false }],
      proxy: direct,
      ...options,
    },
    new AbortController().signal,
  );
}
