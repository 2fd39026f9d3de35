/** Opens the supported control planes. */
import type { ThreadContext } from "../../kernel/threads/hosted-service.ts";
import type { MonitorOptions } from "../options.ts";
import { createProvider } from "../providers/create.ts";
import type { OpenProvider } from "./network.ts";

export function openProvider(
  { clock, ids }: Pick<ThreadContext, "clock" | "ids">,
  { version }: Pick<MonitorOptions, "version">,
): OpenProvider {
  return ({ provider }, { log, observe }) =>
    createProvider(provider, { clock, ids, version, log, observe });
}
