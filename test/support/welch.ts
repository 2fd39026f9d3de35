/**
 * Welch's t-test over times of which the slowest tell of the machine (dudect, Reparaz et al. 2017).
 */

/** The bar of leakage assessment: beyond it a difference is no accident (ISO/IEC 17825). */
export const LEAKAGE_BAR = 4.5;

/**
 * Welch's t of two classes, both cut at one limit. Samples slower than the share `kept` of all were
 * interrupted.
 */
export function welch(left: Float64Array, right: Float64Array, kept = 0.9): number {
  const pooled = Float64Array.from([...left, ...right]).sort();
  const limit = pooled[Math.floor(pooled.length * kept)] ?? Infinity;
  const [a, b] = [moments(left, limit), moments(right, limit)];
  return (a.mean - b.mean) / Math.sqrt(a.variance / a.count + b.variance / b.count);
}

function moments(
  all: Float64Array,
  limit: number,
): { readonly count: number; readonly mean: number; readonly variance: number } {
  const kept = all.filter((value) => value <= limit);
  const mean = kept.reduce((sum, value) => sum + value, 0) / kept.length;
  const variance = kept.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (kept.length - 1);
  return { count: kept.length, mean, variance };
}
