import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { deliverFromOutside, describeInBrowser, eventually, functionCall } from './support.ts'

describeInBrowser('the page', (visit) => {
  it('draws a form from the manifest, with conditional fields, and shows the host’s errors at their fields', async () => {
    const { world, tab } = await visit('/deployments?new=idp-server')
    expect(await tab.getByLabel('Environment').inputValue()).toBe('development')
    expect(await tab.getByLabel('Domain').isVisible()).toBe(false)
    await tab.getByLabel('Environment').selectOption('production')
    await tab.getByRole('button', { name: 'Deploy idp-server' }).click()
    const domain = tab.getByLabel('Domain')
    await tab.locator('[data-field=domain] .fault').getByText('is required').waitFor()
    expect(await domain.getAttribute('aria-invalid')).toBe('true')
    expect(await domain.evaluate((field) => field === document.activeElement)).toBe(true)
    await domain.fill('example.com')
    await tab.getByRole('button', { name: 'Deploy idp-server' }).click()
    await tab.locator('[data-deployment=dep_idp_server_1] .status').getByText('running').waitFor()
    expect(world.platform.deployments.get('dep_idp_server_1')?.inputs).toMatchObject({
      domain: 'example.com',
    })
    expect(await domain.getAttribute('aria-invalid')).toBe(null)
  })

  it('hides a secret output, and reveals and copies it on demand', async () => {
    const { world, tab } = await visit('/deployments?new=idp')
    await tab.getByRole('button', { name: 'Deploy idp' }).click()
    const card = tab.locator('[data-deployment=dep_idp_1]')
    await card.getByText('frontendApiUrl').first().waitFor()
    const secret = String(world.idp.emulator?.instance.secretKey)
    expect(await tab.content()).not.toContain(secret)
    await card.getByRole('button', { name: 'Copy' }).click()
    await tab.getByText('Copied.').waitFor()
    expect(await tab.evaluate(() => navigator.clipboard.readText())).toBe(secret)
    await card.getByRole('button', { name: 'Reveal' }).click()
    await card.getByText(secret).waitFor()
    await card.getByRole('button', { name: 'Hide' }).click()
    expect(await tab.content()).not.toContain(secret)
  })

  it('shows a generated file without its secret, saves it with the secret, and shows the latest metrics', async () => {
    const { world, tab } = await visit('/deployments?new=idp')
    await tab.getByRole('button', { name: 'Deploy idp' }).click()
    await tab.getByRole('button', { name: 'Generate .env.local' }).click()
    const card = tab.locator('[data-deployment=dep_idp_1]')
    await card.getByLabel('.env.local').getByText("CLERK_SECRET_KEY='sk_test_[redacted]'").waitFor()
    const [download] = await Promise.all([
      tab.waitForEvent('download'),
      card.getByRole('link', { name: 'Save' }).click(),
    ])
    expect(await readFile(await download.path(), 'utf8')).toContain(
      String(world.idp.emulator?.instance.secretKey),
    )
    const users = card.locator('dt', { hasText: 'number_of_users' }).locator('+ dd')
    await card.getByRole('button', { name: 'Read metrics' }).click()
    await users.getByText('0', { exact: true }).waitFor()
    await deliverFromOutside(world, 'idp', functionCall('createUser', { emailAddress: 'ada@example.com' }))
    await card.getByRole('button', { name: 'Read metrics' }).click()
    await users.getByText('1', { exact: true }).waitFor()
  })

  it('shows the errors of arguments at their fields, and the result beside the form', async () => {
    const { tab } = await visit('/functions?route=idp&function=createUser')
    await tab.getByText('more fields').click()
    await tab.getByLabel('publicMetadata').fill('{"plan":')
    await tab.getByRole('button', { name: 'Call createUser' }).click()
    await tab.locator('[data-field=publicMetadata] .fault').getByText('is not JSON').waitFor()
    await tab.getByLabel('publicMetadata').fill('[1]')
    await tab.getByRole('button', { name: 'Call createUser' }).click()
    await tab.locator('[data-field=publicMetadata] .fault').getByText('expected record').waitFor()
    await tab.getByLabel('publicMetadata').fill('{"plan":"pro"}')
    await tab.getByLabel('emailAddress').fill('ada@example.com, countess@example.com')
    await tab.getByRole('button', { name: 'Call createUser' }).click()
    const result = tab.locator('#call-result')
    await result.getByText('"plan": "pro"').waitFor()
    await result.getByText('"countess@example.com"').waitFor()
    await result.getByText('/v1/users').first().waitFor()
  })

  it('breaks the platform for some calls, warns on every view, and mends it', async () => {
    const { url, world, tab } = await visit('/faults')
    await tab.getByLabel('Where').selectOption('platform')
    await tab.getByLabel('500, internal error').check()
    await tab.getByLabel('For the next').fill('2')
    await tab.getByLabel('Only paths with').fill('/outputs')
    await tab.getByRole('button', { name: 'Break it' }).click()
    await tab.locator('[data-target=platform]').getByText('2 faults to come').waitFor()
    await tab.goto(url)
    await tab.getByText('Platform, 2 calls to come').waitFor()
    await tab.getByRole('button', { name: 'Deploy', exact: true }).click()
    await eventually(() => world.platform.calls.filter(({ status }) => status === 500).length).toBe(2)
    await tab.locator('#latest').getByText('…/outputs').first().waitFor()
    await tab.getByText('Broken on purpose').waitFor({ state: 'hidden' })
    await tab.goto(`${url}/faults`)
    await tab.getByLabel('Slow response').check()
    await tab.getByLabel('Delay').fill('20')
    await tab.getByRole('button', { name: 'Break it' }).click()
    await tab.getByRole('button', { name: 'Mend everything' }).click()
    await eventually(() => world.mail.emulator?.faults.pending()).toEqual([])
  })
})
