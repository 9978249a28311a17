import axe from 'axe-core'
import type { Page as Tab } from 'playwright-core'
import { expect, it } from 'vitest'
import { act, callFunction, describeInBrowser } from './support.ts'

const views = [
  '/',
  '/deployments?new=idp-server',
  '/deployments?deployment=dep_idp_1&tab=people',
  '/deployments?deployment=dep_idp_1&tab=files',
  '/timeline',
  '/timeline?new=idp/createUser',
  '/timeline?new=mailer/sendEmail&as=json',
  '/mailbox',
]

/** Colours are all that differs in the dark. */
const schemes = [
  ['light', ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']],
  ['dark', ['color-contrast', 'link-in-text-block']],
] as const
const widths = [390, 900, 1_024, 1_150, 1_440]

/** Fills every view. */
async function fill(url: string): Promise<void> {
  const send = (route: string, name: string, deployment: object, more = {}) =>
    act(url, 'event', { route, event: { name, deployment, ...more } })
  await send('idp', 'DEPLOYMENT_CREATED', { id: 'dep_idp_1' })
  await send('mailer', 'DEPLOYMENT_CREATED', { id: 'dep_mailer_1', inputs: { serverType: 'dedicated' } })
  await callFunction(url, 'sendEmail', { to: 'a@b.example', subject: 's', htmlBody: '<p>x' })
  await callFunction(url, 'createUser', { emailAddress: 'a@b.example' }, 'idp')
  await send('idp', 'METRIC_UPDATE', { id: 'dep_idp_1' })
  const download = { id: 'dl_1', file: 'middleware.ts' }
  await send('idp', 'DOWNLOAD_STARTED', { id: 'dep_idp_1' }, { download })
  await act(url, 'faults', { target: 'mail', kind: 'html', times: '2' })
}

/** The serious violations that axe finds. */
function violations(tab: Tab, rules: readonly string[]): Promise<string[]> {
  return tab.evaluate<string[]>(
    `axe.run({ iframes: false, resultTypes: ['violations'], runOnly: ${JSON.stringify(rules)} }).then(({ violations }) =>
      violations.filter(({ impact }) => impact === 'serious' || impact === 'critical').flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => id + ' at ' + target + ': ' + failureSummary)))`,
  )
}

describeInBrowser('every view', (visit) => {
  it('has no serious violation in light and in dark colours', async () => {
    const { tab, complaints, url } = await visit()
    await fill(url)
    for (const view of views) {
      await tab.goto(url + view)
      if (view === '/timeline') {
        await tab.locator('.event-row').first().click()
        await tab.locator('#detail article').waitFor()
      }
      if (view === '/mailbox') {
        await tab.locator('.mail').first().click()
        await tab.getByRole('article').waitFor()
      }
      await tab.evaluate(axe.source)
      for (const [colorScheme, rules] of schemes) {
        await tab.emulateMedia({ colorScheme })
        const found = await violations(tab, rules)
        expect({ view, colorScheme, found }).toEqual({ view, colorScheme, found: [] })
      }
    }
    expect(complaints).toEqual([])
  })

  it(`fits into windows of ${widths.join(', ')} pixels, cuts no figure, and has one title`, async () => {
    const { tab, url } = await visit()
    await fill(url)
    for (const view of [...views, '/timeline?event=3']) {
      await tab.goto(url + view)
      for (const width of widths) {
        await tab.setViewportSize({ width, height: 844 })
        const fits = await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth)
        const cut = await tab
          .locator('.event-row :is(.number, .outcome, .tag, .tries, .took, .when)')
          .evaluateAll((cells) => cells.filter((cell) => cell.scrollWidth > cell.clientWidth).map(String))
        const titles = await tab.getByRole('heading', { level: 1 }).count()
        expect({ view, width, fits, cut, titles }).toEqual({ view, width, fits: true, cut: [], titles: 1 })
      }
    }
  })

  it('can be reached by keyboard alone', async () => {
    const { tab } = await visit()
    await tab.keyboard.press('Tab')
    await tab.keyboard.press('Enter')
    expect(await tab.evaluate(() => document.activeElement?.id)).toBe('main')
    await tab.keyboard.press('Tab')
    expect(
      await tab.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle),
    ).toBe('solid')
  })
})
