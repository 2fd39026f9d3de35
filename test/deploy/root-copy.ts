/** Runs scripts in a copy of this machine's root folder that ends with them: what they install and remove stays in it. */
import { spawnSync } from "node:child_process";
import { temporaryFolder } from "../contract/daemon.ts";

const OVERLAY = `
mount -t tmpfs none "$1" && mkdir "$1/upper" "$1/work" "$1/root" &&
mount -t overlay overlay -o lowerdir=/,upperdir="$1/upper",workdir="$1/work" "$1/root"`;
const IN_OVERLAY = `
set -e
${OVERLAY}
mkdir "$1/root/files"
cp -r "$2/." "$1/root/files"
mount -t proc proc "$1/root/proc"
mount --bind /dev "$1/root/dev"
ip link set lo up 2>/dev/null || true
exec chroot "$1/root" sh -c "$3" 2>&1`;

const NAMESPACES = ["--mount", "--net", "--pid", "--fork", "--kill-child"];

/** Only root can make one, and mounting is forbidden in most containers. */
export function canCopyRoot(): boolean {
  if (process.getuid?.() !== 0) return false;
  return (
    spawnSync("unshare", ["--mount", "sh", "-c", OVERLAY, "sh", temporaryFolder()]).status === 0
  );
}

/**
 * Runs `script` with sh, without network; `folder` is copied to /files. Status and all output.
 * Everything that it started ends with it.
 */
export function inCopyOfRoot(
  folder: string,
  script: string,
): { status: number | null; output: string } {
  const { status, stdout } = spawnSync(
    "unshare",
    [...NAMESPACES, "sh", "-c", IN_OVERLAY, "sh", temporaryFolder(), folder, script],
    { encoding: "utf8", env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root" } },
  );
  return { status, output: stdout };
}
