import { describe, expect, it } from "vitest";
import { sameDaemon, type RemoteArguments } from "../../../src/commands/remote/options.ts";

const none: RemoteArguments = {
  address: undefined,
  tokenFile: undefined,
  caFile: undefined,
  config: undefined,
  demo: false,
  json: false,
};

describe("a command that is shown", () => {
  it("asks the daemon that was asked", () => {
    expect(sameDaemon(none)).toBe("");
    expect(sameDaemon({ ...none, demo: true })).toBe(" --demo");
    expect(sameDaemon({ ...none, config: "my steward.yaml" })).toBe(" --config 'my steward.yaml'");
    const away = {
      ...none,
      address: new URL("https://nas:8400"),
      tokenFile: "token",
      caFile: "ca.pem",
    };
    expect(sameDaemon(away)).toBe(
      " --address https://nas:8400 --token-file token --ca-file ca.pem",
    );
  });
});
