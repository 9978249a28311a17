import { readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { Miniflare } from 'miniflare'
import { COMPATIBILITY_DATE } from '../../tooling/runtimes/targets.ts'
import { folderOf, type Target, type Variables } from './bundles.ts'

/** Runs the bundle for Workers in workerd, Cloudflare's runtime. */
export async function startWorker(variables: Variables): Promise<Target> {
  const log: string[] = []
  const source = readFileSync(new URL('worker.mjs', folderOf('worker')), 'utf8')
  const collect = (output: Readable) => output.on('data', (chunk) => log.push(String(chunk)))
  const miniflare = new Miniflare({
    host: '127.0.0.1',
    port: 0,
    modules: [{ type: 'ESModule', path: 'worker.mjs', contents: source }],
    compatibilityDate: COMPATIBILITY_DATE,
    compatibilityFlags: ['nodejs_compat'],
    bindings: Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined)),
    outboundService: {
      network: { allow: ['public', 'private'], tlsOptions: { trustBrowserCas: true } },
    },
    cf: false,
    handleRuntimeStdio(stdout: Readable, stderr: Readable) {
      collect(stdout)
      collect(stderr)
    },
  })
  const { origin } = await miniflare.ready
  return { url: origin, log, close: () => miniflare.dispose() }
}
