import base from '@org/tooling/vitest'

/** Without the condition `module`: what prom-client’s @opentelemetry/api has under it can be read by bundlers, and not by Node. */
const conditions = ['@org/source', 'node', 'development|production']

export default {
  ...base,
  // Its files start hosts of their own, and mostly wait: for processes, and for the time-outs of a host.
  test: { ...base.test, maxConcurrency: 100, maxWorkers: 3 },
  ssr: { resolve: { ...base.ssr?.resolve, conditions } },
}
