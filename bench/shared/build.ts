import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { root } from '../../tooling/packages/workspace.ts'

export async function build(): Promise<void> {
  const options = { cwd: root, env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' } }
  const command = ['exec', 'turbo', 'run', 'build', '--filter=@org/server']
  await promisify(execFile)('pnpm', command, options).catch(({ stdout, stderr }) => {
    throw new Error(`The build failed:\n${stdout}${stderr}`)
  })
}
