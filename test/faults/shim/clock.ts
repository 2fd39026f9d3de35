/** The clocks of a daemon as a test sets them (clock.c). */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../contract/daemon.ts";

/** The wall clock and the boot of the processes that get `env`. */
export interface ShimClock {
  readonly env: Readonly<Record<string, string>>;
  /** Sets how far the wall clock is off, at once. */
  setWall(offsetSeconds: number): void;
  /** What the next process sees as the boot of the machine. */
  setBoot(id: string): void;
}

/** Clocks by a library that `buildShim("clock")` made. */
export function createShimClock(library: string): ShimClock {
  const folder = temporaryFolder();
  const [wall, boot] = [join(folder, "wall"), join(folder, "boot_id")];
  const clock: ShimClock = {
    env: { LD_PRELOAD: library, SHIM_WALL: wall, SHIM_BOOT: boot },
    setWall(offsetSeconds) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(offsetSeconds));
      // The file is mapped: its bytes change in place.
      writeFileSync(wall, bytes, { flag: "r+" });
    },
    setBoot: (id) => writeFileSync(boot, `${id}\n`),
  };
  writeFileSync(wall, Buffer.alloc(8));
  clock.setBoot("boot-1");
  return clock;
}
