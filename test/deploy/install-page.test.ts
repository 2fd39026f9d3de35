/** The commands of docs/install.md, on files that are made as a release makes them. */
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { packFolder, stripNode } from "../../tools/build/archive.ts";
import { checksums } from "../../tools/release/checksums.ts";
import { canMakeDebianPackages, makeDebianPackage } from "../../tools/release/debian.ts";
import { removeTemporaryFolders, temporaryFolder } from "../contract/daemon.ts";
import { RUNS_SOURCES } from "../support/launcher.ts";
import { canCopyRoot, inCopyOfRoot } from "./root-copy.ts";

const root = join(import.meta.dirname, "../..");
const VERSION = "0.1.0";
const possible =
  process.arch === "x64" && !RUNS_SOURCES && canMakeDebianPackages() && canCopyRoot();

/** Blocks marked `sh`, in order. */
function commandsOf(page: string): string {
  const text = readFileSync(join(root, page), "utf8");
  return [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = ""]) => block).join("");
}

function releaseFiles(): string {
  const folder = temporaryFolder();
  const tree = join(temporaryFolder(), `steward-${VERSION}`);
  cpSync(join(root, "dist"), tree, { recursive: true });
  cpSync(join(root, "deploy"), join(tree, "deploy"), { recursive: true });
  stripNode(tree, "x64");
  packFolder(tree, folder, "linux-x64", { level: 1, limitBytes: 100e6 });
  const commit = { hash: "0".repeat(40), time: 0 };
  makeDebianPackage({ tree, architecture: "x64", commit, target: folder, level: 1 });
  writeFileSync(join(folder, "SHA256SUMS"), checksums(folder));
  return folder;
}

/** What systemd would do, and how long it takes to the first page. */
const FIRST_PAGE = `
setpriv --reuid=steward --regid=steward --clear-groups env HOME=/var/lib/steward STATE_DIRECTORY=/var/lib/steward steward -config /etc/steward/steward.yaml 2>/log &
until curl -fsS -o /dev/null http://127.0.0.1:8400/ 2>/dev/null; do [ $SECONDS -lt 60 ] || { cat /log; exit 1; }; sleep 0.2; done
setpriv --reuid=steward --regid=steward --clear-groups steward -healthcheck -config /etc/steward/steward.yaml
echo "first page after $SECONDS s"
`;

describe.skipIf(!possible)(
  "docs/install.md (skipped without dpkg-deb or where nothing may be mounted)",
  () => {
    afterAll(removeTemporaryFolders);

    it("installs the package and the archive, and the first page is there within a minute", () => {
      const script = `exec bash -ec 'cd /files\n${commandsOf("docs/install.md")}${FIRST_PAGE}'`;
      const { status, output } = inCopyOfRoot(releaseFiles(), script);
      expect({ status, output }).toMatchObject({ status: 0 });
      expect(output).toContain("steward-0.1.0-linux-x64.tar.zst: OK\nsteward_0.1.0_amd64.deb: OK");
      expect(output).toContain("config OK");
      expect(output).toMatch(/^0\.1\.0$/m);
      const [took] = /^first page after [1-5]?\d s$/m.exec(output) ?? [];
      expect(took).toBeDefined();
      process.stderr.write(`docs/install.md, from the files of a release: ${took}\n`);
    });
  },
);
