import axe from 'axe-core'
import type { Browser, Page as Tab } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { act, describeInBrowser, openBrowser, openSandbox, openTab } from './support.ts'

const views = [
  '/',
  '/deployments?new=idp-server',
  '/functions',
  '/timeline',
  '/mailbox',
  '/people',
  '/files',
  '/metrics',
  '/faults',
]

describeInBrowser('every view', () => {
  let browser: Browser
  let sandbox: Awaited<ReturnType<typeof openSandbox>>
  beforeAll(async () => {
    sandbox = await openSandbox()
    browser = await openBrowser()
    const { url } = sandbox
    const idp = { route: 'idp', deployment: 'dep_idp_1' }
    const values = { to: 'a@b.example', subject: 's', htmlBody: '<p>x' }
    await act(url, 'deploy', { ...idp, values: {} })
    await act(url, 'deploy', {
      route: 'mailer',
      deployment: 'dep_mailer_1',
      values: { serverType: 'dedicated' },
    })
    await act(url, 'call', { route: 'mailer', function: 'sendEmail', values })
    await act(url, 'call', {
      route: 'idp',
      function: 'createUser',
      values: { emailAddress: 'a@b.example' },
    })
    await act(url, 'deployment-event', { ...idp, event: 'METRIC_UPDATE' })
    await act(url, 'deployment-event', { ...idp, event: 'DOWNLOAD_STARTED', file: 'middleware.ts' })
    await act(url, 'faults', { target: 'mail', kind: 'html', times: '2' })
  })
  afterAll(async () => {
    await browser?.close()
    await sandbox?.close()
  })

  /** What axe has against the document, where it is serious. */
  async function seriousFaults(tab: Tab, rules: readonly string[]): Promise<string[]> {
    await tab.evaluate(axe.source)
    return tab.evaluate<string[]>(
      `axe.run({ iframes: false, resultTypes: ['violations'], runOnly: ${JSON.stringify(rules)} }).then(({ violations }) =>
        violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').flatMap(({ id, nodes }) =>
          nodes.map(({ target, failureSummary }) => id + ' at ' + target + ': ' + failureSummary)))`,
    )
  }

  it.each([
    ['light', ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']],
    ['dark', ['color-contrast', 'link-in-text-block']],
  ] as const)('has nothing serious against it, in the %s', async (colorScheme, rules) => {
    const { tab, complaints } = await openTab(browser, sandbox.url)
    await tab.emulateMedia({ colorScheme })
    for (const view of views) {
      await tab.goto(sandbox.url + view)
      if (view === '/timeline') {
        await tab.locator('.event-row').first().click()
        await tab.locator('#detail article').waitFor()
      }
      expect({ view, serious: await seriousFaults(tab, rules) }).toEqual({ view, serious: [] })
    }
    expect(complaints).toEqual([])
  })

  it('fits into a window of 390 pixels, and has one title', async () => {
    const { tab } = await openTab(browser, sandbox.url)
    await tab.setViewportSize({ width: 390, height: 844 })
    for (const view of views) {
      await tab.goto(sandbox.url + view)
      const fits = await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth)
      expect({ view, fits, titles: await tab.getByRole('heading', { level: 1 }).count() }).toEqual({
        view,
        fits: true,
        titles: 1,
      })
    }
  })

  it('can be reached by the keyboard alone', async () => {
    const { tab } = await openTab(browser, sandbox.url)
    await tab.keyboard.press('Tab')
    await tab.keyboard.press('Enter')
    expect(await tab.evaluate(() => document.activeElement?.id)).toBe('main')
    await tab.keyboard.press('Tab')
    expect(
      await tab.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle),
    ).toBe('solid')
  })
})
