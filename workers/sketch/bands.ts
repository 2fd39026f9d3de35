/**
 * Banding (Indyk and Motwani 1998; Broder): sketches that agree in all rows of one band meet in its
 * bucket.
 */
import { mix32 } from "./mix.ts";

/**
 * One 32-bit key per band of floor(K / bands) values; values left over are not used. Two keys that
 * differ mean bands that differ.
 */
export function bandKeys(sketch: Uint32Array, bands: number): Uint32Array<ArrayBuffer> {
  const rows = Math.floor(sketch.length / bands);
  const keys = new Uint32Array(bands);
  for (let band = 0; band < bands; band += 1) {
    let key = 0;
    for (let row = band * rows; row < (band + 1) * rows; row += 1)
      key = mix32(Math.imul(key, 31) ^ (sketch[row] ?? 0));
    keys[band] = key;
  }
  return keys;
}
