import { request } from 'node:http'
import { serve } from '@org/core/testing'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { deliverFromOutside, describeInBrowser, openBrowser, openTab, sandboxForTest } from './support.ts'

/** A plain request: `fetch` would not send these headers as they are. */
function ask(url: string, headers: Record<string, string>, body?: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const outgoing = request(url, { method, headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

describe('the guard of the page', () => {
  it('lets only the page itself do things', async () => {
    const { url, world } = await sandboxForTest()
    const action = `${url}/actions/faults`
    const body = JSON.stringify({ target: 'mail', kind: 'html', times: '1' })
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
    expect(world.mail.emulator?.faults.pending()).toEqual([])
    expect(await ask(action, { ...json, origin: url, 'sec-fetch-site': 'same-origin' }, body)).toBe(200)
    expect(world.mail.emulator?.faults.pending()).toHaveLength(1)
  })

  it('answers neither under another name, nor to a script of another site', async () => {
    const { url } = await sandboxForTest()
    expect(await ask(url, { host: 'rebound.example' })).toBe(403)
    expect(
      await ask(url, {
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'no-cors',
        'sec-fetch-dest': 'script',
      }),
    ).toBe(403)
    expect(
      await ask(`${url}/timeline/session.json?secrets=1`, {
        'sec-fetch-site': 'same-site',
        'sec-fetch-mode': 'cors',
      }),
    ).toBe(403)
    expect(
      await ask(url, {
        'sec-fetch-site': 'cross-site',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-dest': 'document',
      }),
    ).toBe(200)
  })

  it('allows nothing but the page’s own scripts and styles, and no frame around it', async () => {
    const { url } = await sandboxForTest()
    const policy = (await fetch(url)).headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
  })

  it('shows what strangers send as text', async () => {
    const { url, world } = await sandboxForTest()
    const hostile = '<img src=x onerror=alert(1)>'
    const body = JSON.stringify({ name: hostile, deployment: { id: hostile } })
    await fetch(`${world.url}/mailer/webhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const html = await (await fetch(`${url}/timeline`)).text()
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;')
    expect(html).not.toContain(hostile)
  })
})

describe('a secret that a caller brings', () => {
  it('is nowhere on the page, neither in bodies nor in headers', async () => {
    const { url, world } = await sandboxForTest()
    const token = 'token-of-a-caller'
    const inputs = { serverType: 'dedicated', apiToken: token }
    const event = { name: 'DEPLOYMENT_CREATED', deployment: { id: 'dep_mine', inputs } }
    await deliverFromOutside(world.url, 'mailer', event)
    const views = ['/', '/deployments', '/timeline', '/timeline/event/1', '/timeline/session.json']
    const pages = await Promise.all(views.map(async (view) => (await fetch(url + view)).text()))
    expect(pages[3]).toContain('x-mailer-server-token')
    expect(pages.filter((html) => html.includes(token))).toEqual([])
  })
})

describeInBrowser('a hostile mail', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  it('runs no script, asks for nothing, and sees nothing of the page', async () => {
    const { url, world } = await sandboxForTest()
    const asked: string[] = []
    const elsewhere = await serve(async ({ url: path }) => {
      asked.push(path)
      return new Response('')
    })
    onTestFinished(elsewhere.close)
    const htmlBody = `<h1>Hello</h1><script>parent.document.title='owned';fetch('${elsewhere.url}/script')</script>
      <img src="${elsewhere.url}/pixel" onerror="fetch('${url}/actions/mend',{method:'POST'})"><link rel=stylesheet href="${elsewhere.url}/style">
      <meta http-equiv="refresh" content="0;url=${elsewhere.url}/refresh"><form action="${elsewhere.url}/form"><button>Click</button></form>
      <a href="${elsewhere.url}/link" target="_top">Leave</a><iframe src="${elsewhere.url}/frame"></iframe>`
    const event = {
      name: 'FUNCTION_CALL',
      functionCall: { name: 'sendEmail', arguments: { to: 'a@b.example', subject: 'x', htmlBody } },
    }
    await deliverFromOutside(world.url, 'mailer', event)

    const { tab } = await openTab(browser, `${url}/mailbox`)
    const frame = tab.frameLocator('iframe.mail-frame')
    expect(await frame.locator('h1').textContent()).toBe('Hello')
    await frame.getByRole('button').click()
    await frame.getByRole('link').click()
    await tab.waitForLoadState('networkidle').catch(() => undefined)
    expect(asked).toEqual([])
    expect(await tab.title()).toBe('Mailbox · Sandbox')
    expect(tab.url()).toBe(`${url}/mailbox`)
    // Also where somebody opens the frame’s address by itself.
    const alone = await fetch(
      await tab
        .locator('iframe.mail-frame')
        .evaluate((element) => (element instanceof HTMLIFrameElement ? element.src : '')),
    )
    expect(alone.headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none';/)
    expect(await tab.locator('iframe.mail-frame').getAttribute('sandbox')).toBe('')
  })
})
