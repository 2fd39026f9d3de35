import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEstate } from "../../../src/demo/code-host/estate/estate.ts";
import { pageOf } from "../../../src/demo/code-host/operations/paging.ts";
import type { InstallationSpec } from "../../../src/demo/code-host/types.ts";
import { ask, keys, startHost, twoApps } from "./support.ts";

const many: InstallationSpec[] = Array.from({ length: 249 }, (_, index) => ({
  id: 3000 + index,
  account: { login: `org-${index}`, type: "Organization" as const },
  permissions: { contents: "read" as const },
  repositories: [],
  updatedAt: index < 200 ? "2024-01-01T00:00:00Z" : "2025-06-01T00:00:00Z",
}));

function links(header: string | string[] | undefined): Record<string, string> {
  return Object.fromEntries(
    [...[header ?? ""].join().matchAll(/<([^>]+)>; rel="(\w+)"/g)].map(([, url, relation]) => [
      relation ?? "",
      url ?? "",
    ]),
  );
}

describe("the list of installations", () => {
  it("comes thirty at a time, and Link names the neighbours", async () => {
    const { host, jwt, call } = await startHost({ apps: twoApps(many) });
    const first = await call("GET", "/app/installations", { as: jwt() });
    expect(first.json).toHaveLength(30);
    expect(links(first.headers.link)).toEqual({
      next: `${host.url}/app/installations?page=2`,
      last: `${host.url}/app/installations?page=9`,
    });
    const middle = await call("GET", "/app/installations?per_page=100&page=2&outdated=1", {
      as: jwt(),
    });
    const at = (page: number): string =>
      `${host.url}/app/installations?per_page=100&page=${page}&outdated=1`;
    expect(links(middle.headers.link)).toEqual({
      prev: at(1),
      next: at(3),
      last: at(3),
      first: at(1),
    });
    expect(
      links(
        (await call("GET", "/app/installations?per_page=500&page=3", { as: jwt() })).headers.link,
      ),
    ).toEqual({
      prev: expect.stringContaining("page=2"),
      first: expect.stringContaining("page=1"),
    });
    const past = await call("GET", "/app/installations?per_page=100&page=44", { as: jwt() });
    expect([past.status, past.json, Object.keys(links(past.headers.link))]).toEqual([
      200,
      [],
      ["prev", "first"],
    ]);
  });

  it("can be walked to its end, below /api/v3 as well", async () => {
    const { host, jwt } = await startHost({ apps: twoApps(many) });
    const seen: number[] = [];
    let next: string | undefined = "/api/v3/app/installations?per_page=40";
    while (next !== undefined) {
      const page = await ask(host.url, "GET", next, { as: jwt() });
      seen.push(...page.json.map((each: { id: number }) => each.id));
      next = links(page.headers.link)["next"]?.slice(host.url.length);
      if (next !== undefined) expect(next).toMatch(/^\/api\/v3\/app\/installations\?/);
    }
    expect(seen).toEqual([1001, ...many.map(({ id }) => id)]);
  });

  it("can be limited to what changed since a time, and names another host when told to", async () => {
    const { jwt, call } = await startHost({
      apps: twoApps(many),
      publicUrl: "https://elsewhere.example/",
      pageSize: 10,
    });
    const page = await call("GET", "/app/installations?since=2025-05-01T00:00:00Z", { as: jwt() });
    expect([page.json.length, links(page.headers.link)["last"]]).toEqual([
      10,
      "https://elsewhere.example/app/installations?since=2025-05-01T00%3A00%3A00Z&page=5",
    ]);
    expect(page.json[0].access_tokens_url).toBe(
      "https://elsewhere.example/app/installations/3200/access_tokens",
    );
  });

  it("never shows another app's", async () => {
    const { jwt, call } = await startHost();
    expect(
      (await call("GET", "/app/installations", { as: jwt({ iss: 2 }, { key: 1 }) })).json.map(
        (each: { id: number }) => each.id,
      ),
    ).toEqual([2001]);
    expect((await call("GET", "/app/installations/2001", { as: jwt() })).status).toBe(404);
    expect((await call("GET", "/app/installations/1001", { as: jwt() })).json).toMatchObject({
      id: 1001,
      app_id: 1,
      account: { login: "Example-Org" },
      suspended_at: null,
      single_file_paths: [".github/a.yml", "b.yml"],
    });
  });
});

describe("pages", () => {
  it("put every element on exactly one page, whatever the size", () => {
    fc.assert(
      fc.property(fc.nat(200), fc.integer({ min: 1, max: 150 }), (length, perPage) => {
        const items = Array.from({ length }, (_, index) => index);
        const seen: number[] = [];
        for (let page = 1, more = true; more; page++) {
          const { items: some, link } = pageOf(
            items,
            new URLSearchParams({ per_page: String(perPage), page: String(page) }),
            "http://h/x",
            30,
          );
          seen.push(...some);
          more = link?.includes('rel="next"') ?? false;
          expect(some.length).toBeLessThanOrEqual(100);
        }
        expect(seen).toEqual(items);
      }),
    );
  });

  it("take nonsense for the default", () => {
    const items = Array.from({ length: 50 }, (_, index) => index);
    for (const query of [
      "per_page=0",
      "per_page=-1",
      "per_page=x",
      "page=0",
      "page=-3",
      "page=1e9",
      "",
    ])
      expect(pageOf(items, new URLSearchParams(query), "http://h/x", 30).items).toHaveLength(30);
  });
});

describe("looking an installation up", () => {
  it("goes by organisation, user, enterprise or repository, in any case", async () => {
    const firm: InstallationSpec = {
      id: 7,
      account: { id: 700, login: "big-firm", type: "Enterprise" },
      permissions: {},
      repositories: [],
    };
    const { jwt, call } = await startHost({ apps: twoApps([firm]) });
    const other = jwt({ iss: 2 }, { key: 1 });
    for (const path of [
      "/orgs/example-ORG/installation",
      "/users/example-org/installation",
      "/repos/example-org/WEB/installation",
      "/organizations/77/installation",
      "/repositories/2/installation",
    ])
      expect((await call("GET", path, { as: jwt() })).json.id).toBe(1001);
    expect((await call("GET", "/users/OTHER/installation", { as: other })).json).toMatchObject({
      id: 2001,
      target_type: "User",
    });
    const { account } = (await call("GET", "/enterprises/big-firm/installation", { as: jwt() }))
      .json;
    expect([account.slug, "login" in account]).toEqual(["big-firm", false]);
    for (const path of [
      "/orgs/nobody/installation",
      "/orgs/big-firm/installation",
      "/enterprises/example-org/installation",
      "/repos/example-org/nope/installation",
      "/orgs/77/installation",
      "/repositories/99/installation",
    ])
      expect((await call("GET", path, { as: jwt() })).json).toMatchObject({ message: "Not Found" });
    expect((await call("GET", "/orgs/other/installation", { as: other })).status).toBe(404);
  });

  it("is sent on by 301 under a former name, to an address that works", async () => {
    const { jwt, call, host } = await startHost();
    for (const [from, to] of [
      ["/orgs/OLD-org/installation", "/organizations/77/installation"],
      ["/repos/old-org/web/installation", "/repositories/1/installation"],
    ] as const) {
      for (const prefix of ["", "/api/v3"]) {
        const answer = await call("GET", `${prefix}${from}`, { as: jwt() });
        expect([answer.status, answer.headers.location, answer.json.message]).toEqual([
          301,
          `${host.url}${prefix}${to}`,
          "Moved Permanently",
        ]);
        expect((await call("GET", `${prefix}${to}`, { as: jwt() })).json.id).toBe(1001);
      }
    }
  });

  it("follows what owners do while the host runs", async () => {
    const { jwt, call, host } = await startHost();
    host.estate.rename(1001, "New-Org");
    expect(
      (await call("GET", "/orgs/new-org/installation", { as: jwt() })).json.account.login,
    ).toBe("New-Org");
    expect((await call("GET", "/orgs/example-org/installation", { as: jwt() })).status).toBe(301);
    host.estate.uninstall(1001);
    expect((await call("GET", "/orgs/new-org/installation", { as: jwt() })).status).toBe(404);
    host.estate.install(1, {
      id: 1002,
      account: { login: "new-org", type: "Organization" },
      permissions: {},
      repositories: [],
    });
    expect((await call("GET", "/orgs/new-org/installation", { as: jwt() })).json.id).toBe(1002);
    expect((await call("GET", "/app", { as: jwt() })).json.installations_count).toBe(1);
  });
});

describe("an estate", () => {
  it("refuses ids that occur twice, keys that cannot verify, and changes of what is not there", () => {
    const [first, second] = twoApps();
    if (first === undefined || second === undefined) throw new Error("two apps");
    expect(() => createEstate([first, { ...second, id: 1 }])).toThrow("registered twice");
    expect(() => createEstate([first, { ...second, installations: first.installations }])).toThrow(
      "installation 1001 exists already",
    );
    expect(() => createEstate([{ ...first, publicKeys: ["no key"] }])).toThrow(
      "must be an RSA key",
    );
    const estate = createEstate([{ ...first, publicKeys: [keys[0].publicKey] }]);
    expect(() =>
      estate.install(9, {
        id: 1,
        account: { login: "x", type: "User" },
        permissions: {},
        repositories: [],
      }),
    ).toThrow("app 9 is not registered");
    expect(() => estate.change(9, {})).toThrow("installation 9 is not known");
    expect(() => estate.rename(9, "x")).toThrow("installation 9 is not known");
    expect(() => estate.uninstall(9)).not.toThrow();
  });
});
