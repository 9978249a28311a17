import base from '@org/tooling/vitest'

/** Without the condition `module`: what @opentelemetry/api has under it can be read by bundlers, and not by Node. */
const conditions = ['@org/source', 'node', 'development|production']

export default { ...base, ssr: { resolve: { ...base.ssr?.resolve, conditions } } }
