import axe from 'axe-core'
import { expect, it } from 'vitest'
import { act, callFunction, deploy, describeInBrowser } from './support.ts'

const views = [
  '/',
  '/deployments?new=idp-server',
  '/deployments?deployment=dep_idp_1&tab=people',
  '/deployments?deployment=dep_idp_1&tab=files',
  '/timeline',
  '/timeline?event=1',
  '/timeline?event=5&tab=calls',
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

describeInBrowser('every view', (visit) => {
  it(`has no finding of axe, one title, and no cut figure, in windows of ${widths.join(', ')} pixels`, async () => {
    const { tab, complaints, url, world } = await visit()
    await deploy(url, 'dep_idp_1', 'idp')
    await deploy(url, 'dep_mailer_1', 'mailer', { serverType: 'dedicated' })
    await callFunction(url, 'sendEmail', { to: 'a@b.example', subject: 's', htmlBody: '<p>x' })
    await callFunction(url, 'createUser', { emailAddress: 'a@b.example' }, 'idp')
    const deployment = { id: 'dep_idp_1' }
    const download = { id: 'dl_1', file: 'middleware.ts' }
    await act(url, 'event', { route: 'idp', event: { name: 'METRIC_UPDATE', deployment } })
    await act(url, 'event', { route: 'idp', event: { name: 'DOWNLOAD_STARTED', deployment, download } })
    await act(url, 'break', { target: 'Mail provider', kind: 'html' })
    const mail = `/mailbox?mail=${world.mail.messages[0]?.messageId}`
    for (const view of [...views, mail]) {
      await tab.goto(url + view)
      await tab.evaluate(axe.source)
      for (const [colorScheme, rules] of schemes) {
        await tab.emulateMedia({ colorScheme })
        const options = { iframes: false, resultTypes: ['violations'], runOnly: rules }
        const found = await tab.evaluate<string[]>(
          `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
            nodes.map(({ target, failureSummary }) => id + ' at ' + target + ': ' + failureSummary)))`,
        )
        expect({ view, colorScheme, found }).toEqual({ view, colorScheme, found: [] })
      }
      expect(await tab.getByRole('heading', { level: 1 }).count()).toBe(1)
      for (const width of widths) {
        await tab.setViewportSize({ width, height: 844 })
        const fits = await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth)
        const figures = tab.locator('.line :is(.number, .state, .tag, .tries, .took, .when)')
        const cut = await figures.evaluateAll((cells) =>
          cells.flatMap((cell) => (cell.scrollWidth > cell.clientWidth ? String(cell.textContent) : [])),
        )
        expect({ view, width, fits, cut }).toEqual({ view, width, fits: true, cut: [] })
      }
    }
    expect(complaints).toEqual([])
  })

  it('can be reached by keyboard alone', async () => {
    const { tab } = await visit()
    await tab.keyboard.press('Tab')
    await tab.keyboard.press('Enter')
    expect(await tab.evaluate(() => document.activeElement?.id)).toBe('main')
    await tab.keyboard.press('Tab')
    const outline = () => getComputedStyle(document.activeElement ?? document.body).outlineStyle
    expect(await tab.evaluate(outline)).toBe('solid')
  })
})
