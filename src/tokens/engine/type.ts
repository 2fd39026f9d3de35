/** Apart from the engine: the landing page names its mounts, whether the service runs or not. */

/** Mount type. */
export const ENGINE_TYPE = "github";
