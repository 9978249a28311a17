import { describe, expect, it } from 'vitest'
import { IntegrationError } from '../src/index.ts'
import { deliver } from '../src/testing/index.ts'
import { calling, created, createHost, token } from './example.ts'

const secret = 'secret-of-the-host'

describe('the answer to a call', () => {
  it('loses the credentials that a provider quotes in a success', async () => {
    const { handle } = createHost({ secrets: [secret] })
    const { body } = await deliver(
      handle,
      calling('greet', { to: `${secret}, or ${btoa(`user:${secret}`)}` }),
    )
    expect(body).toMatchObject({ result: { id: expect.stringContaining('greeting-to-[redacted], or ') } })
    expect(JSON.stringify(body)).not.toContain(btoa(secret).slice(0, 20))
  })

  it('keeps a word that someone also chose as a password', async () => {
    const { handle } = createHost()
    const { body } = await deliver(handle, calling('greet', { to: 'Lovelace', password: 'Lovelace' }))
    expect(body).toEqual({ result: { id: 'greeting-to-Lovelace' } })
  })
})

describe('what a provider says', () => {
  const words = `“canary words” to ada@example.com with ${token}`
  const refusing = async () => {
    throw new IntegrationError('provider_rejected', `The provider refused: ${words}.`, {
      provider: { name: 'greeter', status: 422, message: words },
      hint: 'Say something else.',
    })
  }

  it('is answered, and told the platform, without secrets; addresses stay out of its log', async () => {
    const { handle, platform } = createHost({ provider: refusing })
    const { body } = await deliver(handle, created)
    expect(body).toMatchObject({
      detail: expect.stringContaining('“canary words” to ada@example.com with [redacted]'),
    })
    const { logs } = platform.deployments.get('dep_1') ?? {}
    expect(logs?.at(-1)?.message).toContain('“canary words” to [address] with [redacted]')
  })

  it('stays out of the host’s log, where the rest of the sentence is kept', async () => {
    const { handle, lines } = createHost({ provider: refusing })
    await deliver(handle, created)
    const messages = lines.map(({ message }) => message)
    expect(messages).toContain('DEPLOYMENT_CREATED: The provider refused: …. Say something else.')
    expect(JSON.stringify(lines)).not.toMatch(/canary|ada@example/)
  })
})
