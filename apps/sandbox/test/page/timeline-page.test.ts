import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseSession } from '../../src/session.ts'
import { act, describeInBrowser, eventually, openBrowser, openTab, sandboxForTest } from './support.ts'

const secret = `whsec_${btoa('a secret of the platform')}`
const mail = { to: 'ada@example.com', subject: 'Hello', textBody: 'Hello.' }

const call = (url: string, name: string, values: object, route = 'mailer') =>
  act(url, 'call', { route, function: name, values })

describeInBrowser('the timeline', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await openBrowser()
  })
  afterAll(() => browser?.close())

  it('shows an event live with its calls, and everything about it at a click, without secrets', async () => {
    const { url, world } = await sandboxForTest()
    const { tab, complaints } = await openTab(browser, `${url}/timeline`)
    await tab.getByText('No event yet').waitFor()
    world.mail.emulator?.faults.add({ path: '/email', status: 429, headers: { 'retry-after': '0' } })
    await call(url, 'sendEmail', mail)
    const rows = tab.locator('.entry').first().locator('.call-row')
    await eventually(() => rows.locator('.status').allTextContents()).toEqual(['✕429', '✓200'])
    await rows.nth(1).click()
    const opened = tab.locator('#call-1')
    await opened.getByText('"Subject": "Hello"').waitFor()
    await opened.getByText('header').first().click()
    await opened.getByText('x-mailer-server-token').waitFor()
    expect(await tab.content()).not.toContain(world.mail.token)
    expect(complaints).toEqual([])
  })

  it('shows an event that comes while an older list of events is still under way', async () => {
    const { url } = await sandboxForTest()
    const { tab } = await openTab(browser, 'about:blank')
    let held: (() => Promise<void>)[] | undefined = []
    await tab.route('**/timeline/index?*', async (route) => {
      const response = await route.fetch()
      if (held) held.push(() => route.fulfill({ response }))
      else await route.fulfill({ response })
    })
    await tab.goto(`${url}/timeline`)
    await eventually(() => held?.length).toBeGreaterThan(0)
    await call(url, 'sendEmail', mail)
    const titles = () => tab.locator('.event-row strong').allTextContents()
    await eventually(titles).toEqual(['sendEmail'])
    const older = held
    held = undefined
    const arrived = tab.waitForResponse('**/timeline/index?*')
    for (const answer of older) await answer()
    await (await arrived).finished()
    await tab.evaluate(() => new Promise(requestAnimationFrame))
    expect(await titles()).toEqual(['sendEmail'])
  })

  it('delivers again with the same id, with a new one, and twice at once', async () => {
    const { url, world } = await sandboxForTest()
    const { tab } = await openTab(browser, `${url}/timeline`)
    await call(url, 'sendEmail', mail)
    await tab.locator('.event-row').first().click()
    const again = tab.locator('#again')
    await tab.getByRole('button', { name: 'Deliver again' }).click()
    await again.getByText('replayed').waitFor()
    expect(world.mail.emulator?.messages).toHaveLength(1)
    await tab.getByRole('button', { name: 'Deliver with a new id' }).click()
    await eventually(() => world.mail.emulator?.messages.length).toBe(2)
    world.mail.emulator?.faults.add({ path: '/email', delayMs: 1_000 })
    await tab.getByRole('button', { name: 'Deliver twice at once' }).click()
    await again.getByText('delivery_in_progress').first().waitFor()
    expect(world.mail.emulator?.messages).toHaveLength(3)
  })

  it('finds events by words, integration and outcome, with those of the walk only where asked', async () => {
    const { url, world } = await sandboxForTest()
    await world.deliver('auth', { name: 'WEBHOOK_CHALLENGE', challenge: 'c' }, 'evt_walk')
    const { tab } = await openTab(browser, `${url}/timeline`)
    await call(url, 'sendEmail', mail)
    await call(url, 'sendEmail', { subject: 'to nobody' })
    await call(url, 'countUsers', {}, 'idp')
    const titles = () => tab.locator('.event-row strong').allTextContents()
    await eventually(titles).toEqual(['countUsers', 'sendEmail', 'sendEmail'])
    await tab.getByLabel('Find').fill('/email 200')
    await eventually(titles).toEqual(['sendEmail'])
    await tab.getByLabel('Find').fill('')
    await tab.getByLabel('Outcome').selectOption('failed')
    await eventually(() => tab.locator('.event-row .tag').allTextContents()).toEqual(['invalid_arguments'])
    await tab.getByLabel('Outcome').selectOption('')
    await tab.getByLabel('Integration').selectOption('idp')
    await eventually(titles).toEqual(['countUsers'])
    await tab.getByLabel('Integration').selectOption('')
    await tab.getByLabel('Show the walk').check()
    await eventually(async () => (await titles()).at(-1)).toBe('WEBHOOK_CHALLENGE')
  })

  it('copies an event as a curl command that the host takes, signed afresh', async () => {
    const { url } = await sandboxForTest({ PLATFORM_WEBHOOK_SECRET: secret })
    const { tab } = await openTab(browser, `${url}/timeline`)
    await call(url, 'sendEmail', { ...mail, subject: 'It’s $HOME, “quoted”' })
    await tab.locator('.event-row').first().click()
    await tab.getByRole('button', { name: 'Copy as curl' }).click()
    await tab.getByText('Copied.').waitFor()
    const command = await tab.evaluate(() => navigator.clipboard.readText())
    expect(command).not.toContain(secret)
    // What the shell makes of it, without a curl that may not be there.
    const { stdout } = spawnSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }\n${command}`], {
      encoding: 'utf8',
    })
    const lines = stdout.split('\n')
    const headers = lines.filter((_, index) => lines[index - 1] === '-H').map((line) => line.split(': '))
    const body = lines[lines.indexOf('--data-raw') + 1] ?? ''
    const target = lines[2] ?? ''
    const answer = await fetch(target, { method: 'POST', headers: Object.fromEntries(headers), body })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('idempotency-replayed')).toBe('true')
  })

  it('exports the session without secrets, in the order of the events', async () => {
    const { url } = await sandboxForTest()
    const { tab } = await openTab(browser, `${url}/timeline`)
    await call(url, 'sendEmail', mail)
    await call(
      url,
      'createUser',
      { emailAddress: 'ada@example.com', password: 'correct horse battery' },
      'idp',
    )
    const save = async (name: string) => {
      const [download] = await Promise.all([
        tab.waitForEvent('download'),
        tab.getByRole('link', { name, exact: true }).click(),
      ])
      return readFile(await download.path(), 'utf8')
    }
    const masked = await save('Export session')
    const session = parseSession(masked)
    expect(session.events.map(({ route, answered }) => `${route} ${answered?.status}`)).toEqual([
      'mailer 200',
      'idp 200',
    ])
    expect(masked).not.toContain('correct horse battery')
    expect(await save('Export with secrets')).toContain('correct horse battery')
  })

  it('keeps only the rows near the window in the page, and goes through them by the arrow keys', async () => {
    const { url } = await sandboxForTest()
    const { tab } = await openTab(browser, `${url}/timeline`)
    for (let round = 0; round < 15; round += 1) {
      await Promise.all(Array.from({ length: 10 }, () => call(url, 'countUsers', {}, 'idp')))
    }
    await tab.reload()
    await tab.locator('#shown').getByText('150 events').waitFor()
    await eventually(() => tab.locator('.entry').count()).toBeLessThan(100)
    const list = tab.locator('#rows')
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight))
    await tab.locator('[data-number="1"]').waitFor()
    await eventually(() => tab.locator('[data-number="150"]').count()).toBe(0)
    await tab.locator('[data-number="2"] .event-row').focus()
    await tab.keyboard.press('ArrowDown')
    await tab.keyboard.press('ArrowDown')
    await tab.keyboard.press('Enter')
    await tab.getByRole('article', { name: 'Event 1', exact: true }).waitFor()
  })
})
