import { request } from 'node:http'
import { expect, it } from 'vitest'
import { serveForTest } from '../fixtures.ts'
import { describeInBrowser, functionCall, sandboxForTest } from './support.ts'

/** Sends these very headers; `fetch` would change them. */
function ask(url: string, headers: Record<string, string>, body?: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const outgoing = request(url, { method, headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    outgoing.on('error', reject).end(body)
  })
}

it('the host and the page respond to this machine, and neither under another name nor to other sites', async () => {
  const { world, url } = await sandboxForTest()
  const webhook = `${world.url}/mailer/webhook`
  const challenge = JSON.stringify({ name: 'WEBHOOK_CHALLENGE' })
  const fault = JSON.stringify({ target: 'Mail provider', kind: 'html' })
  const action = `${url}/actions/break`
  const json = { 'content-type': 'application/json' }
  const evil = { ...json, origin: 'https://evil.example' }
  const from = (site: string, mode: string, destination: string) => ({
    ...{ 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': destination },
  })
  for (const [expected, target, headers, body] of [
    [403, webhook, { ...json, host: 'rebound.example' }, challenge],
    [403, webhook, evil, challenge],
    [403, `${world.url}/integrations`, { 'sec-fetch-site': 'cross-site' }],
    [200, webhook, json, challenge],
    [200, `${world.url}/docs`, { 'sec-fetch-site': 'none' }],
    [403, action, json, fault],
    [403, action, evil, fault],
    [403, action, { ...json, origin: world.url }, fault],
    [403, action, { ...json, origin: url, 'sec-fetch-site': 'same-site' }, fault],
    [403, action, { 'content-type': 'text/plain', origin: url }, fault],
    [403, url, { host: 'rebound.example' }],
    [403, url, from('cross-site', 'no-cors', 'script')],
    [403, `${url}/timeline/session.json?secrets=1`, from('same-site', 'cors', 'empty')],
    [200, url, from('cross-site', 'navigate', 'document')],
  ] as const)
    expect([target, headers, await ask(target, headers, body)]).toEqual([target, headers, expected])
  expect(world.mail.faults.pending()).toEqual([])
  expect(await ask(action, { ...json, origin: url, 'sec-fetch-site': 'same-origin' }, fault)).toBe(200)
  expect(world.mail.faults.pending()).toHaveLength(1)
})

it('the page shows the input of strangers as text, hides their secrets, and allows only its own scripts', async () => {
  const { url, sendFromOutside } = await sandboxForTest()
  const hostile = '<img src=x onerror=alert(1)>'
  const token = 'token-of-a-caller'
  const deployment = { id: hostile, inputs: { serverType: 'dedicated', apiToken: token } }
  await sendFromOutside('mailer', { name: 'DEPLOYMENT_CREATED', deployment })
  // A secret is hidden wherever it turns up.
  await sendFromOutside('mailer', { name: 'WEBHOOK_CHALLENGE', challenge: `c ${token}` })
  const details = ['calls', 'request', 'response', 'log'].map((tab) => `/timeline?event=1&tab=${tab}`)
  const views = ['/', '/deployments', '/timeline', ...details, '/timeline?edit=1', '/timeline/session.json']
  const pages = await Promise.all(views.map(async (view) => (await fetch(url + view)).text()))
  expect(pages[2]).toContain('&lt;img src=x onerror=alert(1)&gt;')
  expect(pages[3]).toContain('x-mailer-server-token')
  expect(pages.filter((html) => html.includes(token))).toEqual([])
  expect(pages.slice(0, -1).filter((html) => html.includes(hostile))).toEqual([])
  const policy = (await fetch(url)).headers.get('content-security-policy')
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toContain('unsafe')
})

describeInBrowser('a hostile mail', (visit) => {
  it('runs no script, sends no request, and leaves the page where it is; its links open a new tab', async () => {
    const { url, world, tab, sendFromOutside } = await visit()
    const asked: string[] = []
    const elsewhere = await serveForTest(async (incoming) => {
      asked.push(new URL(incoming.url).pathname)
      return new Response('')
    })
    const htmlBody = `<h1>Hello</h1><script>parent.document.title='owned';fetch('${elsewhere.url}/script')</script>
      <img src="${elsewhere.url}/pixel" onerror="fetch('${url}/actions/mend',{method:'POST'})"><link rel=stylesheet href="${elsewhere.url}/style">
      <meta http-equiv="refresh" content="0;url=${elsewhere.url}/refresh"><form action="${elsewhere.url}/form"><button>Click</button></form>
      <a href="${elsewhere.url}/link" target="_top">Leave</a><iframe src="${elsewhere.url}/frame"></iframe>`
    await sendFromOutside('mailer', functionCall('sendEmail', { to: 'a@b.example', subject: 'x', htmlBody }))
    await tab.goto(`${url}/mailbox?mail=${world.mail.messages[0]?.messageId}`)
    const frame = tab.frameLocator('iframe.mail-frame')
    await frame.getByRole('heading', { name: 'Hello' }).waitFor()
    await frame.getByRole('button').click()
    expect(asked).toEqual([])
    const [opened] = await Promise.all([tab.waitForEvent('popup'), frame.getByRole('link').click()])
    await opened.waitForURL(`${elsewhere.url}/link`)
    expect(await opened.evaluate(() => [window.opener, document.referrer])).toEqual([null, ''])
    // The new tab may also ask for the icon of that site.
    expect(asked.filter((path) => path !== '/favicon.ico')).toEqual(['/link'])
    expect(await tab.title()).toBe('Mailbox · Integration host')
    expect(await frame.locator('h1').textContent()).toBe('Hello')
    // The policy also protects a person who opens the frame’s address directly.
    const element = tab.locator('iframe.mail-frame')
    const sandbox = 'allow-popups allow-popups-to-escape-sandbox'
    expect(await element.getAttribute('sandbox')).toBe(sandbox)
    const alone = await fetch(url + (await element.getAttribute('src')))
    const policy = alone.headers.get('content-security-policy')
    expect(policy?.startsWith(`sandbox ${sandbox}; default-src 'none';`)).toBe(true)
  })
})
