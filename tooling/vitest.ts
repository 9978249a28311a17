import { defineConfig } from 'vitest/config'

/** The tests of a package use the sources of the other packages, so that no build can be stale. */
export default defineConfig({
  ssr: {
    resolve: {
      conditions: ['@org/source', 'module', 'node', 'development|production'],
      externalConditions: ['@org/source', 'node'],
    },
  },
  // Generous, so that no test fails on a busy machine.
  test: { include: ['test/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
})
