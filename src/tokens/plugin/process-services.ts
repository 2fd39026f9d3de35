/** Services about the process and not about a mount: health, broker, shutdown, version. */
import type { Server } from "@grpc/grpc-js";
import { StewardError } from "../../kernel/base/errors.ts";
import {
  Health,
  HealthCheckResponse_ServingStatus as Serving,
} from "../../gen/grpc/health/v1/health_pb.ts";
import { GRPCBroker, GRPCController, GRPCStdio } from "../../gen/vault/go_plugin_pb.ts";
import { PluginMultiplexing } from "../../gen/vault/multiplexing_pb.ts";
import { PluginVersion } from "../../gen/vault/version_pb.ts";
import type { Broker } from "./broker.ts";
import { addService } from "./grpc.ts";

/** The name by which hosts ask for the health of any plugin. */
const HEALTH_NAME = "plugin";

export interface ProcessDeps {
  readonly broker: Broker;
  /** E.g. `0.1.0`. */
  readonly version: string;
  /** The host wants the process to end. */
  readonly shutdown: () => void;
  /** The broker's stream opened (1) or ended (-1): a live host has one. */
  readonly streams: (change: 1 | -1) => void;
}

/** Ends its streams when the signal fires, since a server does not stop before they end. */
export function addProcessServices(
  server: Server,
  { broker, version, shutdown, streams }: ProcessDeps,
  stopping: AbortSignal,
): void {
  addService(server, Health, {
    check({ service }) {
      if (service !== "" && service !== HEALTH_NAME)
        throw new StewardError("not_found", "unknown service");
      return Promise.resolve({ status: Serving.SERVING });
    },
  });
  addService(server, GRPCBroker, {
    startStream(stream) {
      streams(1);
      // A listener of our own is never announced: the host has nothing to ask there.
      stream.on("data", ({ serviceId, network, address }) =>
        broker.announce(serviceId, { network, address }),
      );
      stream.on("error", () => undefined);
      stream.once("end", () => stream.end());
      stream.once("close", () => streams(-1));
      endWith(stopping, stream);
    },
  });
  addService(server, GRPCController, {
    shutdown() {
      shutdown();
      return Promise.resolve({});
    },
  });
  addService(server, GRPCStdio, {
    // The log is on standard error, which the host reads itself.
    streamStdio: (stream) => endWith(stopping, stream),
  });
  addService(server, PluginMultiplexing, {
    multiplexingSupport: () => Promise.resolve({ supported: true }),
  });
  addService(server, PluginVersion, {
    version: () => Promise.resolve({ pluginVersion: `v${version}` }),
  });
}

function endWith(stopping: AbortSignal, stream: { end(): unknown }): void {
  if (stopping.aborted) stream.end();
  else stopping.addEventListener("abort", () => stream.end(), { once: true });
}
