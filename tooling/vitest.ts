import { defineConfig } from 'vitest/config'

/** How every package is tested: against the sources of its siblings, so that no build can be stale. */
export default defineConfig({
  ssr: {
    resolve: {
      conditions: ['@org/source', 'module', 'node', 'development|production'],
      externalConditions: ['@org/source', 'node'],
    },
  },
  // Generous, because a test says nothing of time; a busy machine is no reason to fail.
  test: { include: ['test/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
})
