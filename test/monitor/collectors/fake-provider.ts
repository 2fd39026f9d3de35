/**
 * A control plane from plain values, for tests of collectors: every answer can be changed between
 * runs, and calls are kept.
 */
import { classifyStatus, failed } from "../../../src/kernel/client/failure.ts";
import type { StewardError } from "../../../src/kernel/base/errors.ts";
import type {
  Contacts,
  Device,
  DeviceInvite,
  Dns,
  Key,
  LogStreamStatus,
  LogStreamType,
  OAuthApp,
  Policy,
  PolicyFindings,
  PostureAttributes,
  PostureIntegration,
  ServiceHost,
  Settings,
  User,
  UserInvite,
  VirtualService,
  WebhookEndpoint,
} from "../../../src/monitor/providers/model.ts";
import type { Capability, Provider, TimeWindow } from "../../../src/monitor/providers/provider.ts";

/**
 * What the control plane answers: a value, or a function of what is asked, which may throw or wait.
 * What is missing fails with status 404.
 */
export interface Answers {
  devices?: Answer<readonly Device[], []>;
  devicePosture?: Answer<PostureAttributes, [deviceId: string]>;
  deviceInvites?: Answer<readonly DeviceInvite[], [deviceId: string]>;
  users?: Answer<readonly User[], []>;
  userInvites?: Answer<readonly UserInvite[], []>;
  keys?: Answer<readonly Key[], []>;
  settings?: Answer<Settings, []>;
  policy?: Answer<Policy | "none", []>;
  validatePolicy?: Answer<PolicyFindings, [text: string]>;
  dns?: Answer<Dns, []>;
  contacts?: Answer<Contacts, []>;
  webhooks?: Answer<readonly WebhookEndpoint[], []>;
  postureIntegrations?: Answer<readonly PostureIntegration[], []>;
  logStream?: Answer<LogStreamStatus | "none", [type: LogStreamType]>;
  oauthApps?: Answer<readonly OAuthApp[], []>;
  services?: Answer<readonly VirtualService[], []>;
  serviceHosts?: Answer<readonly ServiceHost[], [name: string]>;
  flowLogs?: Answer<readonly (readonly unknown[])[], [window: TimeWindow]>;
  auditLogs?: Answer<readonly (readonly unknown[])[], [window: TimeWindow]>;
  networkName?: Answer<string, []>;
}

type Answer<T, A extends readonly unknown[]> =
  | T
  | ((...asked: readonly [...A, AbortSignal]) => T | Promise<T>);

/** The provider, what it answers and what it was asked. */
export interface FakeProvider extends Provider {
  /** Changed at will. */
  readonly answers: Answers;
  /** E.g. `devicePosture 17`, in order. */
  readonly calls: string[];
}

/** The error of a client whose upstream answered with this status. */
export function failing(status: number): StewardError {
  return failed({ class: classifyStatus(status, {}), status });
}

/** A control plane that answers so. `overridden` takes the place of whole methods. */
export function createFakeProvider(
  answers: Answers,
  {
    unsupported = [],
    ...overridden
  }: Partial<Provider> & { readonly unsupported?: readonly Capability[] } = {},
): FakeProvider {
  const calls: string[] = [];
  const ask = async <T, A extends readonly unknown[]>(
    name: keyof Answers,
    answer: Answer<T, A> | undefined,
    asked: readonly [...A, AbortSignal],
  ): Promise<T> => {
    const [signal] = asked.slice(-1) as unknown as [AbortSignal];
    signal.throwIfAborted();
    calls.push(
      [
        name,
        ...asked
          .slice(0, -1)
          .map((each) => (typeof each === "string" ? each : JSON.stringify(each))),
      ].join(" "),
    );
    if (answer === undefined) throw failing(404);
    return typeof answer === "function"
      ? (answer as (...given: readonly [...A, AbortSignal]) => T | Promise<T>)(...asked)
      : answer;
  };
  const provider: Provider = {
    kind: "tailscale",
    granted: { method: "oauth", scopes: ["all:read"] },
    supports: (capability) => !unsupported.includes(capability),
    devices: (signal) => ask("devices", answers.devices, [signal]),
    devicePosture: (id, signal) => ask("devicePosture", answers.devicePosture, [id, signal]),
    deviceInvites: (id, signal) => ask("deviceInvites", answers.deviceInvites, [id, signal]),
    users: (signal) => ask("users", answers.users, [signal]),
    userInvites: (signal) => ask("userInvites", answers.userInvites, [signal]),
    keys: (signal) => ask("keys", answers.keys, [signal]),
    settings: (signal) => ask("settings", answers.settings, [signal]),
    policy: async (signal) => unlessNone(await ask("policy", answers.policy, [signal])),
    validatePolicy: (text, signal) => ask("validatePolicy", answers.validatePolicy, [text, signal]),
    dns: (signal) => ask("dns", answers.dns, [signal]),
    contacts: (signal) => ask("contacts", answers.contacts, [signal]),
    webhooks: (signal) => ask("webhooks", answers.webhooks, [signal]),
    postureIntegrations: (signal) =>
      ask("postureIntegrations", answers.postureIntegrations, [signal]),
    logStream: async (type, signal) =>
      unlessNone(await ask("logStream", answers.logStream, [type, signal])),
    oauthApps: (signal) => ask("oauthApps", answers.oauthApps, [signal]),
    services: (signal) => ask("services", answers.services, [signal]),
    serviceHosts: (name, signal) => ask("serviceHosts", answers.serviceHosts, [name, signal]),
    flowLogs: (window, signal) =>
      batches(() => ask("flowLogs", answers.flowLogs, [window, signal])),
    auditLogs: (window, signal) =>
      batches(() => ask("auditLogs", answers.auditLogs, [window, signal])),
    networkName: (signal) => ask("networkName", answers.networkName, [signal]),
    status: () => [],
    close: async () => undefined,
  };
  return { ...provider, ...overridden, answers, calls };
}

function unlessNone<T>(answer: T | "none"): T | undefined {
  return answer === "none" ? undefined : answer;
}

async function* batches(
  ask: () => Promise<readonly (readonly unknown[])[]>,
): AsyncIterable<unknown[]> {
  for (const batch of await ask()) yield [...batch];
}
