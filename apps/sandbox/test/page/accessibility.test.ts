import axe from 'axe-core'
import { expect, it } from 'vitest'
import { describeInBrowser } from './support.ts'

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
  it(`has no finding of axe, one title, a way by keyboard, and no cut figure in windows of ${widths} pixels`, async () => {
    const { tab, complaints, url, world, act, call, send, deploy } = await visit()
    await deploy('dep_idp_1', 'idp')
    await deploy('dep_mailer_1', 'mailer', { serverType: 'dedicated' })
    await call('sendEmail', { to: 'a@b.example', subject: 's', htmlBody: '<p>x' })
    await call('createUser', { emailAddress: 'a@b.example' }, 'idp')
    const deployment = { id: 'dep_idp_1' }
    const download = { id: 'dl_1', file: 'middleware.ts' }
    await send('idp', { name: 'METRIC_UPDATE', deployment })
    await send('idp', { name: 'DOWNLOAD_STARTED', deployment, download })
    await act('break', { target: 'Mail provider', kind: 'html' })
    for (const view of [...views, `/mailbox?mail=${world.mail.messages[0]?.messageId}`]) {
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
    await tab.goto(url)
    for (const key of ['Tab', 'Enter']) await tab.keyboard.press(key)
    expect(await tab.evaluate<string>('document.activeElement.id')).toBe('main')
    await tab.keyboard.press('Tab')
    expect(await tab.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
  })
})
