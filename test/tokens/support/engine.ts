/** An engine in a host in memory, configured for a code host's simulator. To be disposed. */
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { demoCodeHost, type DemoCodeHost } from "../../../src/demo/code-host/demo.ts";
import type { CodeHostOptions } from "../../../src/demo/code-host/types.ts";
import type { CodeHost } from "../../../src/demo/code-host/code-host.ts";
import type { Clock } from "../../../src/kernel/base/clock.ts";
import { createEngine, unreleased } from "../../../src/tokens/engine/engine.ts";
import type { ProxyOptions } from "../../../src/tokens/engine/platform/proxy.ts";
import type {
  Backend,
  Data,
  LogicalRequest,
  LogicalResponse,
  Operation,
  Sharing,
} from "../../../src/tokens/logical/types.ts";
import { createMemoryHost, logical, type MemoryHost } from "./host.ts";

/** A running engine and what is around it. */
export interface EngineRoom extends AsyncDisposable {
  readonly backend: Backend;
  readonly host: MemoryHost;
  readonly codeHost: CodeHost;
  readonly demo: DemoCodeHost;
  /** Handles one operation. */
  ask(
    operation: Operation,
    path: string,
    data?: Data,
    more?: Partial<LogicalRequest>,
  ): Promise<LogicalResponse | undefined>;
  /** The error of one operation; fails the test when there is none. */
  refusal(
    operation: Operation,
    path: string,
    data?: Data,
    more?: Partial<LogicalRequest>,
  ): Promise<Refusal>;
  /** Data of a mint. */
  mint(data?: Data, path?: string): Promise<Data>;
}

/** What tests look at of an error. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly rule: string | undefined;
  readonly retryAfterMs: number | undefined;
}

/** How to set up a room. */
export interface RoomOptions {
  readonly codeHost?: Omit<CodeHostOptions, "apps">;
  readonly clock?: Clock;
  readonly proxy?: ProxyOptions;
  /** Of the host, for a token cache. */
  readonly sharing?: Sharing;
  /** Further fields of the configuration; false: none is written. */
  readonly config?: Data | false;
}

/** No proxy. */
export const direct: ProxyOptions = { http: undefined, https: undefined, none: undefined };

/** Starts the simulator and configures an engine for it. */
export async function startEngineRoom(options: RoomOptions = {}): Promise<EngineRoom> {
  const { sharing } = options;
  const host = {
    ...createMemoryHost(options.clock ?? systemClock),
    ...(sharing === undefined ? {} : { sharing }),
  };
  const demo = await demoCodeHost(
    { clock: systemClock, ids: systemIds, log: createMemoryHost().log },
    options.codeHost ?? {},
  );
  const { codeHost } = demo;
  await codeHost.start();
  const backend = await createEngine({
    version: "0.1.0",
    build: unreleased,
    proxy: options.proxy ?? direct,
  })(host);
  const ask: EngineRoom["ask"] = (operation, path, data = {}, more = {}) =>
    backend.handle(logical(operation, path, data, more));
  if (options.config !== false)
    await ask("create", "config", {
      app_id: demo.appId,
      prv_key: demo.privateKeyPem,
      base_url: codeHost.url,
      ...options.config,
    });
  return {
    backend,
    host,
    codeHost,
    demo,
    ask,
    refusal: (...isRead) => refusalOf(ask(...isRead)),
    async mint(data = { installation_id: demo.installationId }, path = "token") {
      const response = await ask("create", path, data);
      return response?.data ?? {};
    },
    async [Symbol.asyncDispose]() {
      await backend.close();
      await codeHost.stop();
    },
  };
}

/** What a promise rejects with. */
export async function refusalOf(isRead: Promise<unknown>): Promise<Refusal> {
  const outcome: unknown = await isRead.then(
    () => new Error("it was not refused"),
    (error: unknown) => error,
  );
  return outcome as Refusal;
}
