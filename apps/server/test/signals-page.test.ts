import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { deliveryStatusSchema } from '@org/core/internal'
import { serve } from '@org/core/testing'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { credentials } from './hosted.ts'
import { calling, mail, startMeasured } from './measured.ts'

const page = readFileSync(new URL('../../../docs/signals.md', import.meta.url), 'utf8')
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, text = '']) => text)
const command = blocks('sh').find((text) => text.includes('/deliveries/')) ?? ''
const explained = z.object({ id: z.string(), records: z.array(deliveryStatusSchema) })

const hasTools = ['bash', 'curl', 'openssl', 'od'].every(
  (tool) => spawnSync(tool, ['--version']).error === undefined,
)
if (!hasTools)
  process.stderr.write('SKIPPED: the command of docs/signals.md. It needs bash, curl and openssl.')

describe('docs/signals.md', () => {
  it.skipIf(!hasTools)('has a command that asks what became of a delivery, and is let in', async () => {
    const secret = credentials.webhookSecret
    const { host, send } = startMeasured({ variables: { PLATFORM_WEBHOOK_SECRET: secret } })
    await send('mailer', calling('sendEmail', mail), { id: 'evt_1', secret })
    const server = await serve(async (request) => host.fetch(request))
    const { stdout } = await promisify(execFile)('bash', ['-c', command], {
      env: {
        ...process.env,
        HOST_URL: server.url,
        PLATFORM_WEBHOOK_SECRET: `${secret} whsec_${btoa('an older one')}`,
      },
    })
    await server.close()
    expect(explained.parse(JSON.parse(stdout))).toMatchObject({ id: 'evt_1', records: [{ state: 'done' }] })
  })

  it('shows an answer of the shape that is answered', () => {
    const example = blocks('json').find((text) => text.includes('"records"')) ?? ''
    expect(explained.safeParse(JSON.parse(example))).toMatchObject({ success: true })
  })

  it('lists every metric of the host, with its labels', async () => {
    const { send, read } = startMeasured()
    await send('mailer', calling('sendEmail', mail), { id: 'evt_1' })
    await send('mailer', { name: 'HEALTH_CHECK', deployment: { id: 'dep_1' } })
    const series = (await read()).filter(({ name }) => name.startsWith('webhook_'))
    for (const { name, labels } of series) {
      const family = name.replace(/_(bucket|sum|count)$/, '')
      const row = page.split('\n').find((line) => line.startsWith(`| \`${family}\` |`))
      expect(row, family).toBeDefined()
      for (const label of Object.keys(labels).filter((each) => each !== 'le'))
        expect(row).toContain(`\`${label}\``)
    }
  })
})
