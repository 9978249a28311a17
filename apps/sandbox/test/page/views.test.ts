import { readFile } from 'node:fs/promises'
import type { Page as Tab } from 'playwright-core'
import { expect, it } from 'vitest'
import { describeInBrowser, eventually, functionCall, sandboxForTest } from './support.ts'

const fieldOf = (tab: Tab, name: string) => tab.locator(`[data-field=${name}]`)
const fault = (tab: Tab, name: string, text: string) =>
  fieldOf(tab, name).locator('.fault').getByText(text).waitFor()

it('the form of a new deployment keeps its id until the deployment runs', async () => {
  const { world, url } = await sandboxForTest()
  const offered = async () => {
    const page = await fetch(`${url}/deployments?new=mailer`)
    return /id="deployment-id"[^>]*value="([^"]+)"/.exec(await page.text())?.[1]
  }
  const deployment = world.platform.addDeployment({ id: 'dep_mailer_1' })
  expect([deployment.status, await offered()]).toEqual(['deploying', 'dep_mailer_1'])
  deployment.status = 'running'
  expect(await offered()).toBe('dep_mailer_2')
})

describeInBrowser('the page', (visit) => {
  it('draws a form from the manifest, with conditional fields, and the host’s errors at their fields in its words', async () => {
    const { url, world, tab, press, follow, see, verdict } = await visit('/deployments?new=idp-server')
    const domain = fieldOf(tab, 'domain').locator('input')
    expect(await domain.isVisible()).toBe(false)
    await tab.getByLabel('Environment').selectOption('production')
    await press('Deploy idp-server')
    await fault(tab, 'domain', 'is required')
    expect(await domain.getAttribute('aria-invalid')).toBe('true')
    expect(await domain.evaluate((field) => field === document.activeElement)).toBe(true)
    await domain.fill('example.com')
    await press('Deploy idp-server')
    await tab.locator('[data-deployment=dep_idp_server_1] h2 + .status').getByText('running').waitFor()
    const { inputs } = world.platform.deployments.get('dep_idp_server_1') ?? {}
    expect(inputs).toMatchObject({ domain: 'example.com' })

    await tab.goto(`${url}/timeline?new=idp/createUser`)
    await tab.getByText('more fields').click()
    const label = await fieldOf(tab, 'emailAddress').locator('label').textContent()
    expect(label).toMatch(/^Email address emailAddress/)
    expect(await fieldOf(tab, 'firstName').locator('.hint').textContent()).toBe('')
    const send = () => tab.keyboard.press('Control+Enter')
    for (const [metadata, words] of [
      ['{"plan":', 'is not JSON'],
      ['[1]', 'expected record'],
    ] as const) {
      await tab.getByLabel('publicMetadata').fill(metadata)
      await send()
      await fault(tab, 'publicMetadata', words)
    }
    await tab.getByLabel('publicMetadata').fill('{"plan":"pro"}')
    await tab.getByLabel('emailAddress').fill('ada@example.com, countess@example.com')
    await send()
    await verdict.getByText('createUser worked').waitFor()
    await follow('Response')
    await see('"plan": "pro"', '"countess@example.com"')
    await follow('New event')
    await fieldOf(tab, 'to').locator('input').fill('ada@example.com, nope')
    await send()
    await fault(tab, 'to', '“nope” is invalid: expected one address')
  })

  it('hides a secret output, reveals and copies it on demand, and hides it in a file that is saved with it', async () => {
    const { world, tab, press, follow, see, sendFromOutside } = await visit('/deployments?new=idp')
    await press('Deploy idp')
    await see('frontendApiUrl')
    const secret = String(world.identity.backend.instance.secretKey)
    expect(await tab.content()).not.toContain(secret)
    await press('Copy')
    await see('Copied.')
    expect(await tab.evaluate(() => navigator.clipboard.readText())).toBe(secret)
    await press('Reveal')
    await see(secret)
    await press('Hide')
    expect(await tab.content()).not.toContain(secret)
    await follow(/^Files/)
    await press('Generate .env.local')
    await see("CLERK_SECRET_KEY='sk_test_[redacted]'")
    const [download] = await Promise.all([tab.waitForEvent('download'), follow('Save')])
    expect(await readFile(await download.path(), 'utf8')).toContain(secret)
    await follow('Overview')
    const users = tab.locator('dt', { hasText: 'number_of_users' }).locator('+ dd')
    await press('Read metrics')
    await users.getByText('1', { exact: true }).waitFor()
    await sendFromOutside('idp', functionCall('createUser', { emailAddress: 'a@b.example' }))
    await press('Read metrics')
    await users.getByText('2', { exact: true }).waitFor()
  })

  it('lists many deployments in lines of 40 pixels, finds one with its people and functions, and asks before it deletes', async () => {
    const { url, world, tab, call, deploy, press, follow, dialog } = await visit()
    await Promise.all(Array.from({ length: 43 }, (_, index) => deploy(`dep_${index}`)))
    await deploy('dep_people', 'idp')
    await call('createUser', { emailAddress: 'ada@example.com' }, 'idp')
    await tab.goto(`${url}/deployments`)
    const rows = tab.locator('.deployment-row')
    expect(await rows.count()).toBe(44)
    expect(await rows.nth(1).evaluate((row) => row.getBoundingClientRect().height)).toBe(40)
    expect(await tab.evaluate(() => document.documentElement.scrollHeight)).toBe(800)
    const views = ['Start', 'Deployments 44', 'Timeline 45', 'Mailbox']
    expect(await tab.locator('#nav li').allTextContents()).toEqual(views)
    await tab.getByLabel('Find').fill('people')
    await eventually(() => rows.count()).toBe(1)
    await rows.click()
    await follow('People 2')
    await tab.locator('.log').getByText('ada@example.com').waitFor()
    // Two clicks on one spot delete nothing.
    await tab.getByRole('button', { name: 'Delete' }).dblclick()
    await dialog.getByText('Delete dep_people?').waitFor()
    await tab.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(world.platform.deployments.get('dep_people')?.status).toBe('running')
    await follow(/^Functions/)
    await follow('Call createUser')
    await tab.getByRole('button', { name: 'Send createUser' }).waitFor()
    expect(await tab.locator('#choose-deployment').inputValue()).toBe('dep_people')
    await tab.goto(`${url}/deployments?deployment=dep_people`)
    await press('Delete')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await tab.locator('h2 + .status').getByText('stopped').waitFor()
  })

  it('calls a function of a deployment with files and unset flags', async () => {
    const { url, world, tab, deploy, press, follow, verdict } = await visit()
    for (const id of ['dep_1', 'dep_2']) await deploy(id)
    world.mail.faults.add({ path: '/server', status: 401 })
    await deploy('dep_3')
    await tab.goto(`${url}/timeline?new=mailer/sendEmail`)
    const focused = () => tab.evaluate(() => document.activeElement?.getAttribute('name'))
    await eventually(focused).toBe('event.functionCall.arguments.to')
    const choices = ['dep_2 · running', 'dep_1 · running', 'dep_3 · failed']
    const none = 'none: the host’s shared credentials'
    expect(await tab.locator('#choose-deployment option').allTextContents()).toEqual([...choices, none])
    await tab.getByText('more fields').click()
    await tab.getByLabel('attachments').setInputFiles([
      { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('first') },
      { name: 'b.dat', mimeType: '', buffer: Buffer.from([0, 255]) },
    ])
    await tab.getByLabel('trackOpens').selectOption('no')
    // In sight, however long the form is.
    const send = tab.getByRole('button', { name: 'Send sendEmail' })
    expect((await send.boundingBox())?.y).toBeLessThan(800)
    await tab.evaluate('delete Uint8Array.prototype.toBase64')
    await send.click()
    await follow('1 mail')
    expect(world.mail.messages[0]?.raw).toMatchObject({
      TrackOpens: false,
      Attachments: [
        { Name: 'a.txt', ContentType: 'text/plain', Content: btoa('first') },
        { Name: 'b.dat', ContentType: 'application/octet-stream', Content: 'AP8=' },
      ],
    })
    await tab.goto(`${url}/timeline?new=mailer/sendEmail`)
    await tab.locator('#choose-deployment').selectOption('none')
    await tab.waitForURL(/deployment=none/)
    await tab.locator('#choose-event').selectOption('idp/createUser')
    await press('Send createUser')
    await verdict.getByText('createUser worked').waitFor()
    await tab.goto(`${url}/timeline?new=idp/deleteUser`)
    await press('Send deleteUser')
    await verdict.getByText('deleteUser worked').waitFor()
  })

  it('has what a person typed after the way back, but no secret', async () => {
    const { tab, follow } = await visit('/deployments?new=mailer')
    await tab.getByLabel('Mail server').selectOption('Your own')
    const sender = tab.getByLabel('Default sender')
    await sender.fill('Shop <shop@example.com>')
    await tab.getByLabel('Server API Token').fill('a-secret-token')
    await follow('Mailbox')
    await tab.getByRole('heading', { name: 'Mailbox' }).waitFor()
    await tab.goBack()
    expect(await sender.inputValue()).toBe('Shop <shop@example.com>')
    expect(await tab.getByLabel('Server API Token').isVisible()).toBe(true)
    await tab.goto(tab.url())
    expect(await sender.inputValue()).toBe('')
  })

  it('breaks the next call, tells a pending fault once on every view, and mends', async () => {
    const { url, world, tab, call, press, see } = await visit('/timeline')
    const pending = tab.locator('#broken')
    const breakNext = async (kind: string, target = 'Mail provider') => {
      await press('Break the next call')
      await tab.getByLabel('Where').selectOption(target)
      await tab.getByLabel(kind).check()
      await press('Break it')
      await pending.getByText(kind).first().waitFor()
    }
    await breakNext('429, too many requests')
    expect(await tab.getByText('429, too many requests, for the next call.').count()).toBe(1)
    await call('sendEmail', { to: 'a@b.example', subject: 'x', textBody: 'x' })
    await tab.locator('.event-row').click()
    await see('injected: 429, too many requests')
    await breakNext('401, credentials refused')
    await breakNext('HTML page instead of JSON')
    await pending.locator('li', { hasText: '401' }).getByRole('button', { name: 'Take back' }).click()
    await eventually(() => world.mail.faults.pending()).toEqual([{ html: true }])
    await breakNext('HTML page instead of JSON', 'Platform')
    await tab.goto(url)
    await see('Platform: HTML page instead of JSON, for the next call.')
    for (const left of [1, 0]) {
      await pending.getByRole('button', { name: 'Take back' }).first().click()
      await eventually(() => pending.locator('li').count()).toBe(left)
    }
    await tab.getByText('Broken on purpose').waitFor({ state: 'hidden' })
    expect(world.platform.faults.pending()).toEqual([])
  })
})
