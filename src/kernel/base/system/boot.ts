/**
 * Identifies the current boot of the system, so that a process can measure the time since an
 * earlier process of the same boot.
 */
import { readFileSync } from "node:fs";
import { uptime } from "node:os";

/** The boot id where the system has none; it equals no other boot. */
export const UNKNOWN_BOOT = "unknown";

export interface Boot {
  /** Changes with each boot; `UNKNOWN_BOOT` where the system has none. */
  readonly id: string;
  /**
   * Milliseconds since the boot, including suspension (CLOCK_BOOTTIME on Linux, resolution 10 ms).
   * In a container it may start later.
   */
  uptimeMs(): number;
}

/** The id is `/proc/sys/kernel/random/boot_id`, see random(4). */
export const systemBoot: Boot = { id: readBootId(), uptimeMs: () => uptime() * 1_000 };

function readBootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim() || UNKNOWN_BOOT;
  } catch {
    return UNKNOWN_BOOT;
  }
}
