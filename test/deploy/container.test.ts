import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { daemonSchema } from "../../src/daemon/configuration.ts";
import { variableOf } from "../../src/kernel/config/key.ts";
import { removeTemporaryFolders } from "../contract/daemon.ts";
import { RUNS_SOURCES } from "../support/launcher.ts";
import { canCopyRoot, inCopyOfRoot } from "./root-copy.ts";
import { MIN_STOP_SECONDS } from "./stop-time.ts";

const root = join(import.meta.dirname, "../..");
const text = readFileSync(join(root, "deploy/container/Containerfile"), "utf8");

/** Instructions in order, with their continuation lines. */
const instructions = text
  .replaceAll(/^#.*\n/gm, "")
  .replaceAll(/\\\n/g, " ")
  .split("\n")
  .filter((line) => line.trim() !== "")
  .map((line) => {
    const [, name = "", value = ""] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    return { name, value };
  });
const lastStage = instructions.slice(instructions.findLastIndex(({ name }) => name === "FROM"));

function inLastStage(name: string): string[] {
  return lastStage.flatMap((line) => (line.name === name ? [line.value] : []));
}

afterAll(removeTemporaryFolders);

describe("the Containerfile", () => {
  it("has known instructions, pinned bases, and runs nothing in the image itself", () => {
    const known =
      "FROM ARG COPY RUN ENV USER WORKDIR VOLUME EXPOSE HEALTHCHECK STOPSIGNAL ENTRYPOINT";
    expect(
      instructions.map(({ name }) => name).filter((name) => !known.split(" ").includes(name)),
    ).toEqual([]);
    const bases = instructions.flatMap(({ name, value }) => (name === "FROM" ? [value] : []));
    for (const base of bases) expect(base).toMatch(/debian:12-slim( AS unpacked)?$/);
    // Either architecture is made on any machine: nothing of it has to run.
    expect(bases[0]).toMatch(/^--platform=\$BUILDPLATFORM /);
    expect(inLastStage("RUN")).toEqual([]);
  });

  it("runs as a user by number, and asks Steward itself for its health", () => {
    expect(inLastStage("USER")).toEqual(["65532:0"]);
    expect(inLastStage("HEALTHCHECK")[0]).toContain(
      'CMD ["/opt/steward/bin/steward", "-healthcheck"]',
    );
    expect(inLastStage("ENTRYPOINT")).toEqual(['["/opt/steward/bin/steward"]']);
  });

  it("sets variables that Steward has, and stores state in the volume", () => {
    const known = new Set(daemonSchema.map((key) => variableOf(key.path)));
    const variables = inLastStage("ENV")
      .flatMap((value) => value.split(" "))
      .map((pair) => pair.split("="));
    expect(variables.map(([name = ""]) => name).filter((name) => !known.has(name))).toEqual([]);
    expect(Object.fromEntries(variables)).toMatchObject({
      STEWARD_STATE__DIRECTORY: inLastStage("VOLUME")[0],
    });
  });

  it("is run with enough time to stop, as its page says: an image cannot set it", () => {
    const page = readFileSync(join(root, "docs/container.md"), "utf8");
    const [, seconds] = /`--stop-timeout (\d+)`/.exec(page) ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(MIN_STOP_SECONDS);
  });

  it.skipIf(RUNS_SOURCES || !canCopyRoot())(
    "has a layout that runs with a read-only root, any user and a volume of its group (skipped where nothing may be mounted)",
    () => {
      const environment = inLastStage("ENV").join(" ");
      const { status, output } = inCopyOfRoot(
        join(root, "dist"),
        `set -e
        mkdir -p /opt /var/lib/steward && mv /files /opt/steward
        mount -t tmpfs -o mode=2770,uid=65532,gid=0 none /var/lib/steward
        echo 0123456789abcdef0123456789abcdef >/etc/token && chmod 644 /etc/token
        mount -o remount,ro /
        run() { setpriv --reuid=123456 --regid=0 --clear-groups --no-new-privs --bounding-set=-all env -i PATH=/usr/bin:/bin STEWARD_AUTH__TOKEN_FILE=/etc/token ${environment} "$@"; }
        run sh -c 'touch /tmp/x /opt/steward/x' 2>&1 | grep -c Read-only
        run /opt/steward/bin/steward 2>/dev/null >/dev/null &
        n=0
        until run /opt/steward/bin/steward -healthcheck 2>/dev/null; do n=$((n+1)); [ $n -lt 40 ]; sleep 0.5; done
        stat -c '%u:%g' /var/lib/steward/*.mdb | sort -u
        `,
      );
      expect({ status, output }).toMatchObject({ status: 0 });
      expect(output).toMatch(/^2$/m);
      expect(output).toMatch(/^123456:0$/m);
    },
  );
});
