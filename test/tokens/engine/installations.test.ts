import { describe, expect, it } from "vitest";
import type { InstallationSpec } from "../../../src/demo/code-host/types.ts";
import { type EngineRoom, startEngineRoom } from "../support/engine.ts";
import { createSteppedClock } from "../support/host.ts";

function spec(
  id: number,
  login: string,
  type: "Organization" | "User" = "Organization",
): InstallationSpec {
  return {
    id,
    account: { login, type },
    permissions: { contents: "read", metadata: "read" },
    repositories: [],
  };
}

async function crowded(count: number): Promise<EngineRoom> {
  const room = await startEngineRoom({ codeHost: { pageSize: 30 } });
  for (let index = 0; index < count; index++)
    room.codeHost.estate.install(room.demo.appId, spec(2_000 + index, `org-${index}`));
  return room;
}

describe("an organisation's installation", () => {
  it("is found directly, whatever the case, and asked for once", async () => {
    await using room = await crowded(250);
    for (const login of ["ORG-249", "org-249", "Org-249"])
      expect(await room.mint({ org_name: login })).toMatchObject({
        installation_id: 2_249,
        org_name: login,
      });
    expect(room.codeHost.requests()).toMatchObject({
      org_installation: 1,
      installations: 0,
      mint: 3,
    });
  });

  it("is asked for once by all who come at the same time", async () => {
    await using room = await startEngineRoom({ codeHost: { latencyMs: 20 } });
    await Promise.all(Array.from({ length: 30 }, () => room.mint({ org_name: "example-org" })));
    expect(room.codeHost.requests()).toMatchObject({ org_installation: 1, mint: 30 });
  });

  it("is not lost to the others when the first one leaves", async () => {
    await using room = await startEngineRoom({ codeHost: { latencyMs: 50 } });
    const leaving = new AbortController();
    const first = room.refusal(
      "create",
      "token",
      { org_name: "example-org" },
      { signal: leaving.signal },
    );
    const second = room.mint({ org_name: "example-org" });
    leaving.abort(new Error("gone"));
    expect((await first).message).toBe("gone");
    expect(await second).toMatchObject({ installation_id: 1001 });
    expect(room.codeHost.requests()).toMatchObject({ org_installation: 1, mint: 1 });
  });

  it("is found in the list when there is no direct answer: users, and old servers", async () => {
    await using room = await crowded(250);
    room.codeHost.estate.install(room.demo.appId, spec(9_999, "someone", "User"));
    expect(await room.mint({ org_name: "SomeOne" })).toMatchObject({ installation_id: 9_999 });
    expect(room.codeHost.requests()).toMatchObject({ org_installation: 1, installations: 3 });
    for (const fault of [
      { kind: "garbage" },
      { kind: "status", status: 405 },
      { kind: "status", status: 410 },
    ] as const) {
      room.codeHost.faults.next("org_installation", fault);
      const login = `org-${fault.kind === "garbage" ? 1 : fault.status}`;
      room.codeHost.estate.install(
        room.demo.appId,
        spec(3_000 + (fault.kind === "garbage" ? 1 : fault.status), `${login}-x`),
      );
      await expect(room.mint({ org_name: `${login}-x` })).resolves.toHaveProperty("token");
    }
  });

  it("of a user is found in the list whatever the case of either name", async () => {
    await using room = await startEngineRoom();
    room.codeHost.estate.install(room.demo.appId, spec(9_998, "OctoCat", "User"));
    room.codeHost.estate.install(room.demo.appId, spec(9_999, "hubot", "User"));
    for (const [name, id] of [
      ["octocat", 9_998],
      ["HuBot", 9_999],
    ] as const)
      expect(await room.mint({ org_name: name })).toMatchObject({
        installation_id: id,
        org_name: name,
      });
    expect(room.codeHost.requests()).toMatchObject({ org_installation: 2, installations: 2 });
  });

  it("is found under a former name by following the platform on its own host", async () => {
    await using room = await startEngineRoom();
    room.codeHost.estate.rename(1001, "new-name");
    expect(await room.mint({ org_name: "example-org" })).toMatchObject({
      installation_id: 1001,
      org_name: "example-org",
    });
  });

  it("is never looked for on another host, neither by redirect nor by link", async () => {
    await using room = await startEngineRoom();
    await using other = await startEngineRoom();
    room.codeHost.faults.next(
      "org_installation",
      { kind: "redirect", status: 301, location: `${other.codeHost.url}/orgs/x/installation` },
      2,
    );
    expect(await room.refusal("create", "token", { org_name: "nowhere" })).toMatchObject({
      code: "invalid",
      rule: "not_installed",
    });
    expect([other.codeHost.lastRequest(), room.codeHost.requests().org_installation]).toEqual([
      undefined,
      1,
    ]);
  });

  it("that does not exist is refused with the way to see those that do, and remembered for half a minute", async () => {
    const clock = createSteppedClock();
    await using room = await startEngineRoom({ clock });
    for (let times = 0; times < 3; times++)
      expect(await room.refusal("create", "token", { org_name: "no-org" })).toMatchObject({
        code: "invalid",
        rule: "not_installed",
        message:
          'app not installed in GitHub organization "no-org"; install it there, or read installations for those it has',
      });
    expect(room.codeHost.requests()).toMatchObject({ org_installation: 1, installations: 1 });
    room.codeHost.estate.install(room.demo.appId, spec(7_000, "no-org"));
    clock.monotonicAheadMs += 29_000;
    await room.refusal("create", "token", { org_name: "no-org" });
    clock.monotonicAheadMs += 2_000;
    expect(await room.mint({ org_name: "no-org" })).toMatchObject({ installation_id: 7_000 });
  });

  it("is asked for again after five minutes, or when the configuration changes", async () => {
    const clock = createSteppedClock();
    await using room = await startEngineRoom({ clock });
    await room.mint({ org_name: "example-org" });
    clock.monotonicAheadMs += 299_000;
    await room.mint({ org_name: "example-org" });
    expect(room.codeHost.requests().org_installation).toBe(1);
    clock.monotonicAheadMs += 2_000;
    await room.mint({ org_name: "example-org" });
    expect(room.codeHost.requests().org_installation).toBe(2);
    await room.ask("update", "config", { exclude_repository_metadata: true });
    await room.mint({ org_name: "example-org" });
    expect(room.codeHost.requests().org_installation).toBe(3);
  });

  it("that was installed anew under another id is found with the same request", async () => {
    await using room = await startEngineRoom();
    await room.mint({ org_name: "example-org" });
    room.codeHost.estate.uninstall(1001);
    room.codeHost.estate.install(room.demo.appId, spec(1_002, "example-org"));
    expect(await room.mint({ org_name: "example-org" })).toMatchObject({ installation_id: 1_002 });
    expect(room.codeHost.requests()).toMatchObject({ mint: 3, org_installation: 2 });
  });

  it("with a name that is no segment of a path is only looked for in the list", async () => {
    await using room = await startEngineRoom();
    for (const org of ["..", "a/b", "a?b", "ä", "%2e%2e", "."])
      expect(await room.refusal("create", "token", { org_name: org })).toMatchObject({
        rule: "not_installed",
      });
    expect(room.codeHost.requests()).toMatchObject({
      org_installation: 0,
      unknown: 0,
      installations: 6,
    });
  });

  it("with a name that no account can have is neither looked for nor remembered", async () => {
    await using room = await startEngineRoom();
    expect(await room.refusal("create", "token", { org_name: "x".repeat(101) })).toMatchObject({
      rule: "not_installed",
      field: "org_name",
    });
    expect(room.codeHost.requests()).toMatchObject({ org_installation: 0, installations: 0 });
  });

  it("is not answered by failures as if it were not there", async () => {
    await using room = await startEngineRoom();
    for (const [status, code] of [
      [500, "upstream"],
      [401, "upstream"],
      [429, "exhausted"],
    ] as const) {
      room.codeHost.faults.next("org_installation", { kind: "status", status });
      if (status === 500) room.codeHost.faults.next("installations", { kind: "status", status });
      expect(await room.refusal("create", "token", { org_name: "example-org" })).toMatchObject({
        code,
      });
    }
    await expect(room.mint({ org_name: "example-org" })).resolves.toHaveProperty("token");
  });
});

describe("the list of installations", () => {
  it("has all pages, by login", async () => {
    await using room = await crowded(250);
    const data = (await room.ask("read", "installations"))?.data ?? {};
    expect(Object.keys(data)).toHaveLength(251);
    expect(data).toMatchObject({ "example-org": 1001, "org-0": 2_000, "org-249": 2_249 });
    expect(room.codeHost.requests().installations).toBe(3);
  });

  it("is read to its end from a server that links to another name of itself, never going there", async () => {
    await using other = await startEngineRoom({ config: false });
    await using room = await startEngineRoom({ codeHost: { publicUrl: other.codeHost.url } });
    for (let index = 0; index < 250; index++)
      room.codeHost.estate.install(room.demo.appId, spec(2_000 + index, `org-${index}`));
    expect(Object.keys((await room.ask("read", "installations"))?.data ?? {})).toHaveLength(251);
    expect([room.codeHost.requests().installations, other.codeHost.lastRequest()]).toEqual([
      3,
      undefined,
    ]);
  });

  it("is refused without a configuration, and when the platform answers nonsense", async () => {
    await using room = await startEngineRoom();
    for (const fault of [
      { kind: "garbage" },
      { kind: "html", status: 200 },
      { kind: "html", status: 502 },
    ] as const) {
      room.codeHost.faults.next("installations", fault);
      expect(await room.refusal("read", "installations")).toMatchObject({ code: "upstream" });
    }
    await room.ask("delete", "config");
    expect(await room.refusal("read", "installations")).toMatchObject({ rule: "not_configured" });
  });
});
