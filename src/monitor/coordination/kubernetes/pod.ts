/**
 * What a pod knows of its cluster: the address of the API and the files of its service account
 * (https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/).
 */
import type { Environment } from "../../../kernel/config/key.ts";

const FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Files that the kubelet renews in place: read at each use. */
export const podFiles = {
  token: `${FOLDER}/token`,
  ca: `${FOLDER}/ca.crt`,
  namespace: `${FOLDER}/namespace`,
} as const;

export function isInPod(environment: Environment): boolean {
  return apiOfPod(environment) !== undefined;
}

/** The API's address; undefined outside of a pod. */
export function apiOfPod(environment: Environment): string | undefined {
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "443" } = environment;
  if (host === "") return undefined;
  return `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
