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
  // `node:sqlite` exists under its full name alone.
  removeNodeProtocol: false,
  // For the CommonJS packages inside it.
  banner: {
    js: "import { createRequire as makeRequire } from 'node:module'\nconst require = makeRequire(import.meta.url)",
  },
  esbuildOptions(options) {
    options.conditions = ['@org/source', 'module', 'node']
  },
})
