import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEngineMetrics } from "../../../src/tokens/engine/metrics/engine-metrics.ts";
import { createSummary } from "../../../src/tokens/engine/metrics/summary.ts";
import { unreleased } from "../../../src/tokens/engine/engine.ts";
import { startEngineRoom } from "../support/engine.ts";
import { createSteppedClock, logical } from "../support/host.ts";

describe("a summary", () => {
  it("has quantiles within two percent of the exact ones", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 1e-5, max: 100, noNaN: true }), { minLength: 1, maxLength: 500 }),
        fc.constantFrom(0.5, 0.9, 0.99),
        (values, share) => {
          const summary = createSummary(createSteppedClock());
          for (const value of values) summary.observe(value);
          const exact =
            values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(share * values.length) - 1)] ??
            0;
          expect(Math.abs(summary.quantile(share) - exact) / exact).toBeLessThan(0.02);
        },
      ),
    );
  });

  it("forgets after ten minutes what it goes on counting", () => {
    const clock = createSteppedClock();
    const summary = createSummary(clock);
    summary.observe(1);
    clock.monotonicAheadMs += 7 * 60_000;
    summary.observe(3);
    expect(summary.quantile(0.5)).toBeCloseTo(1, 1);
    clock.monotonicAheadMs += 5 * 60_000;
    expect(summary.quantile(0.5)).toBeCloseTo(3, 1);
    clock.monotonicAheadMs += 60 * 60_000;
    expect([summary.quantile(0.99), summary.count, summary.sum]).toEqual([Number.NaN, 2, 4]);
  });

  it("holds anything in bounded memory", () => {
    const summary = createSummary(createSteppedClock());
    for (const value of [0, -1, 1e-12, 1e9, Number.MAX_VALUE]) summary.observe(value);
    expect(summary.count).toBe(5);
    expect(Number.isFinite(summary.quantile(0.99))).toBe(true);
  });
});

describe("metrics", () => {
  it("show mints and revocations with the original's names and labels", async () => {
    await using room = await startEngineRoom();
    const minted = await room.ask("create", "token", {
      org_name: "example-org",
      permissions: "contents=read",
    });
    await room.mint();
    await room.refusal("create", "token", { installation_id: 4 });
    await room.refusal("create", "token", { org_name: "nope" });
    await room.refusal("create", "token", {});
    await room.backend.handle(
      logical("revoke", "token", minted?.data ?? {}, {
        secret: { internalData: minted?.secret?.internalData ?? {}, leaseId: "x" },
      }),
    );
    room.codeHost.faults.next("revoke", { kind: "status", status: 500 });
    await room.backend
      .handle(
        logical("revoke", "token", minted?.data ?? {}, {
          secret: { internalData: minted?.secret?.internalData ?? {}, leaseId: "x" },
        }),
      )
      .catch(() => undefined);
    const { raw } = (await room.ask("read", "metrics")) ?? {};
    expect(raw).toMatchObject({
      status: 200,
      contentType: "text/plain; version=0.0.4; charset=utf-8",
    });
    const text = String(raw?.body).replaceAll(/ [\d.e-]+$/gm, " N");
    const request = (labels: string): string =>
      ["0.5", "0.9", "0.99"]
        .map(
          (share) =>
            `vault_github_token_request_duration_seconds{${labels},quantile="${share}"} N\n`,
        )
        .join("") +
      `vault_github_token_request_duration_seconds_sum{${labels}} N\nvault_github_token_request_duration_seconds_count{${labels}} N\n`;
    expect(text).toContain(
      "# HELP vault_github_token_request_duration_seconds Total duration of Vault GitHub token requests in seconds.\n# TYPE vault_github_token_request_duration_seconds summary\n",
    );
    expect(text).toContain(
      request(
        'installation_id="1001",org_name="example-org",permissions="true",repositories="false",repository_ids="false",success="true"',
      ),
    );
    expect(text).toContain(
      request(
        'installation_id="1001",org_name="",permissions="false",repositories="false",repository_ids="false",success="true"',
      ),
    );
    expect(text).toContain(
      request(
        'installation_id="4",org_name="",permissions="false",repositories="false",repository_ids="false",success="false"',
      ),
    );
    expect(text).toContain(
      request(
        'installation_id="",org_name="nope",permissions="false",repositories="false",repository_ids="false",success="false"',
      ),
    );
    expect(text).toContain(
      'vault_github_token_revocation_request_duration_seconds_count{success="true"} N\n',
    );
    expect(text).toContain(
      'vault_github_token_revocation_request_duration_seconds_count{success="false"} N\n',
    );
    expect(String(raw?.body).match(/_count\{.*\} 1$/gm)).toHaveLength(6);
    expect(text).toMatch(
      /vault_github_token_build_info\{branch="",goarch="\w+",goos="linux",goversion="node[\d.]+",revision="",tags="unknown",version=""\} N\n/,
    );
  });

  it("say of each list by itself whether it was given", async () => {
    await using room = await startEngineRoom();
    const lists = [
      { name: "repositories", list: "web", times: 1 },
      { name: "repository_ids", list: [9_002], times: 2 },
      { name: "permissions", list: "contents=read", times: 3 },
    ];
    for (const { name, list, times } of lists)
      for (let made = 0; made < times; made++)
        await room.mint({ installation_id: room.demo.installationId, [name]: list });
    const { raw } = (await room.ask("read", "metrics")) ?? {};
    for (const { name: given, times } of lists) {
      const labels = ["permissions", "repositories", "repository_ids"]
        .map((name) => `${name}="${name === given}"`)
        .join(",");
      expect(raw?.body).toContain(
        `vault_github_token_request_duration_seconds_count{installation_id="1001",org_name="",${labels},success="true"} ${times}\n`,
      );
    }
  });

  it("name a hundred pairs of installation and organisation, and then no more", () => {
    const metrics = createEngineMetrics(createSteppedClock(), unreleased);
    const observe = (index: number): void =>
      metrics.minted({
        success: true,
        installationId: String(index),
        orgName: `o${index}`,
        permissions: false,
        repositories: false,
        repositoryIds: false,
        seconds: 1,
      });
    for (let index = 0; index < 5_000; index++) observe(index % 2_500);
    const rows = metrics.render().match(/request_duration_seconds_count\{.*/g) ?? [];
    expect(rows).toHaveLength(101);
    expect(rows.find((row) => row.includes("__other__"))).toBe(
      'request_duration_seconds_count{installation_id="__other__",org_name="__other__",permissions="false",repositories="false",repository_ids="false",success="true"} 4800',
    );
  });

  it("escape what others named", () => {
    const metrics = createEngineMetrics(createSteppedClock(), {
      ...unreleased,
      branch: 'a"b\\c\nd',
    });
    metrics.minted({
      success: false,
      installationId: "",
      orgName: '"\n\\',
      permissions: true,
      repositories: true,
      repositoryIds: true,
      seconds: 0,
    });
    expect(metrics.render()).toContain(String.raw`branch="a\"b\\c\nd"`);
    expect(metrics.render()).toContain(String.raw`org_name="\"\n\\"`);
  });
});

describe("info", () => {
  it("has seven strings, empty in a build without release injections, and needs no token", async () => {
    await using room = await startEngineRoom({ config: false });
    expect(await room.ask("read", "info", { any: "thing" })).toEqual({
      data: {
        build_branch: "",
        build_date: "",
        build_revision: "",
        build_user: "",
        build_version: "",
        project_docs: "",
        project_name: "",
      },
    });
    expect(
      ["info", "metrics", "config", "token", "token/x", "doctor", "installations"].map(
        (path) => room.backend.find(path)?.unauthenticated ?? false,
      ),
    ).toEqual([true, true, false, false, false, false, false]);
  });
});
