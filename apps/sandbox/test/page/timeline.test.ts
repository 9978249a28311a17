import { spawnSync } from 'node:child_process'
import type { Page as Tab } from 'playwright-core'
import { expect, it } from 'vitest'
import { makeFault } from '../../src/page/faults.ts'
import { parseSession } from '../../src/world/session.ts'
import { webhookSecret } from '../fixtures.ts'
import {
  callFunction,
  deliverFromOutside,
  describeInBrowser,
  eventually,
  functionCall,
  openTab,
} from './support.ts'

const mail = { to: 'ada@example.com', subject: 'Hello', textBody: 'Hello.' }
const titles = (tab: Tab) => tab.locator('.event-row .what').allTextContents()
const focused = (tab: Tab) => tab.evaluate(() => document.activeElement?.closest('.entry')?.id)
const verdictOf = (tab: Tab) => tab.getByRole('region', { name: 'What happened' })
const button = (tab: Tab, name: string) => tab.getByRole('button', { name, exact: true }).click()

describeInBrowser('the timeline', (visit) => {
  it('shows an event live in one line, and at a click what happened, each attempt, and the wait between', async () => {
    const { url, world, tab, complaints } = await visit('/timeline')
    await tab.getByText('No event yet').waitFor()
    const limit = makeFault('rate-limit')
    if (limit) world.mail.emulator?.faults.add(limit)
    await callFunction(url, 'sendEmail', mail)
    const row = tab.locator('.event-row')
    await row.getByText('2 attempts').waitFor()
    await row.getByText('ada@example.com · Hello').waitFor()
    await row.click()
    await verdictOf(tab).getByText('with 2 attempts').waitFor()
    const time = tab.getByRole('region', { name: 'Time' })
    expect(await time.locator('.why').allTextContents()).toEqual([
      '429injected: 429, too many requests',
      expect.stringMatching(/^waited .* \(Retry-After: 1\)$/),
    ])
    expect(
      await time
        .locator('.plot')
        .first()
        .evaluate((plot) => plot.clientWidth),
    ).toBeGreaterThanOrEqual(320)
    await time.getByRole('link', { name: 'attempt 2' }).click()
    const call = tab.locator('#call-1-1[open]')
    await call.getByText('"Subject": "Hello"').waitFor()
    await call.getByText('header').first().click()
    await call.getByText('x-mailer-server-token').waitFor()
    await time.getByRole('link', { name: 'attempt 1' }).click()
    await tab.locator('#call-1-0[open]').waitFor()
    // A group keeps its worst state and its longest time.
    await tab.keyboard.press('r')
    await row.locator('.warn', { hasText: '2 attempts · 1 replay' }).waitFor()
    expect(await row.locator('.took').textContent()).toMatch(/^1\.\d s$/)
    expect(await row.locator('.outcome').textContent()).toBe('!200')
    expect(await tab.content()).not.toContain(world.mail.token)
    expect(complaints).toEqual([])
  })

  it('says that the outcome is unknown after a response that broke off, and that a response is no JSON', async () => {
    const { url, world, tab } = await visit('/timeline')
    world.mail.emulator?.faults.add({ path: '/email', cut: 'during' })
    await callFunction(url, 'sendEmail', mail)
    await tab.locator('.event-row').click()
    await verdictOf(tab).getByText('Outcome unknown').waitFor()
    await tab.getByText('200, the response broke off').waitFor()
    await verdictOf(tab).getByRole('link', { name: 'Look in the mailbox' }).waitFor()
    await tab.keyboard.press('r')
    await tab.getByText('perhaps 1 effect, 2 deliveries').waitFor()
    expect(world.mail.emulator?.messages).toHaveLength(1)
    await verdictOf(tab).getByRole('button', { name: 'Deliver with a new id' }).click()
    await verdictOf(tab).getByText('sendEmail worked').waitFor()
    expect(world.mail.emulator?.messages).toHaveLength(2)
    world.mail.emulator?.faults.add({ path: '/email', html: true })
    await callFunction(url, 'sendEmail', mail)
    await tab.goto(`${url}/timeline?event=4&tab=calls`)
    await tab.locator('.call .status.bad').getByText('200').waitFor()
  })

  it('shows an event that arrives while the page still loads an older list', async () => {
    const { url, tab } = await visit()
    let held: (() => Promise<void>) | undefined
    await tab.goto(`${url}/timeline`)
    await tab.route('**/timeline', async (route) => {
      const response = await route.fetch()
      if (held) return route.fulfill({ response })
      held = () => route.fulfill({ response })
    })
    await callFunction(url, 'countUsers', {}, 'idp')
    await eventually(() => held).toBeDefined()
    await callFunction(url, 'sendEmail', mail)
    await held?.()
    await eventually(() => titles(tab)).toEqual(['sendEmail', 'countUsers'])
  })

  it('shows each delivery that it repeats, and groups the deliveries of one id in one line', async () => {
    const { url, world, tab } = await visit('/timeline')
    await callFunction(url, 'sendEmail', mail)
    await tab.locator('.event-row').click()
    await button(tab, 'Deliver again')
    await verdictOf(tab).getByText('nothing happened twice').waitFor()
    const deliveries = tab.getByRole('region', { name: 'Deliveries' })
    await deliveries.getByText('1 effect, 2 deliveries').waitFor()
    await tab.locator('.event-row').getByText('1 replay').waitFor()
    expect(await tab.locator('.event-row').count()).toBe(1)
    await deliveries.getByRole('link', { name: '#1' }).click()
    await tab.getByRole('article', { name: 'Event 1', exact: true }).waitFor()
    world.mail.emulator?.faults.add({ path: '/email', delayMs: 1_000 })
    await tab.locator('#detail summary', { hasText: 'More' }).click()
    await button(tab, 'Deliver twice at once')
    await deliveries.getByText('409').waitFor()
    expect(world.mail.emulator?.messages).toHaveLength(2)
  })

  it('finds whatever it shows, by words, fields, integration and outcome, and hides the walk on demand', async () => {
    const { url, world, tab } = await visit()
    const challenge = JSON.stringify({ name: 'WEBHOOK_CHALLENGE', challenge: 'c' })
    await world.deliver({ route: 'auth', body: challenge, id: 'evt_walk' }, 'walk')
    await tab.goto(`${url}/timeline`)
    await eventually(() => titles(tab)).toEqual(['WEBHOOK_CHALLENGE'])
    await tab.getByLabel('Hide the walk').check()
    await tab.getByText('No match').waitFor()
    const limit = makeFault('rate-limit')
    if (limit) world.mail.emulator?.faults.add(limit)
    await callFunction(url, 'sendEmail', mail)
    await callFunction(url, 'sendEmail', { subject: 'to nobody' })
    await deliverFromOutside(world, 'idp', functionCall('countUsers', {}))
    await eventually(() => titles(tab)).toEqual(['countUsers', 'sendEmail', 'sendEmail'])
    const numbers = () => tab.locator('.event-row .number').allTextContents()
    const found = async (text: string, expected: string[]) => {
      await tab.getByLabel('Find').fill(text)
      await eventually(numbers).toEqual(expected)
    }
    // Each result differs from the one before.
    const searches = `/email 200 → 2; "to nobody" status:422 → 3; to:ada → 2; from outside → 4; to: ada → 2;
      outcome=ok worked → 4 2; submittedat → 2; #3 → 3; Retry-After: 1 → 2; number:4 → 4;
      x-mailer-server-token → 2; to:nobody → ; injected → 2; #3 → 3; waited → 2; #4 → 4; "with 2 attempts" → 2; to: → 4 3 2`
    for (const search of searches.split(';')) {
      const [text = '', expected = ''] = search.split('→')
      await found(text.trim(), expected.match(/\d/g) ?? [])
    }
    for (const shown of ['#event-2 .took', '#event-2 .when']) {
      await tab.getByLabel('Find').fill(String(await tab.locator(shown).textContent()))
      await eventually(numbers).toContain('2')
      await found('to:', ['4', '3', '2'])
    }
    await tab.getByLabel('Find').fill('2')
    await eventually(async () => (await numbers())[0]).toBe('2')
    await found('nowhere', [])
    await tab.getByRole('link', { name: 'Clear the filter' }).click()
    await eventually(numbers).toEqual(['4', '3', '2', '1'])
    expect(await tab.getByLabel('Find').inputValue()).toBe('')
    await tab.getByLabel('Outcome').selectOption('failed')
    await eventually(() => tab.locator('.event-row .tag').allTextContents()).toEqual(['invalid_arguments'])
    await tab.getByLabel('Outcome').selectOption('')
    await tab.getByLabel('Integration').selectOption('idp')
    await eventually(numbers).toEqual(['4'])
    await tab.getByLabel('Integration').selectOption('')
  })

  it('goes through the events by keyboard, and back and forward through the history', async () => {
    const { url, tab } = await visit('/timeline')
    for (const name of ['countUsers', 'listUsers', 'listOrganizations'])
      await callFunction(url, name, {}, 'idp')
    await eventually(() => titles(tab)).toEqual(['listOrganizations', 'listUsers', 'countUsers'])
    expect(await tab.locator('.event-row:not([tabindex])').count()).toBe(1)
    const shown = (name: string) => tab.getByRole('article', { name, exact: true }).waitFor()
    const closed = () => tab.getByRole('article').waitFor({ state: 'detached' })
    await tab.keyboard.press('j')
    await shown('Event 3')
    await tab.keyboard.press('ArrowDown')
    await shown('Event 2')
    await tab.goBack()
    await closed()
    await tab.locator('#event-1 a').focus()
    await tab.goForward()
    await shown('Event 2')
    await eventually(() => focused(tab)).toBe('event-2')
    await tab.keyboard.press('k')
    await shown('Event 3')
    await tab.locator('#event-1 a').click()
    await shown('Event 1')
    await tab.keyboard.press('r')
    await shown('Event 4')
    await tab.goBack()
    await shown('Event 1')
    await tab.goForward()
    await shown('Event 4')
    await tab.keyboard.press('j')
    await shown('Event 3')
    await tab.keyboard.press('Escape')
    await closed()
    await eventually(() => focused(tab)).toBe('event-3')
    expect(tab.url()).toBe(`${url}/timeline`)
    await tab.keyboard.press('j')
    await shown('Event 2')
    await tab.keyboard.press('?')
    await tab.getByRole('heading', { name: 'Keyboard' }).waitFor()
    await tab.keyboard.press('Escape')
    await tab.keyboard.press('/')
    await tab.keyboard.type('listUsers')
    await eventually(() => titles(tab)).toEqual(['listUsers'])
  })

  it('edits an event and sends it, with its secrets, and writes a new one: broken, or with a wrong signature', async () => {
    const { url, world, tab } = await visit('/timeline', { PLATFORM_WEBHOOK_SECRET: webhookSecret })
    const ada = { emailAddress: 'ada@example.com', password: 'correct horse battery' }
    await callFunction(url, 'createUser', ada, 'idp')
    await tab.locator('.event-row').click()
    await tab.getByRole('link', { name: 'Edit and replay' }).click()
    const body = tab.getByLabel('Body', { exact: true })
    expect(await body.inputValue()).toContain('"password": "[redacted]"')
    await body.fill((await body.inputValue()).replace('ada@', 'grace@'))
    await button(tab, 'Send')
    await verdictOf(tab).getByText('createUser worked').waitFor()
    expect(world.idp.emulator?.users.size).toBe(3)
    const session = await (await fetch(`${url}/timeline/session.json?secrets=1`)).text()
    expect(session.match(/correct horse battery/g)).toHaveLength(2)
    await tab.getByRole('link', { name: 'New event' }).click()
    await tab.getByRole('link', { name: 'JSON', exact: true }).click()
    await body.fill('{"name": ')
    await button(tab, 'Send')
    await verdictOf(tab).getByText('Invalid JSON').waitFor()
    await tab.getByRole('link', { name: 'New event' }).click()
    await tab.getByRole('link', { name: 'JSON', exact: true }).click()
    await tab.getByLabel('Signature').selectOption('wrong')
    await button(tab, 'Send')
    await verdictOf(tab).getByText('Invalid signature').waitFor()
  })

  it('copies an event as a curl command that the host accepts, signed anew', async () => {
    const { url, tab } = await visit('/timeline', { PLATFORM_WEBHOOK_SECRET: webhookSecret })
    await callFunction(url, 'sendEmail', { ...mail, subject: 'It’s $HOME, “quoted”' })
    await tab.locator('.event-row').click()
    const copied = async (name: string) => {
      await button(tab, name)
      await tab.getByText('Copied.').waitFor()
      return tab.evaluate(() => navigator.clipboard.readText())
    }
    await tab.locator('#detail summary', { hasText: 'More' }).click()
    const command = await copied('Copy as curl')
    expect(command).not.toContain(webhookSecret)
    // The shell parses the command; `curl` itself may be missing.
    const { stdout } = spawnSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }\n${command}`], {
      encoding: 'utf8',
    })
    const lines = stdout.split('\n')
    const headers = lines.filter((_, index) => lines[index - 1] === '-H').map((line) => line.split(': '))
    const body = lines[lines.indexOf('--data-raw') + 1] ?? ''
    const target = lines[2] ?? ''
    const response = await fetch(target, { method: 'POST', headers: Object.fromEntries(headers), body })
    expect(response.status).toBe(200)
    expect(response.headers.get('idempotency-replayed')).toBe('true')
  })

  it('exports the filtered session without secrets, and takes a clearing back', async () => {
    const { url, tab } = await visit('/timeline?text=number:2')
    await callFunction(url, 'sendEmail', mail)
    const ada = { emailAddress: 'ada@example.com', password: 'correct horse battery' }
    await callFunction(url, 'createUser', ada, 'idp')
    const session = tab.locator('.bar summary')
    const saved = async (query: string) => (await fetch(`${url}/timeline/session.json?${query}`)).text()
    await session.click()
    const link = tab.getByRole('link', { name: 'Export session', exact: true })
    expect(await link.getAttribute('href')).toBe('/timeline/session.json?text=number%3A2')
    const masked = await saved('text=number:2')
    const [event, ...others] = parseSession(masked, 'session.json')
    expect([event?.route, event?.answered?.status, others]).toEqual(['idp', 200, []])
    expect(masked).not.toContain('correct horse battery')
    await tab.goto(`${url}/timeline`)
    expect(await saved('secrets=1')).toContain('correct horse battery')
    await session.click()
    await button(tab, 'Clear events')
    await tab.getByRole('dialog').getByRole('button', { name: 'Clear events' }).click()
    await tab.getByText('No event yet').waitFor()
    await button(tab, 'Undo')
    await eventually(() => tab.locator('.event-row').count()).toBe(2)
  })

  it('opens a link to an old event on its page, with its line in sight', async () => {
    const { url, tab } = await visit('/mailbox')
    for (let round = 0; round < 23; round += 1) {
      await Promise.all(Array.from({ length: 10 }, () => callFunction(url, 'countUsers', {}, 'idp')))
    }
    await tab.goto(`${url}/timeline?event=2`)
    await tab.getByRole('article', { name: 'Event 2', exact: true }).waitFor()
    expect(await tab.locator('.entry').count()).toBe(30)
    const isVisible = (id: string) =>
      tab.locator(id).evaluate((row) => {
        const { top, bottom } = row.getBoundingClientRect()
        return top >= 0 && bottom <= innerHeight
      })
    expect(await isVisible('#event-2')).toBe(true)
    await callFunction(url, 'countUsers', {}, 'idp')
    await tab.getByRole('link', { name: 'Timeline 231' }).waitFor()
    expect(await tab.locator('.entry').first().getAttribute('id')).toBe('event-30')
    await tab.keyboard.press('r')
    await tab.getByRole('article', { name: 'Event 232', exact: true }).waitFor()
    await eventually(() => focused(tab)).toBe('event-232')
    expect(await isVisible('#event-232')).toBe(true)
    await tab.getByRole('link', { name: 'older' }).click()
    await tab.locator('#event-232').waitFor({ state: 'detached' })
    await tab.getByRole('link', { name: 'Newer' }).click()
    await tab.locator('#event-232').waitFor()
    await tab.goto(`${url}/timeline?event=999999`)
    await tab.getByText('Event 999999 is not here any more').waitFor()
    await tab.getByRole('link', { name: 'Show the list' }).click()
    await tab.getByRole('article').waitFor({ state: 'detached' })
  })

  it('keeps ten tabs up to date with one stream', async () => {
    const { url, tab } = await visit('/timeline')
    const others = await Promise.all(
      Array.from({ length: 9 }, () => openTab(tab.context(), `${url}/timeline`)),
    )
    await callFunction(url, 'countUsers', {}, 'idp')
    for (const one of [tab, ...others.map((other) => other.tab)]) {
      await eventually(() => titles(one)).toEqual(['countUsers'])
    }
  })
})
