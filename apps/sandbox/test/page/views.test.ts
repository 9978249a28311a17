import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import {
  act,
  callFunction,
  deliverFromOutside,
  describeInBrowser,
  eventually,
  functionCall,
  sandboxForTest,
} from './support.ts'

it('the form of a new deployment keeps its id until the deployment runs', async () => {
  const { world, url } = await sandboxForTest()
  const offered = async () => {
    const page = await fetch(`${url}/deployments?new=mailer`)
    return /id="deployment-id"[^>]*value="([^"]+)"/.exec(await page.text())?.[1]
  }
  expect(await offered()).toBe('dep_mailer_1')
  const deployment = world.platform.addDeployment({ id: 'dep_mailer_1' })
  expect([deployment.status, await offered()]).toEqual(['deploying', 'dep_mailer_1'])
  deployment.status = 'running'
  expect(await offered()).toBe('dep_mailer_2')
})

it('takes every example of the OpenAPI document of its host as it is, in their order', async () => {
  const { url } = (await sandboxForTest()).world
  const { paths } = await fetch(`${url}/openapi.json`).then((response) => response.json())
  const statuses: string[] = []
  for (const path of Object.keys(paths)) {
    const examples = paths[path].post?.requestBody.content['application/json'].examples ?? {}
    for (const name of Object.keys(examples)) {
      const body = JSON.stringify(examples[name].value)
      const headers = { 'content-type': 'application/json' }
      const { status } = await fetch(url + path, { method: 'POST', headers, body })
      statuses.push(`${status} ${path} ${name}`)
    }
  }
  expect(statuses.length).toBeGreaterThan(30)
  expect(statuses.filter((one) => !one.startsWith('200'))).toEqual([])
})

describeInBrowser('the page', (visit) => {
  it('draws a form from the manifest, with conditional fields, and shows the host’s errors at their fields', async () => {
    const { world, tab } = await visit('/deployments?new=idp-server')
    expect(await tab.getByLabel('Environment').inputValue()).toBe('development')
    expect(await tab.locator('[data-field=domain]').isVisible()).toBe(false)
    await tab.getByLabel('Environment').selectOption('production')
    await tab.getByRole('button', { name: 'Deploy idp-server' }).click()
    const domain = tab.locator('[data-field=domain] input')
    await tab.locator('[data-field=domain] .fault').getByText('is required').waitFor()
    expect(await domain.getAttribute('aria-invalid')).toBe('true')
    expect(await domain.evaluate((field) => field === document.activeElement)).toBe(true)
    await domain.fill('example.com')
    await tab.getByRole('button', { name: 'Deploy idp-server' }).click()
    await tab.locator('[data-deployment=dep_idp_server_1] h2 + .status').getByText('running').waitFor()
    expect(world.platform.deployments.get('dep_idp_server_1')?.inputs).toMatchObject({
      domain: 'example.com',
    })
  })

  it('hides a secret output, reveals and copies it on demand, and hides it in a file that is saved with it', async () => {
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
    await card.getByRole('link', { name: 'Files' }).click()
    await tab.getByRole('button', { name: 'Generate .env.local' }).click()
    await card.getByLabel('.env.local').getByText("CLERK_SECRET_KEY='sk_test_[redacted]'").waitFor()
    const [download] = await Promise.all([
      tab.waitForEvent('download'),
      card.getByRole('link', { name: 'Save' }).click(),
    ])
    expect(await readFile(await download.path(), 'utf8')).toContain(secret)
    await card.getByRole('link', { name: 'Overview' }).click()
    const users = card.locator('dt', { hasText: 'number_of_users' }).locator('+ dd')
    await card.getByRole('button', { name: 'Read metrics' }).click()
    await users.getByText('1', { exact: true }).waitFor()
    await deliverFromOutside(world, 'idp', functionCall('createUser', { emailAddress: 'ada@example.com' }))
    await card.getByRole('button', { name: 'Read metrics' }).click()
    await users.getByText('2', { exact: true }).waitFor()
  })

  it('shows the errors of arguments at their fields, in words of the field, and then the event', async () => {
    const { tab } = await visit('/timeline?new=idp/createUser')
    await tab.getByText('more fields').click()
    const field = (name: string) => tab.locator(`[data-field=${name}]`)
    expect(await field('emailAddress').locator('label').textContent()).toMatch(/^Email address emailAddress/)
    expect(await field('firstName').locator('.hint').textContent()).toBe('')
    await field('publicMetadata').locator('textarea').fill('{"plan":')
    await tab.keyboard.press('Control+Enter')
    await field('publicMetadata').locator('.fault').getByText('is not JSON').waitFor()
    await tab.getByLabel('publicMetadata').fill('[1]')
    await tab.keyboard.press('Control+Enter')
    await field('publicMetadata').locator('.fault').getByText('expected record').waitFor()
    await tab.getByLabel('publicMetadata').fill('{"plan":"pro"}')
    await tab.getByLabel('emailAddress').fill('ada@example.com, countess@example.com')
    await tab.keyboard.press('Control+Enter')
    await tab.getByRole('article', { name: 'Event 2' }).waitFor()
    await tab.getByRole('link', { name: 'Response' }).click()
    await tab
      .locator('pre', { hasText: '"plan": "pro"' })
      .getByText('"countess@example.com"')
      .first()
      .waitFor()
    await tab.getByRole('link', { name: 'New event' }).click()
    await field('to').locator('input').fill('ada@example.com, nope')
    expect(await tab.locator('[data-field=subject] .hint').textContent()).toBe('')
    await tab.keyboard.press('Control+Enter')
    await field('to').locator('.fault').getByText('“nope” is invalid: expected one address').waitFor()
  })

  it('asks before it deletes, and two clicks on one spot delete nothing', async () => {
    const { world, tab } = await visit('/deployments?new=mailer')
    await tab.getByRole('button', { name: 'Deploy mailer' }).click()
    const deployment = tab.locator('[data-deployment=dep_mailer_1]')
    await deployment.getByRole('button', { name: 'Delete' }).dblclick()
    const dialog = tab.getByRole('dialog')
    await dialog.getByText('Delete dep_mailer_1?').waitFor()
    await tab.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(world.platform.deployments.get('dep_mailer_1')?.status).toBe('running')
    await deployment.getByRole('button', { name: 'Delete' }).click()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await deployment.locator('h2 + .status').getByText('stopped').waitFor()
  })

  it('calls a function of a running deployment with files and unset flags, and shows how long it takes', async () => {
    const { url, world, tab } = await visit()
    for (const id of ['dep_1', 'dep_2']) {
      await act(url, 'event', { route: 'mailer', event: { name: 'DEPLOYMENT_CREATED', deployment: { id } } })
    }
    world.mail.emulator?.faults.add({ path: '/server', status: 401 })
    await act(url, 'event', {
      route: 'mailer',
      event: { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_3' } },
    })
    await tab.goto(`${url}/timeline?new=mailer/sendEmail`)
    const focused = () => tab.evaluate(() => document.activeElement?.getAttribute('name'))
    await eventually(focused).toBe('event.functionCall.arguments.to')
    const choices = tab.locator('#choose-deployment option')
    expect(await choices.allTextContents()).toEqual([
      'dep_2 · running',
      'dep_1 · running',
      'dep_3 · failed',
      'none: the host’s shared credentials',
    ])
    await tab.getByText('more fields').click()
    const attachments = tab.getByLabel('attachments')
    await attachments.setInputFiles([
      { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('first') },
      { name: 'b.dat', mimeType: '', buffer: Buffer.from([0, 255]) },
    ])
    await tab.getByLabel('trackOpens').selectOption('no')
    world.mail.emulator?.faults.add({ path: '/email', delayMs: 1_000 })
    // In sight, however long the form is.
    const send = tab.getByRole('button', { name: 'Send sendEmail' })
    expect((await send.boundingBox())?.y).toBeLessThan(800)
    await tab.evaluate('delete Uint8Array.prototype.toBase64')
    await send.click()
    await eventually(() => send.getAttribute('data-time')).toMatch(/^0\.[5-9] s$/)
    await tab.getByRole('link', { name: '1 mail', exact: true }).waitFor()
    const [mail] = world.mail.emulator?.messages ?? []
    expect(mail?.raw).toMatchObject({
      TrackOpens: false,
      Attachments: [
        { Name: 'a.txt', ContentType: 'text/plain', Content: btoa('first') },
        { Name: 'b.dat', ContentType: 'application/octet-stream', Content: 'AP8=' },
      ],
    })
    await tab.getByRole('link', { name: 'New event' }).click()
    await tab.getByText('more fields').click()
    expect(await tab.getByLabel('trackOpens').inputValue()).toBe('')
    await tab.locator('#choose-deployment').selectOption('none')
    await tab.waitForURL(/deployment=none/)
    await tab.locator('#choose-event').selectOption('idp/countUsers')
    await tab.getByRole('button', { name: 'Send countUsers' }).waitFor()
  })

  it('fills a form with the example of the manifest, and with the id of what exists', async () => {
    const { url, world, tab } = await visit('/timeline?new=idp/createUser')
    const verdict = tab.getByRole('region', { name: 'What happened' })
    await tab.getByRole('button', { name: 'Send createUser' }).click()
    await verdict.getByText('createUser worked').waitFor()
    await tab.goto(`${url}/timeline?new=idp/createUser`)
    expect(await tab.getByLabel('emailAddress').inputValue()).toBe('ada-2@example.com')
    const [, user = ''] = world.idp.emulator?.instance.users.keys() ?? []
    await tab.goto(`${url}/timeline?new=idp/deleteUser`)
    expect(await tab.getByLabel('userId').inputValue()).toBe(user)
    await tab.getByRole('button', { name: 'Send deleteUser' }).click()
    await verdict.getByText('deleteUser worked').waitFor()
    await tab.goto(`${url}/timeline?new=idp/getUser`)
    expect(await tab.getByLabel('userId').inputValue()).toBe('')
  })

  it('lists many deployments in rows of 40 pixels, finds one, and shows its people beside the list', async () => {
    const { url, world, tab } = await visit()
    const deploy = (id: string, route: string) =>
      act(url, 'event', { route, event: { name: 'DEPLOYMENT_CREATED', deployment: { id, inputs: {} } } })
    await Promise.all(Array.from({ length: 43 }, (_, index) => deploy(`dep_${index}`, 'mailer')))
    await deploy('dep_people', 'idp')
    await callFunction(url, 'createUser', { emailAddress: 'ada@example.com' }, 'idp')
    await tab.goto(`${url}/deployments`)
    const rows = tab.locator('.deployment-row')
    expect(await rows.count()).toBe(44)
    expect(await rows.nth(1).evaluate((row) => row.getBoundingClientRect().height)).toBe(40)
    expect(await tab.evaluate(() => document.documentElement.scrollHeight)).toBe(800)
    await tab.getByLabel('Find').fill('people')
    await eventually(() => rows.count()).toBe(1)
    await rows.click()
    await tab.getByRole('link', { name: 'People 2' }).click()
    await tab.locator('.log').getByText('ada@example.com').waitFor()
    await tab.getByRole('link', { name: 'Functions' }).click()
    await tab.getByRole('link', { name: 'Call createUser' }).click()
    await tab.getByRole('button', { name: 'Send createUser' }).waitFor()
    expect(await tab.locator('#choose-deployment').inputValue()).toBe('dep_people')
    expect(world.platform.deployments.size).toBe(44)
    expect(await tab.locator('#nav li').allTextContents()).toEqual([
      'Start',
      'Deployments 44',
      'Timeline 45',
      'Mailbox',
    ])
  })

  it('has what a person typed after the way back, but no secret', async () => {
    const { tab } = await visit('/deployments?new=mailer')
    await tab.getByLabel('Mail server').selectOption('Your own')
    await tab.getByLabel('Default sender').fill('Shop <shop@example.com>')
    await tab.getByLabel('Server API Token').fill('a-secret-token')
    await tab.getByRole('link', { name: 'Mailbox' }).click()
    await tab.getByRole('heading', { name: 'Mailbox' }).waitFor()
    await tab.goBack()
    expect(await tab.getByLabel('Default sender').inputValue()).toBe('Shop <shop@example.com>')
    expect(await tab.getByLabel('Server API Token').isVisible()).toBe(true)
    expect(await tab.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('a-secret-token')
    await tab.goto(tab.url())
    expect(await tab.getByLabel('Default sender').inputValue()).toBe('')
  })

  it('breaks the next call, tells a pending fault once on every view, shows the reaction, and mends', async () => {
    const { url, world, tab } = await visit('/timeline')
    const pending = tab.locator('#broken')
    const breakNext = async (kind?: string) => {
      await tab.getByRole('button', { name: 'Break the next call' }).click()
      if (kind) await tab.getByLabel(kind).check()
      await tab.getByRole('button', { name: 'Break it' }).click()
    }
    await breakNext()
    await pending.getByText('429, too many requests, for the next call.').waitFor()
    expect(await tab.getByText('429, too many requests, for the next call.').count()).toBe(1)
    await pending.getByRole('button', { name: 'Send a mail now' }).click()
    const why = tab.locator('.why')
    await why.getByText('injected: 429, too many requests').waitFor()
    await why.getByText('waited 1.0 s (Retry-After: 1)').waitFor()
    await breakNext('Done, but the response is lost')
    await pending.getByRole('button', { name: 'Send a mail now' }).click()
    await why.getByText('injected: Done, but the response is lost').waitFor()
    for (const kind of ['401, credentials refused', 'HTML page instead of JSON']) {
      await breakNext(kind)
      await pending.getByText(kind).waitFor()
    }
    await pending.locator('li', { hasText: '401' }).getByRole('button', { name: 'Take back' }).click()
    await eventually(() => world.mail.emulator?.faults.pending()).toEqual([{ html: true }])
    await tab.getByRole('button', { name: 'Break the next call' }).click()
    await tab.getByLabel('Where').selectOption('platform')
    await tab.getByLabel('For the next').fill('2')
    await tab.getByLabel('Only paths with').fill('/outputs')
    await tab.getByRole('button', { name: 'Break it' }).click()
    await tab.goto(url)
    await tab.getByText('HTML page instead of JSON, at /outputs, for the next 2 calls.').waitFor()
    await tab.getByRole('button', { name: 'Mend everything' }).click()
    await tab.getByText('Broken on purpose').waitFor({ state: 'hidden' })
    expect(world.platform.faults.pending()).toEqual([])
  })

  it('shows every line that the host logged about an event, and links the reference of the host from every page', async () => {
    const { url, world, tab } = await visit()
    await callFunction(url, 'countUsers', {}, 'idp')
    await tab.goto(`${url}/timeline?event=1&tab=log`)
    await tab.getByText('FUNCTION_CALL 200').waitFor()
    await tab.getByText('function=countUsers outcome=ok status=200').waitFor()
    const reference = `${world.url}/docs`
    expect(await tab.getByRole('link', { name: 'Reference of the host' }).getAttribute('href')).toBe(
      reference,
    )
    await tab.goto(`${url}/nowhere`)
    expect(
      await tab.getByRole('link', { name: 'reference of the host', exact: true }).getAttribute('href'),
    ).toBe(reference)
  })
})
