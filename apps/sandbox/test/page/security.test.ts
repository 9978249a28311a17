import { request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { serveForTest } from '../fixtures.ts'
import { deliverFromOutside, describeInBrowser, functionCall, sandboxForTest } from './support.ts'

/** Sends these very headers; `fetch` would change them. */
function ask(url: string, headers: Record<string, string>, body?: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const outgoing = request(url, { method, headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

describe('the host of the sandbox', () => {
  it('responds to this machine, and neither under another name nor to a page of another site', async () => {
    const { world } = await sandboxForTest()
    const webhook = `${world.url}/mailer/webhook`
    const body = JSON.stringify({ name: 'WEBHOOK_CHALLENGE' })
    const json = { 'content-type': 'application/json' }
    for (const headers of [
      { host: 'rebound.example' },
      { host: 'rebound.example:3009', origin: 'http://rebound.example:3009' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      expect(await ask(webhook, { ...json, ...headers }, body)).toBe(403)
      expect(await ask(`${world.url}/integrations`, headers)).toBe(403)
    }
    expect(await ask(webhook, json, body)).toBe(200)
    expect(await ask(`${world.url}/docs`, { 'sec-fetch-site': 'none' })).toBe(200)
  })
})

describe('the page', () => {
  it('accepts actions only from itself', async () => {
    const { url, world } = await sandboxForTest()
    const action = `${url}/actions/break`
    const body = JSON.stringify({ target: 'Mail provider', kind: 'html' })
    const json = { 'content-type': 'application/json' }
    for (const headers of [
      json,
      { ...json, origin: 'https://evil.example' },
      { ...json, origin: 'null' },
      { ...json, origin: world.url },
      { ...json, origin: url, 'sec-fetch-site': 'same-site' },
      { 'content-type': 'text/plain', origin: url },
    ]) {
      expect(await ask(action, headers, body)).toBe(403)
    }
    expect(world.mail.faults.pending()).toEqual([])
    expect(await ask(action, { ...json, origin: url, 'sec-fetch-site': 'same-origin' }, body)).toBe(200)
    expect(world.mail.faults.pending()).toHaveLength(1)
  })

  it('responds neither under another name nor to a script of another site', async () => {
    const { url } = await sandboxForTest()
    const fetchFrom = (site: string, mode: string, destination: string) => ({
      'sec-fetch-site': site,
      'sec-fetch-mode': mode,
      'sec-fetch-dest': destination,
    })
    const session = `${url}/timeline/session.json?secrets=1`
    expect(await ask(url, { host: 'rebound.example' })).toBe(403)
    expect(await ask(url, fetchFrom('cross-site', 'no-cors', 'script'))).toBe(403)
    expect(await ask(session, fetchFrom('same-site', 'cors', 'empty'))).toBe(403)
    expect(await ask(url, fetchFrom('cross-site', 'navigate', 'document'))).toBe(200)
  })

  it('allows only its own scripts and styles, and no frame around it', async () => {
    const { url } = await sandboxForTest()
    const policy = (await fetch(url)).headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
  })

  it('shows the input of strangers as text', async () => {
    const { url, world } = await sandboxForTest()
    const hostile = '<img src=x onerror=alert(1)>'
    await deliverFromOutside(world, 'mailer', { name: hostile, deployment: { id: hostile } })
    const html = await (await fetch(`${url}/timeline`)).text()
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;')
    expect(html).not.toContain(hostile)
  })

  it('hides the secret of a caller in bodies and headers', async () => {
    const { url, world } = await sandboxForTest()
    const token = 'token-of-a-caller'
    const inputs = { serverType: 'dedicated', apiToken: token }
    await deliverFromOutside(world, 'mailer', {
      name: 'DEPLOYMENT_CREATED',
      deployment: { id: 'dep_mine', inputs },
    })
    const details = ['calls', 'request', 'response', 'log'].map((tab) => `/timeline?event=1&tab=${tab}`)
    const views = ['/', '/deployments', '/timeline', ...details, '/timeline?edit=1', '/timeline/session.json']
    const pages = await Promise.all(views.map(async (view) => (await fetch(url + view)).text()))
    expect(pages[3]).toContain('x-mailer-server-token')
    expect(pages.filter((html) => html.includes(token))).toEqual([])
  })
})

describeInBrowser('a hostile mail', (visit) => {
  it('runs no script, sends no request, and leaves the page where it is; its links open a new tab', async () => {
    const { url, world, tab } = await visit()
    const asked: string[] = []
    const elsewhere = await serveForTest(async ({ url: path }) => {
      asked.push(path)
      return new Response('')
    })
    const htmlBody = `<h1>Hello</h1><script>parent.document.title='owned';fetch('${elsewhere.url}/script')</script>
      <img src="${elsewhere.url}/pixel" onerror="fetch('${url}/actions/mend',{method:'POST'})"><link rel=stylesheet href="${elsewhere.url}/style">
      <meta http-equiv="refresh" content="0;url=${elsewhere.url}/refresh"><form action="${elsewhere.url}/form"><button>Click</button></form>
      <a href="${elsewhere.url}/link" target="_top">Leave</a><iframe src="${elsewhere.url}/frame"></iframe>`
    const args = { to: 'a@b.example', subject: 'x', htmlBody }
    await deliverFromOutside(world, 'mailer', functionCall('sendEmail', args))

    await tab.goto(`${url}/mailbox?mail=${world.mail.messages[0]?.messageId}`)
    const frame = tab.frameLocator('iframe.mail-frame')
    expect(await frame.locator('h1').textContent()).toBe('Hello')
    await frame.getByRole('button').click()
    expect(asked).toEqual([])
    const [opened] = await Promise.all([tab.waitForEvent('popup'), frame.getByRole('link').click()])
    await opened.waitForURL(`${elsewhere.url}/link`)
    expect(await opened.evaluate(() => [window.opener, document.referrer])).toEqual([null, ''])
    await opened.close()
    // The new tab may also ask for the icon of that site.
    expect(asked.map((path) => new URL(path).pathname).filter((path) => path !== '/favicon.ico')).toEqual([
      '/link',
    ])
    expect(await tab.title()).toBe('Mailbox · Integration host')
    expect(tab.url()).toContain(`${url}/mailbox?mail=`)
    expect(await frame.locator('h1').textContent()).toBe('Hello')
    // The policy also protects a person who opens the frame’s address directly.
    const element = tab.locator('iframe.mail-frame')
    expect(await element.getAttribute('sandbox')).toBe('allow-popups allow-popups-to-escape-sandbox')
    const alone = await fetch(url + (await element.getAttribute('src')))
    expect(alone.headers.get('content-security-policy')).toMatch(
      /^sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none';/,
    )
  })
})
