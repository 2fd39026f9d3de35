import { describe, expect, it } from "vitest";
import { deviceTable } from "../../../../gateway/web/monitor/devices.ts";
import { monitorPage, PANELS } from "../../../../gateway/web/monitor/monitor-page.ts";
import type { Device } from "../../../../src/gen/status-json.ts";
import { fullStatus, summary, NOW } from "../fixtures/status.ts";
import { renderHtml } from "../render-html.ts";

const nowMs = Date.parse(NOW);

function panelText(panel: string): string {
  return renderHtml(
    monitorPage(
      { status: fullStatus(), summary, summaryAtMs: nowMs },
      { params: new URLSearchParams(), nowMs, zone: "UTC", panel },
    ),
  );
}

describe("every table of the monitor's page", () => {
  it("sorts by every column, with a button, and filters where it has more than one row", () => {
    const tables = PANELS.flatMap((panel) =>
      panelText(panel)
        .split('<div class="table"')
        .slice(1)
        .map((text) => ({ panel, text: text.slice(0, text.indexOf("</table>")) })),
    );
    expect(tables.length).toBeGreaterThan(10);
    for (const { panel, text } of tables) {
      const heads = [...text.matchAll(/<th [^>]*>(.*?)<\/th>/g)].map((match) => match[1] ?? "");
      expect(heads.length).toBeGreaterThan(1);
      for (const head of heads)
        expect({
          panel,
          head,
          sorts: head.startsWith('<button type="button" class="sort"'),
        }).toEqual({ panel, head, sorts: true });
      if ((text.match(/<tr>/g) ?? []).length > 2)
        expect({
          panel,
          filters:
            /<label class="filter scripted"><span class="sr">Filter [a-z ]+<\/span><input type="search"/.test(
              text,
            ),
        }).toEqual({ panel, filters: true });
    }
  });
});

describe("the table of devices", () => {
  const device = (name: string, facts: Partial<Device>): Device => ({
    name,
    hostname: name,
    addrs: [],
    external: false,
    os: "linux",
    os_version: "",
    user: "ada",
    online: false,
    ...facts,
  });
  const ago = (ms: number): string => new Date(nowMs - ms).toISOString();
  const DAY = 86_400_000;
  const draw = (rows: readonly Device[], query = ""): string =>
    renderHtml(
      deviceTable(rows, {
        params: new URLSearchParams(query),
        nowMs,
        zone: "UTC",
        panel: "inventory",
      }),
    );
  const names = (rows: readonly Device[], query: string): (string | undefined)[] =>
    [...draw(rows, query).matchAll(/<strong>([^<]+)<\/strong>/g)].map((match) => match[1]);

  it("says who is connected and since when not, what expires, which version and routes", () => {
    const text = draw([
      device("nas", {
        last_seen: ago(3 * 3_600_000),
        key_expires_at: ago(-2 * DAY),
        client_version: "1.90.4-t6678354ef",
        update_available: true,
        advertised_routes: ["10.0.0.0/8", "0.0.0.0/0"],
        enabled_routes: ["10.0.0.0/8"],
      }),
    ])
      .replaceAll(/<[^>]+>/g, " ")
      .replaceAll(/\s+/g, " ");
    for (const part of [
      "offline",
      "seen 3 h ago",
      "in 2 d",
      "1.90.4 ",
      "update available",
      "10.0.0.0/8",
      "not approved: 0.0.0.0/0",
      "ada",
    ])
      expect(text).toContain(part);
    expect(draw([device("a", { key_expires_at: ago(DAY) })])).toContain("expired 1 d ago");
    expect(draw([device("a", { key_expiry_disabled: true })])).toContain(">never<");
    expect(draw([device("a", {})])).toContain("not known");
  });

  it("orders by state with those that are away longest first, by key with the next to expire first, by version as numbers", () => {
    const rows = [
      device("here", { online: true, key_expiry_disabled: true, client_version: "1.100.0" }),
      device("away", {
        last_seen: ago(DAY),
        key_expires_at: ago(-90 * DAY),
        client_version: "1.9.2",
      }),
      device("lost", {
        last_seen: ago(30 * DAY),
        key_expires_at: ago(DAY),
        client_version: "1.80.0",
      }),
    ];
    expect(names(rows, "devices.sort=state")).toEqual(["lost", "away", "here"]);
    expect(names(rows, "devices.sort=key")).toEqual(["lost", "away", "here"]);
    expect(names(rows, "devices.sort=version")).toEqual(["away", "lost", "here"]);
    expect(names(rows, "devices.q=offline")).toEqual(["away", "lost"]);
  });
});
