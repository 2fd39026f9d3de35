/**
 * Rules over several OTLP keys. Each rule is independent, so that an error in one does not hide
 * others.
 */
import type { Secret } from "../../base/secret.ts";
import { checkGroups } from "../../config/checks/group-check.ts";
import { isReadableByOthers } from "../../config/checks/rules.ts";
import type { KeyGroup } from "../../config/key-group.ts";
import type { Check } from "../../config/load.ts";
import {
  otlpBatch,
  otlpCloudInstance,
  otlpCloudToken,
  otlpExporter,
  otlpReloadEnabled,
  otlpReloadInterval,
  otlpSignalExporters,
  otlpSignals,
  type OtlpBatchKeys,
} from "./otlp-keys.ts";
import { otlpRoutes, settleEndpoint, destinationOf, type OtlpRoute } from "./otlp-route.ts";
import { checkExporterFiles, type NamedFile } from "./otlp-tls.ts";

const MIN_RELOAD_MS = 5_000;

interface Files extends OtlpRoute {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  readonly sharedCaFile: string;
  readonly sharedCertFile: string;
  readonly sharedKeyFile: string;
}

const files: readonly KeyGroup<Files>[] = otlpSignals.map((signal) => {
  const { caFile, certFile, keyFile } = otlpSignalExporters[signal];
  return {
    ...otlpRoutes[signal],
    caFile,
    certFile,
    keyFile,
    sharedCaFile: otlpExporter.caFile,
    sharedCertFile: otlpExporter.certFile,
    sharedKeyFile: otlpExporter.keyFile,
  };
});

const checkEndpoints = checkGroups<OtlpRoute>(
  Object.values(otlpRoutes),
  ({ values, source, at }) => {
    const way = destinationOf(values);
    const broken = way && settleEndpoint(way, source(way.named)).broken;
    return way === undefined || broken === undefined ? [] : [at(way.named, "error", broken)];
  },
);

/** Certificate files are usable wherever something is exported. */
const checkFiles = checkGroups<Files>(files, ({ values, keys, readFile }) => {
  if (destinationOf(values) === undefined) return [];
  const named = (
    own: "caFile" | "certFile" | "keyFile",
    shared: "sharedCaFile" | "sharedCertFile" | "sharedKeyFile",
  ): NamedFile => {
    const name = values[own] === "" ? shared : own;
    return { key: keys[name].path, file: values[name] };
  };
  return checkExporterFiles(
    {
      ca: named("caFile", "sharedCaFile"),
      cert: named("certFile", "sharedCertFile"),
      key: named("keyFile", "sharedKeyFile"),
    },
    readFile,
  );
});

const batchesFit = ({ maxQueueSize, maxBatchSize }: OtlpBatchKeys): Check =>
  checkGroups<{ readonly queue: number; readonly batch: number }>(
    [{ queue: maxQueueSize, batch: maxBatchSize }],
    ({ values: { queue, batch }, keys, at }) =>
      queue > 0 && batch > queue
        ? [
            at("batch", "error", {
              rule: `must be at most ${keys.queue.path}, which is ${queue}, got ${batch}`,
              remedy: "make the queue larger or the batch smaller.",
            }),
          ]
        : [],
  );

/** Credentials are not reloaded too often. */
const checkReload = checkGroups<{ readonly enabled: boolean; readonly interval: number }>(
  [{ enabled: otlpReloadEnabled, interval: otlpReloadInterval }],
  ({ values: { enabled, interval }, keys, at }) =>
    enabled && interval < MIN_RELOAD_MS
      ? [
          at("interval", "error", {
            rule: `must be at least 5s while ${keys.enabled.path} is true`,
            remedy: "write 30s.",
          }),
        ]
      : [],
);

/** Credentials of a hosted backend are complete. */
const cloudWhole = checkGroups<{ readonly user: string; readonly token: Secret | undefined }>(
  [{ user: otlpCloudInstance, token: otlpCloudToken }],
  ({ values: { user, token } }) =>
    (user === "") === (token === undefined)
      ? []
      : [
          {
            severity: "warning",
            path: "otlp.backend_cloud",
            rule: "is ignored: it needs instance_id and token",
            remedy: "set both.",
          },
        ],
);

interface Sent extends OtlpRoute {
  readonly headers: ReadonlyMap<string, Secret>;
  readonly insecure: boolean | undefined;
  readonly sharedHeaders: ReadonlyMap<string, Secret>;
  readonly sharedInsecure: boolean | undefined;
  readonly user: string;
  readonly token: Secret | undefined;
}

const sent: readonly KeyGroup<Sent>[] = otlpSignals.map((signal) => ({
  ...otlpRoutes[signal],
  headers: otlpSignalExporters[signal].headers,
  insecure: otlpSignalExporters[signal].insecure,
  sharedHeaders: otlpExporter.headers,
  sharedInsecure: otlpExporter.insecure,
  user: otlpCloudInstance,
  token: otlpCloudToken,
}));

/** Names of headers that carry credentials; others name e.g. a tenant. */
const CREDENTIAL = /auth|token|key|secret|password|cookie/i;

/** Others on the network can read no credentials. */
const checkClearText = checkGroups<Sent>(sent, ({ values, source, at }) => {
  const way = destinationOf(values);
  if (way === undefined) return [];
  const { endpoint, plain } = settleEndpoint(way, source(way.named));
  const isInsecure = plain ?? values.insecure ?? values.sharedInsecure ?? false;
  const url = way.protocol === "http" ? endpoint : isInsecure ? `http://${endpoint}` : "";
  const headers = values.headers.size > 0 ? values.headers : values.sharedHeaders;
  const hasCredentials =
    (values.user !== "" && values.token !== undefined) ||
    [...headers.keys()].some((name) => CREDENTIAL.test(name));
  if (!hasCredentials || !isReadableByOthers(url)) return [];
  return [
    at(way.named, "warning", {
      rule: "is sent to without encryption: others on the network can read the credentials",
      remedy: way.protocol === "http" ? "use https." : "use a receiver with TLS.",
    }),
  ];
});

export const otlpChecks: readonly Check[] = [
  checkEndpoints,
  checkFiles,
  batchesFit(otlpBatch.logs),
  batchesFit(otlpBatch.traces),
  checkReload,
  cloudWhole,
  checkClearText,
];
