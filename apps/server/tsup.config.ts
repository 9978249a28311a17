import { rmSync } from 'node:fs'
import { defineConfig, type Options } from 'tsup'

rmSync(new URL('dist', import.meta.url), { recursive: true, force: true })

/** One file with everything in it, which needs no node_modules. */
const bundle: Options = {
  outDir: 'dist',
  format: 'esm',
  platform: 'node',
  target: 'node22',
  splitting: false,
  minify: true,
  sourcemap: true,
  noExternal: [/.*/],
  // `node:sqlite` exists under its full name alone.
  removeNodeProtocol: false,
  // For the CommonJS packages inside it. A Worker has no URL of its own.
  banner: {
    js: "import { createRequire as makeRequire } from 'node:module'\nconst require = makeRequire(import.meta.url ?? 'file:///worker.mjs')",
  },
  esbuildOptions(options) {
    options.conditions = ['@org/source', 'module', 'node']
  },
}

export default defineConfig([
  { ...bundle, entry: ['src/node.ts'] },
  // Functions are uploaded without a package.json that would say what kind of module they are.
  {
    ...bundle,
    entry: ['src/lambda.ts', 'src/vercel.ts', 'src/worker.ts'],
    outExtension: () => ({ js: '.mjs' }),
  },
])
