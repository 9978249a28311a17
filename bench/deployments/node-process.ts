import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { putAlone } from './bundles.ts'
import type { Target, Variables } from './target.ts'

/** Runs the bundle for Node as a process, which has nothing but these variables. */
export async function startNode(variables: Variables): Promise<Target> {
  const { folder, remove } = putAlone('node')
  const child = spawn(process.execPath, ['node.mjs'], { cwd: folder, env: variables })
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const log: string[] = []
  child.stderr.on('data', (chunk) => log.push(String(chunk)))
  const port = await new Promise<number>((resolve, reject) => {
    exit.then(() => reject(new Error(`The host ended without listening: ${log.join('\n')}`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      log.push(line)
      const { port } = JSON.parse(line)
      if (port) resolve(port)
    })
  })
  return {
    url: `http://127.0.0.1:${port}`,
    log,
    async close() {
      child.kill('SIGTERM')
      await exit
      remove()
    },
  }
}
