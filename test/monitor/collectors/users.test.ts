import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { users } from "../../../src/monitor/collectors/users.ts";
import { aUser, DAY_MS, START_MS } from "./entities.ts";
import { createFakeProvider, failing } from "./fake-provider.ts";
import { openCollector } from "./harness.ts";

const ada = aUser("ada", {
  role: "admin",
  createdMs: START_MS - DAY_MS,
  lastSeenMs: START_MS - 1_500,
  deviceCount: 3,
  connected: true,
});
const bob = aUser("bob", { createdMs: START_MS + DAY_MS, deviceCount: 0, connected: false });

describe("The collector of users", () => {
  it("counts users, tells what each is doing, and counts open invitations", async () => {
    const provider = createFakeProvider({
      users: [ada, bob],
      userInvites: [
        { role: "member", lastEmailSentMs: START_MS - 60_000 },
        { role: "member", lastEmailSentMs: undefined },
        { role: "admin", lastEmailSentMs: START_MS + 1 },
      ],
    });
    const { run, series, records } = openCollector(users, provider);
    await run();
    expect(series()).toEqual([
      'vpn.user.connected{user.id="ada",user.name="ada@example.test"} 1',
      'vpn.user.connected{user.id="bob",user.name="bob@example.test"} 0',
      'vpn.user.devices{user.id="ada",user.name="ada@example.test"} 3',
      'vpn.user.devices{user.id="bob",user.name="bob@example.test"} 0',
      `vpn.user.last_seen{user.id="ada",user.name="ada@example.test"} ${Math.floor((START_MS - 1_500) / 1_000)}`,
      'vpn.user_invites.count{vpn.user_invite.role="admin",vpn.user_invite.delivery="emailed"} 1',
      'vpn.user_invites.count{vpn.user_invite.role="member",vpn.user_invite.delivery="emailed"} 1',
      'vpn.user_invites.count{vpn.user_invite.role="member",vpn.user_invite.delivery="manual_link"} 1',
      'vpn.user_invites.pending_age{vpn.user_invite.role="admin"} n=1 sum=0',
      'vpn.user_invites.pending_age{vpn.user_invite.role="member"} n=1 sum=60',
      "vpn.users.age n=2 sum=86400",
      'vpn.users.count{vpn.user.role="admin",vpn.user.status="active",vpn.user.type="member"} 1',
      'vpn.users.count{vpn.user.role="member",vpn.user.status="active",vpn.user.type="member"} 1',
    ]);
    expect(records()).toEqual([]);
    expect(provider.calls).toEqual(["users", "userInvites"]);
  });

  it("says nothing of activity, nor of invitations, that the control plane does not tell", async () => {
    const provider = createFakeProvider(
      { users: [aUser("1", { role: "unknown", status: "unknown", type: "unknown" })] },
      { kind: "headscale", unsupported: ["userInvites"] },
    );
    const { run, series } = openCollector(users, provider);
    await run();
    expect(series()).toEqual([
      'vpn.users.count{vpn.user.role="unknown",vpn.user.status="unknown",vpn.user.type="unknown"} 1',
    ]);
    expect(provider.calls).toEqual(["users"]);
  });

  it("says nothing of single users where that is switched off", async () => {
    const { run, series } = openCollector(
      users,
      createFakeProvider({ users: [ada], userInvites: [] }),
      {
        cardinality: {
          perEntity: { device: true, user: false, key: true, webhook: true, service: true },
        },
      },
    );
    await run();
    expect(series("vpn.user.")).toEqual([]);
    expect(series("vpn.users.count")).toHaveLength(1);
  });

  it("ends what belongs to a user who is gone", async () => {
    const provider = createFakeProvider({ users: [ada, bob], userInvites: [] });
    const { run, series } = openCollector(users, provider);
    await run();
    provider.answers.users = [bob];
    await run();
    expect(series().filter((line) => line.includes("ada") || line.includes("admin"))).toEqual([]);
    expect(series("vpn.user.")).toHaveLength(2);
  });

  it("keeps everything when users are not to be had, and asks for no invitations then", async () => {
    const provider = createFakeProvider({
      users: [ada],
      userInvites: [{ role: "member", lastEmailSentMs: undefined }],
    });
    const { run, series, states } = openCollector(users, provider);
    await run();
    const before = series();
    provider.answers.users = () => {
      throw failing(401);
    };
    await expect(run()).rejects.toMatchObject({ code: "upstream" });
    expect(series()).toEqual(before);
    expect(provider.calls).toEqual(["users", "userInvites", "users"]);
    expect(states.get("listUsers")).toBe("credential_rejected");
  });

  it("fails after the users when invitations are not to be had: their old counts stay", async () => {
    const provider = createFakeProvider({
      users: [ada],
      userInvites: [{ role: "member", lastEmailSentMs: undefined }],
    });
    const { run, series, states } = openCollector(users, provider);
    await run();
    provider.answers.users = [ada, bob];
    provider.answers.userInvites = () => {
      throw failing(403);
    };
    await expect(run()).rejects.toMatchObject({ code: "upstream" });
    expect(series("vpn.user.connected")).toHaveLength(2);
    expect(series("vpn.user_invites.count")).toHaveLength(1);
    expect(states.get("user_invites")).toBe("scope_denied");
  });

  it("takes any list of users", async () => {
    const text = fc.string({ maxLength: 12 });
    const time = fc.option(fc.double(), { nil: undefined });
    const any = fc.record({
      id: text,
      login: text,
      displayName: text,
      role: text,
      status: text,
      type: text,
      createdMs: time,
      lastSeenMs: time,
      deviceCount: fc.option(fc.double(), { nil: undefined }),
      connected: fc.option(fc.boolean(), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(any, { maxLength: 6 }),
        fc.array(fc.record({ role: text, lastEmailSentMs: time }), { maxLength: 4 }),
        async (list, userInvites) => {
          const { run, series } = openCollector(
            users,
            createFakeProvider({ users: list, userInvites }),
          );
          await run();
          expect(
            series("vpn.users.count").reduce(
              (sum, line) => sum + Number(line.split(" ").at(-1)),
              0,
            ),
          ).toBe(list.length);
        },
      ),
    );
  });
});
