const decimals = (value: number) => (Math.abs(value) < 10 ? 2 : Math.abs(value) < 100 ? 1 : 0)
const rounded = (value: number) =>
  value.toLocaleString('en', {
    maximumFractionDigits: decimals(value),
    minimumFractionDigits: decimals(value),
  })

export const times = (value: number) => `${value.toFixed(2)} ×`
export const microseconds = (value: number) => `${rounded(value)} µs`
export const milliseconds = (value: number) => `${rounded(value)} ms`
/** Milliseconds, from one second on as seconds. */
export const duration = (ms: number) => (ms < 1_000 ? milliseconds(ms) : `${(ms / 1_000).toFixed(2)} s`)
export const perSecond = (value: number) => `${Math.round(value).toLocaleString('en')}/s`
export const megabytes = (bytes: number) => `${rounded(bytes / 1e6)} MB`
