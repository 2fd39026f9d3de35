import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { daemonSchema } from "../../src/daemon/configuration.ts";
import { CONFIG_PAGE, configPage } from "../../tools/config-docs.ts";

const page = configPage(daemonSchema);

describe("the reference page of the configuration", () => {
  it("is the committed one; `npm run generate` writes it anew", () => {
    expect(readFileSync(CONFIG_PAGE, "utf8")).toBe(page);
  });

  it("has every key once, with its help", () => {
    for (const { path, help } of daemonSchema) {
      expect(
        page.match(new RegExp(`^\\| \`${path.replaceAll(".", "\\.")}\`[ *a-z]* \\|`, "gm")),
      ).toHaveLength(1);
      expect(page).toContain(help.replaceAll("|", "\\|"));
    }
  });

  it("marks secrets and names the other names that are honoured", () => {
    expect(page).toContain("`auth.token` *secret*");
    expect(page).toMatch(/`logging\.level`.*Also called `log_level`\./);
    expect(page).toMatch(/`otlp\.endpoint`.*`OTEL_EXPORTER_OTLP_ENDPOINT`/);
    expect(page).toMatch(/`dedup\.archives\[\]\.name`.*needed/);
  });
});
