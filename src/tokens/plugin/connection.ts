/** Credentials of both connections: the host's to the plugin, and the plugin's to the host. */
import { type ChannelOptions, Client, credentials, ServerCredentials } from "@grpc/grpc-js";
import { StewardError } from "../../kernel/base/errors.ts";
import type { ListenerAddress } from "./broker.ts";
import { type Identity, TLS_NAME } from "./certificate.ts";
import { messageLimits } from "./grpc.ts";

/** Admits only the holder of the host's certificate, which is its own authority. */
export function serverCredentials(
  { privateKey, certificate }: Identity,
  hostCertificate: string,
): ServerCredentials {
  return ServerCredentials.createSsl(
    Buffer.from(hostCertificate),
    [{ private_key: Buffer.from(privateKey), cert_chain: Buffer.from(certificate) }],
    true,
  );
}

/** Connects to a listener of the host at the first call. Throws `invalid` for an unknown network. */
export function connectToHost(
  listener: ListenerAddress,
  { privateKey, certificate }: Identity,
  hostCertificate: string,
): Client {
  const options: ChannelOptions = {
    ...messageLimits,
    "grpc.ssl_target_name_override": TLS_NAME,
    "grpc.default_authority": TLS_NAME,
    // A proxy in the host's environment is for the platform, not for the host itself.
    "grpc.enable_http_proxy": 0,
    // A listener that was away for a moment is tried again soon.
    "grpc.initial_reconnect_backoff_ms": 50,
    "grpc.max_reconnect_backoff_ms": 1_000,
  };
  return new Client(
    targetOf(listener),
    credentials.createSsl(
      Buffer.from(hostCertificate),
      Buffer.from(privateKey),
      Buffer.from(certificate),
    ),
    options,
  );
}

function targetOf({ network, address }: ListenerAddress): string {
  if (network === "unix") return `unix:${address}`;
  if (network === "tcp") return address;
  throw new StewardError("invalid", "the host announced a listener of an unknown network", {
    rule: "broker",
  });
}
