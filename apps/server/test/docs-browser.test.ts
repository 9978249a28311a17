import { type Served, serve } from '@org/core/testing'
import { browserForTests } from '@org/tooling/browser'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startHost } from './hosted.ts'

describe.skipIf(!browserForTests)('the page /docs in a browser', () => {
  let browser: Browser
  let server: Served
  beforeAll(async () => {
    const { host } = startHost()
    server = await serve(async (request) => host.fetch(request))
    browser = await chromium.launch(browserForTests)
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  /** The page in a tab, and the errors and requests of the browser. */
  async function open(
    options: Parameters<Browser['newPage']>[0] = {},
    at = '',
  ): Promise<{ tab: Page; complaints: string[] }> {
    const tab = await browser.newPage({
      viewport: { width: 1280, height: 800 },
      ...options,
    })
    onTestFinished(() => tab.close())
    const complaints: string[] = []
    tab.on('console', (message) => complaints.push(message.text()))
    tab.on('pageerror', (error) => complaints.push(error.message))
    tab.on('request', (request) => {
      const { protocol, pathname } = new URL(request.url())
      if (protocol.startsWith('http') && pathname !== '/docs') complaints.push(`asked ${request.url()}`)
    })
    await tab.goto(`${server.url}/docs${at}`)
    return { tab, complaints }
  }

  it('loads nothing else, and logs no error', async () => {
    const { tab, complaints } = await open()
    await expect.poll(() => tab.getByRole('heading', { level: 1 }).textContent()).toBe('Integration host')
    expect(complaints).toEqual([])
  })

  it.each([
    ['light', 1280],
    ['light', 390],
    ['dark', 1280],
  ] as const)('has no accessibility fault: %s, %i pixels', async (colorScheme, width) => {
    const { tab } = await open({ colorScheme, viewport: { width, height: 844 } })
    await tab.evaluate(axe.source)
    const faults = await tab.evaluate<string[]>(
      `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
        nodes.slice(0, 3).map(({ target, failureSummary }) => id + ' at ' + target + ': ' + failureSummary)))`,
    )
    expect(faults).toEqual([])
    expect(await tab.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
  })

  it('can be used by the keyboard: to skip the contents, and to reach a function', async () => {
    const { tab } = await open()
    await tab.keyboard.press('Tab')
    await tab.keyboard.press('Enter')
    expect(await tab.evaluate(() => document.activeElement?.id)).toBe('main')
    await tab.getByRole('navigation').getByRole('link', { name: 'sendEmail', exact: true }).press('Enter')
    await expect.poll(() => topOf(tab, 'sendEmail')).toBeLessThan(100)
  })

  it('gives its examples the origin under which it was opened', async () => {
    const { tab } = await open()
    const example = tab.getByLabel('Command: mailer-sendEmail', { exact: true })
    expect(await example.textContent()).toContain(`curl ${server.url}/mailer/webhook`)
  })

  it('is complete without scripts', async () => {
    const { tab } = await open({ javaScriptEnabled: false })
    expect(await tab.getByRole('heading', { name: 'sendEmail' }).first().isVisible()).toBe(true)
    expect(await tab.getByText('curl http://localhost:3009/mailer/webhook').first().isVisible()).toBe(true)
  })
})

/** The distance of a heading to the upper edge of the window. */
async function topOf(tab: Page, name: string): Promise<number> {
  const box = await tab.getByRole('heading', { name }).first().boundingBox()
  return Math.abs(box?.y ?? Number.POSITIVE_INFINITY)
}
