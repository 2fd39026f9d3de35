/** How etcd is reached, and the key of the lease, by the configuration. */
import { readFileSync } from "node:fs";
import { credentials, type ChannelCredentials } from "@grpc/grpc-js";
import type { CoordinationOptions, CoordinationTls } from "../options.ts";
import type { EtcdOptions } from "./store.ts";

const NAMESPACE = "steward";

export function etcdConnection({
  endpoints,
  namespace,
  leaseName,
  tls,
}: CoordinationOptions): Pick<EtcdOptions, "endpoints" | "credentials" | "key"> {
  const urls = endpoints.map((endpoint) => new URL(endpoint));
  const encrypted = urls.some(({ protocol }) => protocol === "https:");
  return {
    endpoints: urls.map(({ host, port, protocol }) =>
      port === "" ? `${host}:${protocol === "https:" ? 443 : 80}` : host,
    ),
    credentials: () => (encrypted ? encryptedBy(tls) : credentials.createInsecure()),
    key: `/${namespace === "" ? NAMESPACE : namespace}/${leaseName}`,
  };
}

/** Reads the files anew: they may have been renewed. */
function encryptedBy({ caFile, certFile, keyFile }: CoordinationTls): ChannelCredentials {
  const read = (file: string): Buffer | null => (file === "" ? null : readFileSync(file));
  return credentials.createSsl(read(caFile), read(keyFile), read(certFile));
}
