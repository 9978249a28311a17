import base from '@org/tooling/vitest'

/** Without the condition `module`: what @opentelemetry/api has under it can be read by bundlers, and not by Node. */
const conditions = ['@org/source', 'node', 'development|production']

export default {
  ...base,
  // Concurrent tests wait for the time-outs of a host, and not for the processor.
  test: { ...base.test, maxConcurrency: 100 },
  ssr: { resolve: { ...base.ssr?.resolve, conditions } },
}
