/**
 * `steward -adopt-flow-db NETWORK`: moves the predecessor's flow database into the store of a
 * network. The daemon must not run.
 */
import { configureDaemon, type DaemonArguments } from "../daemon/configuration.ts";
import { stewardVersion } from "../daemon/version.ts";
import { systemClock } from "../kernel/base/clock.ts";
import { StewardError } from "../kernel/base/errors.ts";
import { createLog } from "../kernel/base/log.ts";
import type { Config } from "../kernel/config/config.ts";
import type { Environment } from "../kernel/config/key.ts";
import { flowStoreOptions } from "../monitor/config/flow-keys.ts";
import { networks } from "../monitor/config/network-keys.ts";
import { vpn } from "../monitor/config/provider-keys.ts";
import { adoptFlows } from "../monitor/flowstore/adoption/adopt.ts";
import type { CommandOutput } from "./command.ts";
import { withFoundFile } from "./config-search.ts";

export interface AdoptFlowsArguments extends DaemonArguments {
  /** As configured. */
  readonly network: string;
}

const INTERRUPTED = 130;

/** Resolves with 0, or with 130 after Ctrl-C. Throws why it is refused. */
export async function adoptFlowDatabase(
  options: AdoptFlowsArguments,
  environment: Environment,
  output: CommandOutput,
): Promise<number> {
  const { config } = configureDaemon(withFoundFile(options, environment), environment);
  const { network } = options;
  const place = placeOf(config, network);
  const interrupt = new AbortController();
  const onSignal = (): void => interrupt.abort(new StewardError("cancelled", "interrupted"));
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  try {
    const log = createLog({
      level: "warn",
      format: "text",
      write: (line) => output.stderr(line),
      now: () => systemClock.now(),
    });
    const version = stewardVersion();
    const { legacy, file, rows } = await adoptFlows(
      { clock: systemClock, log, version, signal: interrupt.signal, reached: () => undefined },
      { ...place, network },
    );
    output.stdout(
      rows === undefined
        ? `nothing to adopt: there is no ${legacy}\n`
        : `adopted ${rows} rows of ${legacy}, now ${legacy}.adopted, into ${file}\n`,
    );
    return 0;
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    return INTERRUPTED;
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}

/** Throws `invalid` where flows are not stored on disk, or no such network is configured. */
function placeOf(
  config: Config,
  network: string,
): { readonly directory: string; readonly maxRows: number } {
  const disk = flowStoreOptions(config)?.disk;
  if (disk === undefined)
    throw new StewardError("invalid", "flows are not stored on disk", {
      field: "flows.store.directory",
      remedy: "set flows.store.directory to the folder of the database",
    });
  const listed = config.list(networks).map(({ name }) => name);
  const known = listed.length === 0 ? [config.get(vpn.network)] : listed;
  if (!known.includes(network))
    throw new StewardError("invalid", `no network ${JSON.stringify(network)} is configured`, {
      field: "networks",
      remedy: `name one of ${known.map((name) => JSON.stringify(name)).join(", ")}`,
    });
  return disk;
}
