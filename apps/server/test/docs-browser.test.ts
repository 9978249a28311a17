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

  const all = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']
  it.each([
    ['light', 1280, all],
    ['light', 390, all],
    ['dark', 1280, ['color-contrast', 'link-in-text-block']],
  ] as const)('has no serious accessibility fault: %s, %i pixels', async (colorScheme, width, rules) => {
    const { tab, complaints } = await open({ colorScheme, viewport: { width, height: 844 } })
    await tab.evaluate(axe.source)
    const serious = await tab.evaluate<string[]>(
      `axe.run({ resultTypes: ['violations'], runOnly: ${JSON.stringify(rules)} }).then(({ violations }) =>
        violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').flatMap(({ id, nodes }) =>
          nodes.slice(0, 3).map(({ target, failureSummary }) => id + ' at ' + target + ': ' + failureSummary)))`,
    )
    expect(serious).toEqual([])
    expect(complaints).toEqual([])
  })

  it('fits into a window of 390 pixels, and keeps its tables for screen readers', async () => {
    const { tab } = await open({ viewport: { width: 390, height: 844 } })
    expect(await tab.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    const row = tab.getByRole('table', { name: 'Arguments' }).first().getByRole('row').nth(1)
    await expect.poll(() => row.getByRole('rowheader').count()).toBe(1)
    expect(await row.getByRole('cell').count()).toBe(2)
  })

  it('can be used by the keyboard: to skip the contents, and to reach a function', async () => {
    const { tab } = await open()
    await tab.keyboard.press('Tab')
    await tab.keyboard.press('Enter')
    expect(await tab.evaluate(() => document.activeElement?.id)).toBe('main')
    await tab.getByRole('navigation').getByRole('link', { name: 'sendEmail', exact: true }).press('Enter')
    const heading = tab.getByRole('heading', { name: 'sendEmail' }).first()
    await expect.poll(async () => (await heading.boundingBox())?.y).toSatisfy((y) => y >= 0 && y < 200)
  })

  it('copies an example, and announces it', async () => {
    const { tab } = await open({}, '#mailer-sendEmail')
    const entry = tab.locator('article', { has: tab.locator('#mailer-sendEmail') })
    const figure = entry.locator('figure.curl')
    await figure.getByRole('button', { name: /^Copy/ }).click()
    await expect.poll(() => tab.getByRole('status').textContent()).toBe('Copied')
    expect(await tab.evaluate(() => navigator.clipboard.readText())).toBe(
      await figure.locator('code').textContent(),
    )
  })

  it('shows every example in the chosen language', async () => {
    const { tab } = await open({}, '#mailer-sendEmail')
    const entry = tab.locator('article', { has: tab.locator('#mailer-sendEmail') })
    await entry.getByRole('button', { name: 'TypeScript' }).click()
    await expect.poll(() => entry.getByText('await fetch(').isVisible()).toBe(true)
    expect(await tab.locator('figure.curl').filter({ visible: true }).count()).toBe(0)
    expect(await entry.getByRole('button', { name: 'TypeScript', pressed: true }).count()).toBe(1)
  })

  it('finds entries by their words, and a link to a hidden entry shows it', async () => {
    const { tab } = await open()
    await tab.keyboard.press('/')
    await tab.keyboard.type('bounceRate tag')
    const titles = () => tab.locator('article:visible h3').allTextContents()
    await expect.poll(titles).toEqual([expect.stringContaining('getDeliveryStats')])
    expect(
      await tab.getByRole('navigation').getByRole('link').filter({ visible: true }).allTextContents(),
    ).toEqual(['Transactional mail', 'getDeliveryStats'])
    await tab.getByLabel('Find').fill('nothing like this')
    await expect.poll(() => tab.getByText('No match').isVisible()).toBe(true)
    await tab.keyboard.press('Escape')
    await expect.poll(async () => (await titles()).length).toBeGreaterThan(20)
    await tab.getByLabel('Find').fill('inactive')
    await tab.getByRole('link', { name: 'HEALTH_CHECK' }).click()
    await expect.poll(() => tab.locator('#HEALTH_CHECK').isVisible()).toBe(true)
  })

  it('is complete without scripts', async () => {
    const { tab } = await open({ javaScriptEnabled: false })
    expect(await tab.getByRole('heading', { name: 'sendEmail' }).first().isVisible()).toBe(true)
    expect(await tab.getByText('await fetch(').first().isVisible()).toBe(true)
    expect(await tab.getByRole('button').count()).toBe(0)
  })
})
