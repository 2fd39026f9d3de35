import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { configureDaemon } from "../../../src/daemon/configuration.ts";
import { describeDemoStartError } from "../../../src/daemon/demo/start-error.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { SOLE_PROCESS } from "../../../src/kernel/state/folder/directory-lock.ts";

const clone = mkdtempSync(join(tmpdir(), "demo-error-"));
mkdirSync(join(clone, "bin"));
writeFileSync(join(clone, "bin", "steward"), "");
chmodSync(join(clone, "bin", "steward"), 0o755);
afterAll(() => rmSync(clone, { recursive: true }));

const taken = new StewardError("conflict", "127.0.0.1:8400 is already in use by another process", {
  field: "gateway.listen",
  remedy: "stop that process, or set gateway.listen to another address",
});

/** The remedy of an error for whoever starts the demo in `directory` with these variables. */
function remedyFor(
  error: unknown,
  {
    environment = {},
    directory = clone,
    config,
  }: { environment?: Record<string, string>; directory?: string; config?: string } = {},
): string | undefined {
  const variables = { HOME: "/home/ada", ...environment };
  const configuration = {
    ...configureDaemon({ config: undefined, demo: true }, variables),
    file: config,
  };
  return describeDemoStartError(error, configuration, {
    environment: variables,
    directory,
    program: join(clone, "src", "main.ts"),
  }).remedy;
}

describe("an error that keeps the demo from starting", () => {
  it("names the command for another port, as it is called from there", () => {
    expect(remedyFor(taken)).toBe(
      "stop that process, or start the demo on another port: STEWARD_GATEWAY__LISTEN=127.0.0.1:8401 bin/steward -demo",
    );
    expect(remedyFor(taken, { directory: "/" })).toBe(
      `stop that process, or start the demo on another port: STEWARD_GATEWAY__LISTEN=127.0.0.1:8401 ${join(clone, "bin", "steward").slice(1)} -demo`,
    );
    expect(remedyFor(taken, { directory: join(clone, "bin") })).toContain(
      "127.0.0.1:8401 ./steward -demo",
    );
    expect(remedyFor(taken, { directory: join(clone, "src") })).toContain(
      ` ${join(clone, "bin", "steward")} -demo`,
    );
    const path = join(clone, "path");
    mkdirSync(path);
    symlinkSync(join(clone, "bin", "steward"), join(path, "steward"));
    expect(remedyFor(taken, { environment: { PATH: `/nowhere:${path}` } })).toContain(
      "127.0.0.1:8401 steward -demo",
    );
  });

  it("keeps what was set, as words of a shell", () => {
    const environment = {
      STEWARD_STATE__DIRECTORY: "/tmp/it's here",
      STEWARD_GATEWAY__LISTEN: "[::1]:65535",
    };
    expect(remedyFor(taken, { environment, config: "my file.yaml" })).toBe(
      String.raw`stop that process, or start the demo on another port: STEWARD_STATE__DIRECTORY='/tmp/it'\''s here' STEWARD_GATEWAY__LISTEN='[::1]:65534' bin/steward -demo -config 'my file.yaml'`,
    );
  });

  it("starts a second demo in a folder of its own", () => {
    const held = new StewardError("conflict", "the state folder is in use", {
      rule: SOLE_PROCESS,
      remedy: "choose another folder with state.directory",
    });
    expect(remedyFor(held)).toBe(
      "stop that process, or start another demo beside it: STEWARD_STATE__DIRECTORY=/home/ada/.local/state/steward-2 STEWARD_GATEWAY__LISTEN=127.0.0.1:8401 bin/steward -demo",
    );
  });

  it("says of any other setting that it needs -demo, and leaves alone what no setting helps", () => {
    expect(
      remedyFor(
        new StewardError("denied", "no", { remedy: "set state.directory to a folder of yours" }),
      ),
    ).toBe(
      "set state.directory to a folder of yours; with settings the demo starts only with -demo: bin/steward -demo",
    );
    expect(remedyFor(new StewardError("denied", "no", { remedy: "remove it" }))).toBe("remove it");
  });

  it("is left as it is where there is no demo", () => {
    const configuration = configureDaemon(
      { config: undefined, demo: false },
      { HOME: "/home/ada", STEWARD_DEMO: "false" },
    );
    expect(
      describeDemoStartError(taken, configuration, {
        environment: {},
        directory: clone,
        program: join(clone, "src", "main.ts"),
      }),
    ).toBe(taken);
  });
});
