import { defineConfig } from 'tsup'

/** One file with everything in it: `node dist/node.js` needs no node_modules. */
export default defineConfig({
  entry: ['src/node.ts'],
  outDir: 'dist',
  format: 'esm',
  platform: 'node',
  target: 'node22',
  clean: true,
  splitting: false,
  sourcemap: true,
  noExternal: [/.*/],
  esbuildOptions(options) {
    options.conditions = ['@org/source', 'module', 'node']
  },
})
