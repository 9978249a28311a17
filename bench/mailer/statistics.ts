/** The value in the middle. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The value below which a share of the values is. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN
}

/** Bytes for people. */
export function kilobytes(bytes: number): string {
  return bytes >= 1_000_000 ? `${(bytes / 1_000_000).toFixed(1)} MB` : `${(bytes / 1000).toFixed(1)} kB`
}
