import { describe, expect, it } from 'vitest'
import { walks } from '../src/walk/index.ts'
import { realIdentity, realMail, runSandbox } from './fixtures.ts'

const walksOf = (...routes: string[]) => walks.filter(({ route }) => routes.includes(route))
const stepsOf = (...routes: string[]) => walksOf(...routes).flatMap((walk) => walk.steps)

describe('with the real mail provider', () => {
  it('writes a few messages to the black hole only, and shows the skipped steps', async () => {
    const { provider, environment } = await realMail()
    const { code, output } = await runSandbox({ environment, walks: walksOf('mailer') })
    expect(output).toContain(`${stepsOf('mailer').length - 2} steps passed, 0 failed, 2 skipped`)
    expect(output).toContain('skipped: The real provider can’t be switched off.')
    expect(provider.messages).toHaveLength(4)
    expect(new Set(provider.messages.flatMap(({ to }) => to))).toEqual(
      new Set(['test@blackhole.postmarkapp.com']),
    )
    expect(new Set(provider.messages.map(({ from }) => from))).toEqual(new Set(['hello@shop.example']))
    expect(code).toBe(0)
  })
})

describe('with the real identity provider', () => {
  it('only reads there if SANDBOX_REAL_EFFECTS is not 1, and shows the skipped steps', async () => {
    const { provider, instance, application, workspace } = await realIdentity()
    instance.createUsers(3)
    const { code, output } = await runSandbox({
      environment: { ...application, ...workspace, SANDBOX_REAL_EFFECTS: 'no' },
      walks: walksOf('idp', 'idp-server'),
    })
    expect(new Set(provider.calls.map(({ method }) => method))).toEqual(new Set(['GET']))
    expect(new Set(provider.calls.map(({ instanceId }) => instanceId))).toEqual(new Set([instance.id]))
    expect(output).toContain('10 steps passed, 0 failed')
    expect(output.match(/skipped: It would change the real application/g)).toHaveLength(4)
    expect(output.match(/skipped: It needs an application in the real workspace/g)).toHaveLength(9)
    expect(output).toMatch(/users +real; only read\n +applications +real; only read\n/)
    expect(code).toBe(0)
  })

  it('creates users and an application on demand, deletes them again, and prints no keys', async () => {
    const { provider, instance, application, workspace, secrets } = await realIdentity()
    const { code, output } = await runSandbox({
      environment: { ...application, ...workspace, SANDBOX_REAL_EFFECTS: '1' },
      walks: walksOf('idp', 'idp-server'),
    })
    const steps = stepsOf('idp', 'idp-server').length
    expect(output).toContain(`${steps - 2} steps passed, 0 failed, 2 skipped`)
    expect(provider.calls.filter(({ method, status }) => method === 'POST' && status === 200)).toHaveLength(4)
    expect(instance.users.size).toBe(0)
    expect(instance.organizations.size).toBe(1)
    expect(provider.applications.size).toBe(0)
    for (const secret of secrets) expect(output).not.toContain(secret)
    expect(output).toContain('sk_test_[redacted]')
    expect(output.replaceAll(/\s/g, '')).toMatch(/ada-[\w-]+\+clerk_test/)
    expect(code).toBe(0)
  })

  it.each([
    ['application', 'idp-server', '9 steps passed, 0 failed, 3 skipped'],
    ['workspace', 'idp', `${stepsOf('idp').length} steps passed, 0 failed`],
  ] as const)('emulates the rest if only the %s is real', async (real, route, words) => {
    const { provider, [real]: environment } = await realIdentity()
    const { code, output } = await runSandbox({ environment, walks: walksOf(route) })
    expect(output).toContain(words)
    expect([provider.calls, code]).toEqual([[], 0])
  })

  it.each([
    ['IDP_SHARED_PUBLISHABLE_KEY', 'IDP_SHARED_SECRET_KEY'],
    ['IDP_SHARED_SECRET_KEY', 'IDP_SHARED_PUBLISHABLE_KEY'],
    ['MAILER_SHARED_API_TOKEN', 'MAILER_SHARED_FROM_EMAIL'],
  ])('asks for the other variable before anything starts, if there is only %s', async (given, missing) => {
    const [mail, { application }] = [await realMail(), await realIdentity()]
    const environment = { ...mail.environment, ...application, [missing]: ' ' }
    const { code, output, errors } = await runSandbox({ environment })
    expect(errors).toContain(`${given} is set`)
    expect(errors).toContain(`also needs ${missing}`)
    expect([output, mail.provider.calls, code]).toEqual(['', [], 1])
  })
})
