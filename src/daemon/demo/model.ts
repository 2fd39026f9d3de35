/** The demo's language model: a simulated provider on loopback, and suggestions to review. */
import {
  anthropicKey,
  anthropicUrl,
  compatibleKey,
  compatibleUrl,
  openAiKey,
  openAiUrl,
} from "../../dedup/ai/keys.ts";
import { startModel } from "../../demo/model/model.ts";
import { AiService } from "../../gen/steward/dedup/v1/ai_pb.ts";
import { DocumentService } from "../../gen/steward/dedup/v1/documents_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import type { Log } from "../../kernel/base/log.ts";
import { Secret } from "../../kernel/base/secret.ts";
import type { Config } from "../../kernel/config/config.ts";
import type { Key } from "../../kernel/config/key.ts";
import { createCall, type Service } from "../../kernel/service.ts";
import { callHandler } from "../pages/call-handler.ts";

/** Documents that it is asked about by itself; a reader can ask for the rest. */
const DOCUMENTS = 40;

export interface DemoModel {
  /** The configuration with the simulated model in place of any provider's. */
  readonly config: Config;
  /** Asks it about some documents, unless there are suggestions already. */
  begin(service: Service, signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/** Listens when it resolves. */
export async function startDemoModel(
  deps: { readonly clock: Clock; readonly ids: Ids; readonly log: Log },
  config: Config,
): Promise<DemoModel> {
  const key = Secret.of(deps.ids.base62(32), "demo");
  const model = await startModel({ ...deps, key });
  // A key of the environment may be there for other programs, and asking costs money.
  const replaced = new Map<Key<unknown>, unknown>([
    [openAiKey, key],
    [openAiUrl, `${model.url}/v1`],
    [anthropicKey, undefined],
    [anthropicUrl, model.url],
    [compatibleKey, key],
    [compatibleUrl, `${model.url}/v1`],
  ]);
  return {
    config: {
      ...config,
      get: <T>(asked: Key<T>) =>
        replaced.has(asked) ? (replaced.get(asked) as T) : config.get(asked),
    },
    begin: (service, signal) => suggestFor(service, createCall({ signal, requestId: "demo" })),
    stop: () => model.stop(),
  };
}

async function suggestFor({ rpc }: Service, call: ReturnType<typeof createCall>): Promise<void> {
  const { getAiStats, startAiProcessing } = AiService.method;
  const stats = await callHandler(rpc, getAiStats, {}, call);
  if ((stats.data?.totalProcessed ?? 0) > 0) return;
  const { listDocuments } = DocumentService.method;
  const { data } = await callHandler(rpc, listDocuments, { limit: DOCUMENTS }, call);
  const documentIds = data.map(({ id }) => id);
  if (documentIds.length > 0) await callHandler(rpc, startAiProcessing, { documentIds }, call);
}
