import base from '@org/tooling/vitest'

/** Without the condition `module`: Node can’t load the files of @opentelemetry/api that belong to it. */
const conditions = ['@org/source', 'node', 'development|production']

export default {
  ...base,
  // A test and its page take turns, and leave a core free.
  test: { ...base.test, maxWorkers: 2 },
  ssr: { resolve: { ...base.ssr?.resolve, conditions } },
}
