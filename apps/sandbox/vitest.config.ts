import base from '@org/tooling/vitest'

/** Without the condition `module`: Node can’t load the files of @opentelemetry/api that belong to it. */
const conditions = ['@org/source', 'node', 'development|production']

/** Its files start servers of their own. */
const test = { ...base.test, isolate: true }

export default { ...base, test, ssr: { resolve: { ...base.ssr?.resolve, conditions } } }
