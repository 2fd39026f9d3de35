/** A host of plugins with Steward's plugin mounted, and the simulated GitHub that it mints at. */
import { demoCodeHost, type DemoCodeHost } from "../../../src/demo/code-host/demo.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { LAUNCHER } from "../../support/launcher.ts";
import {
  type HostOutcome,
  type PluginHost,
  type PluginHostOptions,
  startPluginHost,
} from "../../support/plugin-host.ts";
import { createMemoryHost } from "../support/host.ts";

/** Where the plugin is mounted. */
export const MOUNT = "github/";

/** What the host says of a mount. */
interface Mounted {
  readonly type: string;
  readonly version: string;
  readonly pid: number;
  readonly special_paths: {
    readonly Unauthenticated: readonly string[];
    readonly SealWrapStorage: readonly string[];
    readonly Root: readonly string[] | null;
  };
}

export interface PluginEstate extends AsyncDisposable {
  readonly host: PluginHost;
  readonly demo: DemoCodeHost;
  readonly mounted: Mounted;
  /** Writes the app's configuration to a mount. */
  configure(mount?: string): Promise<HostOutcome>;
  /** A mint for the demo's installation that must succeed; its response. */
  mint(mount?: string): Promise<NonNullable<HostOutcome["response"]>>;
  /** What a host sends when a lease ends. */
  revoke(response: HostOutcome["response"], internalData?: object): Promise<HostOutcome>;
}

/** Starts everything; the mount is configured. */
export async function startPluginEstate(
  options: Partial<PluginHostOptions> = {},
): Promise<PluginEstate> {
  const { log } = createMemoryHost();
  const demo = await demoCodeHost({ clock: systemClock, ids: systemIds, log });
  await demo.codeHost.start();
  const host = await startPluginHost({ command: LAUNCHER, args: ["plugin"], ...options });
  const stop = async (): Promise<void> => {
    await host[Symbol.asyncDispose]();
    await demo.codeHost.stop();
  };
  const mounted = await host.order<Mounted>("mount", { mount: MOUNT }).catch(async (error) => {
    await stop();
    throw error;
  });
  const estate: PluginEstate = {
    host,
    demo,
    mounted,
    configure: (mount = MOUNT) =>
      host.request(mount, "update", "config", {
        data: { app_id: demo.appId, prv_key: demo.privateKeyPem, base_url: demo.codeHost.url },
      }),
    async mint(mount = MOUNT) {
      const { response, error } = await host.request(mount, "update", "token", {
        data: { installation_id: demo.installationId },
      });
      if (response?.secret === undefined)
        throw new Error(`not minted: ${JSON.stringify(error ?? response)}`);
      return response;
    },
    revoke: (response, internalData = response?.secret?.internal_data ?? {}) =>
      host.request(MOUNT, "revoke", "token", {
        data: response?.data ?? {},
        internal_data: internalData,
      }),
    [Symbol.asyncDispose]: stop,
  };
  await estate.configure();
  return estate;
}
