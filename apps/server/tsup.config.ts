import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { defineConfig, type Options } from 'tsup'

rmSync(new URL('dist', import.meta.url), { recursive: true, force: true })

const { resolve } = createRequire(import.meta.url)

/** A copy without git, as in an image, gets it from outside. */
function findRevision(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], {
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim()
  } catch {
    return 'unknown'
  }
}

/** Of undici the host uses its agent; the rest (a second fetch, WebSocket, mocks, caches) is half a megabyte. */
const undiciAgent: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'undici-agent',
  setup(build) {
    build.onResolve({ filter: /^undici$/ }, () => ({ path: 'undici', namespace: 'undici-agent' }))
    build.onLoad({ filter: /.*/, namespace: 'undici-agent' }, () => ({
      contents: `export { default as Agent } from ${JSON.stringify(resolve('undici/lib/dispatcher/agent.js'))}`,
      resolveDir: import.meta.dirname,
    }))
  },
}

/** The thread of the SQLite store, as a text inside of the bundle. */
const sqliteThread: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'sqlite-thread',
  setup({ esbuild, onLoad }) {
    onLoad({ filter: /\/stores\/sqlite-thread\.ts$/ }, async ({ path }) => {
      const { outputFiles } = await esbuild.build({
        entryPoints: [path.replace('-thread', '-worker')],
        bundle: true,
        minify: true,
        platform: 'node',
        target: 'node22',
        write: false,
      })
      const program = JSON.stringify(outputFiles.map(({ text }) => text).join(''))
      return {
        contents: `import { Worker } from 'node:worker_threads'
          export const startThread = (workerData) => new Worker(${program}, { eval: true, workerData })`,
      }
    })
  },
}

/** One folder for each target, which needs no node_modules. Functions are uploaded without a package.json. */
const bundle: Options = {
  outExtension: () => ({ js: '.mjs' }),
  format: 'esm',
  platform: 'node',
  target: 'node22',
  // A start reads only the files that it needs.
  splitting: true,
  minify: true,
  sourcemap: true,
  noExternal: [/.*/],
  esbuildPlugins: [undiciAgent, sqliteThread],
  define: { REVISION: JSON.stringify(process.env.REVISION ?? findRevision()) },
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
  {
    ...bundle,
    outDir: 'dist/node',
    entry: ['node', 'orphans', 'recipient'].map((name) => `src/runtimes/${name}.ts`),
  },
  { ...bundle, outDir: 'dist/lambda', entry: ['src/runtimes/lambda.ts'] },
  // Vercel makes a function of each file in the folder, and a Worker is uploaded as one.
  { ...bundle, outDir: 'dist/vercel', entry: ['src/runtimes/vercel.ts'], splitting: false },
  { ...bundle, outDir: 'dist/worker', entry: ['src/runtimes/worker.ts'], splitting: false },
])
