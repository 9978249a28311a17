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
    await result.locator('pre', { hasText: '"plan": "pro"' }).waitFor()
    await result.getByText('"countess@example.com"').first().waitFor()
    await result.getByText('/v1/users').first().waitFor()
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
    await tab.goto(`${url}/functions?route=mailer&function=sendEmail`)
    const choices = tab.getByLabel('Deployment').locator('option')
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
    await tab.getByRole('button', { name: 'Call sendEmail' }).click()
    await tab
      .locator('#call-result')
      .getByText(/Calling … 0\.[5-9] s/)
      .waitFor()
    await tab.locator('#call-result').getByText('messageId').waitFor()
    expect(
      await tab.locator('#call-result').evaluate((place) => place.getBoundingClientRect().top),
    ).toBeLessThan(800)
    const [mail] = world.mail.emulator?.messages ?? []
    expect(mail?.raw).toMatchObject({
      TrackOpens: false,
      Attachments: [
        { Name: 'a.txt', ContentType: 'text/plain', Content: btoa('first') },
        { Name: 'b.dat', ContentType: 'application/octet-stream', Content: 'AP8=' },
      ],
    })
    await tab.getByLabel('trackOpens').selectOption('not set')
    await tab.getByRole('button', { name: 'Call sendEmail' }).click()
    await eventually(() => world.mail.emulator?.messages.at(-1)?.raw.TrackOpens).toBe(undefined)
  })

  it('fills a form with the example of the manifest, and with the id of what exists', async () => {
    const { url, world, tab } = await visit('/functions?route=idp&function=createUser')
    const result = tab.locator('#call-result')
    await tab.getByRole('button', { name: 'Call createUser' }).click()
    await result.getByText('"ada@example.com"').first().waitFor()
    await tab.goto(`${url}/functions?route=idp&function=createUser`)
    expect(await tab.getByLabel('emailAddress').inputValue()).toBe('ada-2@example.com')
    const [user = ''] = world.idp.emulator?.instance.users.keys() ?? []
    await tab.goto(`${url}/functions?route=idp&function=deleteUser`)
    expect(await tab.getByLabel('userId').inputValue()).toBe(user)
    await tab.getByRole('button', { name: 'Call deleteUser' }).click()
    await result.getByText('"deleted": true').waitFor()
    await tab.goto(`${url}/functions?route=idp&function=getUser`)
    expect(await tab.getByLabel('userId').inputValue()).toBe('')
  })

  it('has what a person typed after the way back, but no secret', async () => {
    const { tab } = await visit('/deployments?new=mailer')
    await tab.getByLabel('Mail server').selectOption('Your own')
    await tab.getByLabel('Default sender').fill('Shop <shop@example.com>')
    await tab.getByLabel('Server API Token').fill('a-secret-token')
    await tab.getByRole('link', { name: 'People' }).click()
    await tab.getByRole('heading', { name: 'People' }).waitFor()
    await tab.goBack()
    expect(await tab.getByLabel('Default sender').inputValue()).toBe('Shop <shop@example.com>')
    expect(await tab.getByLabel('Server API Token').isVisible()).toBe(true)
    expect(await tab.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('a-secret-token')
    await tab.goto(tab.url())
    expect(await tab.getByLabel('Default sender').inputValue()).toBe('')
  })

  it('says what it expects of the host after a fault and whether it came, and takes single faults back', async () => {
    const { world, tab } = await visit('/faults')
    const result = tab.locator('#fault-result')
    await tab.getByRole('button', { name: 'Break it' }).click()
    await result.getByText('Mail provider: 429, too many requests, for the next call.').waitFor()
    await result.getByRole('button', { name: 'Send a mail now' }).click()
    const outcomes = tab.getByRole('region', { name: 'What came of it' }).getByRole('listitem')
    await outcomes.getByText('expected: retry after 1.0 s, saw: retry after 1.0 s').waitFor()
    await outcomes.getByText('as expected').waitFor()
    await tab.getByLabel('Done, but the response is lost').check()
    await tab.getByRole('button', { name: 'Break it' }).click()
    await result.getByRole('button', { name: 'Send a mail now' }).click()
    await outcomes.first().getByText('expected: no retry, saw: no retry').waitFor()

    for (const kind of ['401, credentials refused', 'HTML page instead of JSON']) {
      await tab.getByLabel(kind).check()
      await tab.getByRole('button', { name: 'Break it' }).click()
      await tab.locator('#pending').getByText(kind).waitFor()
    }
    await tab.locator('#pending li', { hasText: '401' }).getByRole('button', { name: 'Take back' }).click()
    await eventually(() => world.mail.emulator?.faults.pending()).toEqual([{ html: true }])
  })

  it('shows every line that the host logged about an event, with its fields', async () => {
    const { url, tab } = await visit()
    await callFunction(url, 'countUsers', {}, 'idp')
    await tab.goto(`${url}/timeline?event=1&tab=log`)
    await tab.getByText('FUNCTION_CALL 200').waitFor()
    await tab.getByText('function=countUsers outcome=ok status=200').waitFor()
  })

  it('links the reference of the host from every view, and from the page of a wrong address', async () => {
    const { url, world, tab } = await visit()
    const reference = `${world.url}/docs`
    expect(await tab.getByRole('link', { name: 'Reference of the host' }).getAttribute('href')).toBe(
      reference,
    )
    await tab.goto(`${url}/nowhere`)
    expect(
      await tab.getByRole('link', { name: 'reference of the host', exact: true }).getAttribute('href'),
    ).toBe(reference)
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
