import { defineConfig } from 'vitest/config'

/** The tests of a package use the sources of the other packages, so that no build can be stale. */
export default defineConfig({
  ssr: {
    resolve: {
      conditions: ['@org/source', 'module', 'node', 'development|production'],
      externalConditions: ['@org/source', 'node'],
    },
  },
  test: {
    // A package's files share its modules, which takes half of the time. They leave no global behind.
    isolate: false,
    include: ['test/**/*.test.ts'],
    // Generous, so that no test fails on a busy machine. A test has no shorter limit of its own.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 500_000 } },
  },
})
