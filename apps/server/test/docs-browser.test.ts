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
      permissions: ['clipboard-read', 'clipboard-write'],
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

  it('marks the place in sight in the navigation', async () => {
    const { tab } = await open({}, '#idp-listUsers')
    const current = tab.locator('nav [aria-current=location]')
    await expect.poll(() => current.allTextContents()).toEqual(['listUsers'])
    await tab.evaluate(() => scrollTo(0, 0))
    await expect.poll(() => current.count()).toBe(0)
    await tab.locator('#failures').evaluate((heading) => heading.scrollIntoView())
    await expect.poll(() => current.allTextContents()).toEqual(['Failures'])
  })

  it('copies an example with the origin of the page, and announces it', async () => {
    const { tab } = await open({}, '#mailer-sendEmail')
    await tab.getByRole('button', { name: 'Copy. curl: mailer-sendEmail', exact: true }).click()
    await expect.poll(() => tab.getByRole('status').textContent()).toBe('Copied')
    const copied = await tab.evaluate(() => navigator.clipboard.readText())
    expect(copied).toContain(`curl ${server.url}/mailer/webhook`)
    expect(copied).toContain('"name": "sendEmail"')
  })

  it('finds entries by their words, jumps to the first, and a link to a hidden entry shows it', async () => {
    const { tab } = await open()
    await tab.keyboard.press('/')
    await tab.keyboard.type('bounceRate tag')
    const titles = () => tab.locator('article:visible h3').allTextContents()
    await expect.poll(titles).toEqual([expect.stringContaining('getDeliveryStats')])
    expect(
      await tab.getByRole('navigation').getByRole('link').filter({ visible: true }).allTextContents(),
    ).toEqual(['Transactional mail', 'getDeliveryStats'])
    const find = tab.getByLabel('Find')
    await find.fill('nothing like this')
    await expect.poll(() => tab.getByText('No match').isVisible()).toBe(true)
    await tab.keyboard.press('Escape')
    await expect.poll(async () => (await titles()).length).toBeGreaterThan(20)
    // An entry before it names it, too.
    await find.fill('download_started')
    await find.press('Enter')
    expect(new URL(tab.url()).hash).toBe('#DOWNLOAD_STARTED')
    await expect.poll(() => topOf(tab, 'DOWNLOAD_STARTED')).toBeLessThan(100)
    await find.fill('inactive')
    await tab.evaluate(() => (location.hash = '#HEALTH_CHECK'))
    await expect.poll(() => topOf(tab, 'HEALTH_CHECK')).toBeLessThan(100)
  })

  it('is complete without scripts', async () => {
    const { tab } = await open({ javaScriptEnabled: false })
    expect(await tab.getByRole('heading', { name: 'sendEmail' }).first().isVisible()).toBe(true)
    expect(await tab.getByText('curl http://localhost:3009/mailer/webhook').first().isVisible()).toBe(true)
    expect(await tab.getByRole('button').count()).toBe(0)
  })
})

/** The distance of a heading to the upper edge of the window. */
async function topOf(tab: Page, name: string): Promise<number> {
  const box = await tab.getByRole('heading', { name }).first().boundingBox()
  return Math.abs(box?.y ?? Number.POSITIVE_INFINITY)
}
