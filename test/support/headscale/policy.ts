/** The policy on Headscale's wire: where it is kept decides what is answered. */
import { startOf, turnAt } from "../../../src/demo/network/cycle.ts";
import type { Network } from "../../../src/demo/network/network.ts";
import { POLICY_CYCLE } from "../../../src/demo/network/policy.ts";
import type { Reply } from "../../../src/demo/control-plane/reply.ts";
import type { Answers } from "./answers.ts";
import { membersOf } from "./people.ts";
import { ZERO_TIME, type Times } from "./times.ts";
import type { Flavour, PolicyMode } from "./types.ts";

/** A policy that was stored by hand. */
export interface StoredPolicy {
  readonly text: string;
  readonly changedMs: number;
}

/** The policy in force: the stored one, else one that changes by itself. */
export function policyInForce(
  network: Network,
  stored: StoredPolicy | undefined,
  nowMs: number,
): StoredPolicy {
  const turn = turnAt(POLICY_CYCLE, nowMs);
  return stored ?? { text: textInTurn(network, turn), changedMs: startOf(POLICY_CYCLE, turn) };
}

/** What a read of the policy answers. */
export function policyReply(
  policy: StoredPolicy,
  {
    mode,
    flavour,
    times,
    answers,
  }: {
    readonly mode: PolicyMode;
    readonly flavour: Flavour;
    readonly times: Times;
    readonly answers: Answers;
  },
): Reply {
  switch (mode) {
    case "none":
      return answers.trouble({
        status: 500,
        detail: "loading ACL from database",
        causes: ["acl policy not found"],
      });
    case "unset_file":
      return answers.trouble({
        status: 500,
        detail: 'reading policy from path ""',
        causes: ["open : no such file or directory"],
      });
    case "file":
      return answers.success({
        policy: policy.text,
        updatedAt: flavour === "release" ? null : ZERO_TIME,
      });
    default:
      return answers.success({
        policy: policy.text,
        updatedAt: times.utc(policy.changedMs, "policy"),
      });
  }
}

// Users are written with an @ at the end, and `accept` is the only action.
function textInTurn(network: Network, turn: number): string {
  const names = membersOf(network).map(({ loginName }) => `"${loginName.split("@")[0] ?? ""}@"`);
  const extra =
    turn % 2 === 0
      ? ""
      : `\n    {"action": "accept", "src": ["group:eng"], "dst": ["tag:server:${8000 + (turn % 90)}"]}, // opened for a trial`;
  return `{
  // Who may reach what. Reviewed by the platform team.
  "groups": {"group:eng": [${names.slice(0, 4).join(", ")}]},
  "tagOwners": {"tag:ci": ["group:eng"], "tag:server": ["group:eng"], "tag:router": [${names[0] ?? ""}], "tag:exit": [${names[0] ?? ""}]},
  "hosts": {"warehouse": "10.20.1.5/32"},
  "acls": [
    {"action": "accept", "src": ["group:eng"], "dst": ["tag:server:443"]},${extra}
    {"action": "accept", "src": ["*"], "dst": ["*:*"]},
  ],
  "autoApprovers": {"routes": {"10.20.0.0/16": ["tag:router"]}, "exitNode": ["tag:exit"]},
  "ssh": [{"action": "accept", "src": ["group:eng"], "dst": ["tag:ci"], "users": ["root"]}],
}
`;
}
