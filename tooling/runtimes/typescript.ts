/** Typechecks programs that use the packages, with each compiler that they support. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { complaintsOf } from '../complaints.ts'
import { entriesOf, type PackedPackage } from '../packages/pack.ts'

export const oldest = '5.4.5'
export const versions = [oldest, '5.9.3', '6.0.3', '7.0.2']
export const resolutions = ['node16', 'nodenext', 'bundler'] as const

export const installs = versions.map((version) => `typescript-${version}@npm:typescript@${version}`)

const program = `
import type { DeploymentStatus } from '@org/core'
import { createMailer, isIntegrationError, type Message } from '@org/mailer'
import { createHandler } from '@org/mailer/webhook'
import { createPlatformClient } from '@org/platform-client'

const status: DeploymentStatus = 'running'
const platform = createPlatformClient({ baseUrl: 'https://platform.example.com' })
platform.setStatus('dep_1', { status })
const message: Message = { to: 'ada@example.com', subject: 'Hello', textBody: 'Hi Ada' }
createMailer({ apiToken: 'token' }).sendEmail(message).then(({ messageId }) => messageId.length)
export const handle: (request: Request) => Promise<Response> = createHandler({ platform, logger: () => {} })
export const codeOf = (reason: unknown) => (isIntegrationError(reason) ? reason.code : undefined)
`

/**
 * Checks a program, every entry in an ES module, and the entries for `require` in a CommonJS module: strictly, and
 * with the libraries' declarations.
 *
 * @param project has the packages installed
 * @param compiler the folder of a version of TypeScript
 * @throws with the compiler's errors
 */
export async function typecheck(
  project: string,
  compiler: string,
  packages: readonly PackedPackage[],
  moduleResolution: (typeof resolutions)[number],
): Promise<void> {
  const compilerOptions = {
    ...{ module: moduleResolution === 'bundler' ? 'esnext' : moduleResolution, moduleResolution },
    ...{ target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable'], types: [] },
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true },
    // The compiler's own declarations are the only ones that are not checked.
    ...{ skipLibCheck: false, skipDefaultLibCheck: true },
  }
  const files = {
    'program.ts': program,
    'entries.ts': importAll(packages.flatMap((each) => entriesOf(each))),
    'required.cts': importAll(packages.flatMap((each) => entriesOf(each, 'require'))),
  }
  const config = JSON.stringify({ compilerOptions, files: Object.keys(files) })
  for (const [file, text] of Object.entries({ ...files, 'tsconfig.json': config }))
    await writeFile(join(project, file), text)
  const complaints = await complaintsOf(process.execPath, [join(compiler, 'bin/tsc'), '-p', project])
  if (complaints) throw new Error(complaints)
}

function importAll(entries: readonly string[]): string {
  return entries.map((entry, index) => `export * as entry${index} from '${entry}'\n`).join('')
}
