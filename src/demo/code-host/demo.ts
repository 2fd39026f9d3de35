/**
 * The demo's code host: one app of a key of its own, installed on `example-org` with two
 * repositories.
 */
import { generateKeyPair } from "node:crypto";
import { promisify } from "node:util";
import { createCodeHost, type CodeHostDeps, type CodeHost } from "./code-host.ts";
import type { AppSpec, CodeHostOptions } from "./types.ts";

/** The demo's host, not yet started, and what configures a mount for it. */
export interface DemoCodeHost {
  readonly codeHost: CodeHost;
  readonly appId: number;
  readonly organisation: string;
  readonly installationId: number;
  /** PKCS#1, as upstream hands keys out. Made anew each time. */
  readonly privateKeyPem: string;
}

const APP_ID = 1;
const ORGANISATION = "example-org";
const INSTALLATION_ID = 1001;
const makeKeyPair = promisify(generateKeyPair);

/** Makes a key and a host that knows it. `options` override the demo's own. */
export async function demoCodeHost(
  deps: CodeHostDeps,
  options: Omit<CodeHostOptions, "apps"> = {},
): Promise<DemoCodeHost> {
  const { publicKey, privateKey } = await makeKeyPair("rsa", { modulusLength: 2048 });
  const app: AppSpec = {
    id: APP_ID,
    clientId: "Iv23liDemoSteward0001",
    slug: "steward-demo",
    name: "Steward demo",
    owner: ORGANISATION,
    publicKeys: [publicKey],
    installations: [
      {
        id: INSTALLATION_ID,
        account: { id: 5_001_001, login: ORGANISATION, type: "Organization" },
        permissions: {
          actions: "read",
          checks: "write",
          contents: "write",
          deployments: "write",
          issues: "write",
          members: "read",
          metadata: "read",
          packages: "read",
          pull_requests: "write",
          statuses: "write",
        },
        repositories: [
          { id: 9001, name: "web", description: "The pages that customers see." },
          { id: 9002, name: "api", description: "The service behind the pages." },
        ],
        events: ["push", "pull_request"],
      },
    ],
  };
  const privateKeyPem = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
  return {
    codeHost: createCodeHost(deps, { ...options, apps: [app] }),
    appId: APP_ID,
    organisation: ORGANISATION,
    installationId: INSTALLATION_ID,
    privateKeyPem,
  };
}
