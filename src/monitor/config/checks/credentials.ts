/** Checks that every network has a usable credential, and that no credential is unused. */
import type { Config } from "../../../kernel/config/config.ts";
import type { Complaint, Finding } from "../../../kernel/config/findings.ts";
import { atKey, isChanged } from "../../../kernel/config/checks/key-finding.ts";
import { keysOf } from "../../../kernel/config/key-group.ts";
import type { Key } from "../../../kernel/config/key.ts";
import type { Check } from "../../../kernel/config/load.ts";
import { validateAuth, settleAuth, vpnAuth, vpnAuthKeys } from "../auth-fields.ts";
import { networks, type NetworkSection } from "../network-keys.ts";
import { clearText, headscale, provider, providerKeys, vpn } from "../provider-keys.ts";

type ReadFile = (path: string) => string;

/** Covers `vpn`, `headscale` and `networks`. */
export const checkCredentials: Check = {
  needs: [...providerKeys, networks],
  run(config, _environment, readFile) {
    const listed = config.list(networks);
    if (listed.length > 0)
      return [
        ...unused(config),
        ...listed.flatMap((entry, index) => validateNetwork(config, entry, index, readFile)),
      ];
    return config.get(provider) === "headscale"
      ? missingHeadscale(config)
      : [
          ...validateAuth(vpnAuth(config), readFile).map(({ under, ...finding }) => ({
            ...finding,
            path: `vpn.auth${under}`,
          })),
          ...forgottenProvider(config),
        ];
  },
};

function missingHeadscale(config: Config): Finding[] {
  const missing = (key: Key<unknown>, remedy: string): Finding =>
    atKey(config, key, "error", { rule: "is missing with provider headscale", remedy });
  return [
    ...(config.get(headscale.url) === ""
      ? [missing(headscale.url, "write e.g. https://headscale.example.org.")]
      : []),
    ...(config.get(headscale.apiKey) === undefined
      ? [missing(headscale.apiKey, "set STEWARD_HEADSCALE__API_KEY_FILE.")]
      : []),
  ];
}

function forgottenProvider(config: Config): Finding[] {
  const written = [headscale.url, headscale.apiKey].find((key) => isChanged(config, key));
  return written === undefined
    ? []
    : [
        atKey(config, written, "warning", {
          rule: "is ignored: the provider is tailscale",
          remedy: "set provider to headscale.",
        }),
      ];
}

/**
 * With `networks`, the settings of a single network are misplaced: its name is an error, its
 * credential a warning.
 */
function unused(config: Config): Finding[] {
  const credential = [
    ...keysOf(vpnAuthKeys.method, vpnAuthKeys.oauth, vpnAuthKeys.workloadIdentity),
    headscale.url,
    headscale.apiKey,
  ].filter((key) => isChanged(config, key));
  return [
    ...(isChanged(config, vpn.network)
      ? [
          atKey(config, vpn.network, "error", {
            rule: "names a single network, and networks are configured",
            remedy: "remove one of them.",
          }),
        ]
      : []),
    ...credential.map((key) =>
      atKey(config, key, "warning", {
        rule: "is ignored: each of the networks has its own",
        remedy: "move it to the network it belongs to.",
      }),
    ),
  ];
}

function validateNetwork(
  config: Config,
  entry: NetworkSection,
  index: number,
  readFile: ReadFile,
): Finding[] {
  const at = (severity: Finding["severity"], under: string, complaint: Complaint): Finding =>
    atKey(config, networks, severity, complaint, `[${index}]${under}`);
  const plain = entry.url === "" ? undefined : clearText(entry.url);
  const clear = plain === undefined ? [] : [at("warning", ".url", plain)];
  if ((entry.provider ?? config.get(provider)) === "headscale") {
    return [
      ...clear,
      ...(entry.url === ""
        ? [
            at("error", ".url", {
              rule: "is missing with provider headscale",
              remedy: "write e.g. https://headscale.example.org.",
            }),
          ]
        : []),
      ...(entry.apiKey === undefined
        ? [
            at("error", ".api_key", {
              rule: "is missing with provider headscale",
              remedy: "name its file with api_key_file.",
            }),
          ]
        : []),
    ];
  }
  const findings = validateAuth(entry.auth, readFile).map(({ under, severity, ...complaint }) =>
    at(severity, `.auth${under}`, complaint),
  );
  if (entry.apiKey !== undefined)
    findings.push(
      at("warning", ".api_key", {
        rule: "is ignored: it is a key of Headscale, and the provider is tailscale",
        remedy: "set provider to headscale, or use auth.apikey.",
      }),
    );
  if (findings.length === 0 && settleAuth(entry.auth) === undefined)
    findings.push(
      at("warning", ".auth", {
        rule: "is missing: nothing is collected from this network",
        remedy: "set auth.oauth.client_id and client_secret.",
      }),
    );
  return [...clear, ...findings];
}
