import { defineConfig } from 'vitest/config'

/** How every package is tested: against the sources of its siblings, so that no build can be stale. */
export default defineConfig({
  ssr: {
    resolve: {
      conditions: ['@org/source', 'module', 'node', 'development|production'],
      externalConditions: ['@org/source', 'node'],
    },
  },
  test: { include: ['test/**/*.test.ts'] },
})
