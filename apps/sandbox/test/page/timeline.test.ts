import { spawnSync } from 'node:child_process'
import type { Page as Tab } from 'playwright-core'
import { expect, it } from 'vitest'
import { faultOf } from '../../src/page/faults.ts'
import type { World } from '../../src/world/world.ts'
import { webhookSecret } from '../fixtures.ts'
import { describeInBrowser, eventually, functionCall, openTab } from './support.ts'

const mail = { to: 'ada@example.com', subject: 'Hello', textBody: 'Hello.' }
const titles = (tab: Tab) => tab.locator('.event-row .what').allTextContents()
const event = (tab: Tab, number: number) =>
  tab.getByRole('article', { name: `Event ${number}`, exact: true }).waitFor()

function limitOnce(world: World): void {
  world.mail.faults.add(faultOf('rate-limit') ?? expect.fail())
}

describeInBrowser('the timeline', (visit) => {
  it('shows an event live in one line with its worst state, and at a click each attempt, wait, call and delivery', async () => {
    const { url, world, tab, call, see, complaints, press, verdict } = await visit('/timeline')
    await see('No event yet')
    limitOnce(world)
    await call('sendEmail', mail)
    const row = tab.locator('.event-row')
    await row.getByText('ada@example.com · Hello').click()
    await verdict.getByText('with 2 attempts').waitFor()
    const time = tab.getByRole('region', { name: 'Time' })
    const why = [
      '429injected: 429, too many requests',
      expect.stringMatching(/^waited .*\(Retry-After: 1\)$/),
    ]
    expect(await time.locator('.why').allTextContents()).toEqual(why)
    await time.getByRole('link', { name: 'attempt 2' }).click()
    const sent = tab.locator('#call-1-1[open]')
    await sent.getByText('"Subject": "Hello"').waitFor()
    await sent.getByText('header').first().click()
    await sent.getByText('x-mailer-server-token').waitFor()
    await tab.keyboard.press('r')
    await verdict.getByText('nothing happened twice').waitFor()
    await row.locator('.warn', { hasText: '2 attempts · 1 replay' }).waitFor()
    expect(await row.locator('.took').textContent()).toMatch(/^[1-9]\d*\.\d s$/)
    expect(await row.locator('.state').textContent()).toBe('! 200')
    const deliveries = tab.getByRole('region', { name: 'Deliveries' })
    await deliveries.getByText('1 effect, 2 deliveries').waitFor()
    // The line opens the delivery that it shows; the replay is reached from there.
    await row.click()
    await event(tab, 1)
    await deliveries.getByRole('link', { name: '#2 replayed' }).click()
    await event(tab, 2)
    world.mail.faults.add({ path: '/email', delayMs: 1_000 })
    await press('Twice at once')
    await deliveries.getByText('409').waitFor()
    expect(world.mail.messages).toHaveLength(2)
    expect(await tab.content()).not.toContain(String(world.variables.MAILER_SHARED_API_TOKEN))
    await tab.goto(`${url}/timeline?event=1&tab=log`)
    await see('FUNCTION_CALL 200', /function=sendEmail .*outcome=ok.* status=200/)
    const docs = await tab.getByRole('link', { name: 'Docs' }).getAttribute('href')
    expect([docs, complaints]).toEqual([`${world.url}/docs`, []])
  })

  it('says that the outcome is unknown after a response that broke off, and that a response is no JSON', async () => {
    const { url, world, tab, call, see, press, verdict } = await visit('/timeline')
    world.mail.faults.add({ path: '/email', cut: 'during' })
    await call('sendEmail', mail)
    await tab.locator('.event-row').click()
    await see('Outcome unknown', '200, the response broke off', 'Look in the mailbox')
    expect(await tab.locator('.event-row .state').textContent()).toMatch(/^! \d{3}$/)
    await tab.keyboard.press('r')
    await see('perhaps 1 effect, 2 deliveries')
    expect(world.mail.messages).toHaveLength(1)
    await press('Deliver with a new id')
    await verdict.getByText('sendEmail worked').waitFor()
    expect(world.mail.messages).toHaveLength(2)
    world.mail.faults.add({ path: '/email', html: true })
    await call('sendEmail', mail)
    await tab.goto(`${url}/timeline?event=4&tab=calls`)
    await tab.locator('.call .status.bad').getByText('200').waitFor()
  })

  it('is up to date in ten tabs with one stream, also if an event arrives while the page loads', async () => {
    const { url, tab, call } = await visit('/timeline')
    const nine = Array.from({ length: 9 }, () => openTab(tab.context(), `${url}/timeline`))
    const others = (await Promise.all(nine)).map((other) => other.tab)
    let asked = 0
    tab.on('request', () => (asked += 1))
    let held: (() => Promise<void>) | undefined
    await tab.route('**/timeline', async (route) => {
      const response = await route.fetch()
      if (held) return route.fulfill({ response })
      held = () => route.fulfill({ response })
    })
    await call('countUsers', {}, 'idp')
    await eventually(() => held).toBeDefined()
    await call('sendEmail', mail)
    await held?.()
    for (const one of [tab, ...others])
      await eventually(() => titles(one)).toEqual(['sendEmail', 'countUsers'])
    // A change is drawn once, or once more.
    expect(asked).toBeLessThan(20)
  })

  it('finds whatever it shows, by words, fields and chips, hides the walk, exports what it found, and takes a clearing back', async () => {
    const { url, world, tab, call, see, press, follow, dialog, sendFromOutside } = await visit()
    const challenge = JSON.stringify({ name: 'WEBHOOK_CHALLENGE', challenge: 'c' })
    await world.deliver({ route: 'auth', body: challenge, id: 'evt_walk' }, 'walk')
    await tab.goto(`${url}/timeline`)
    await eventually(() => titles(tab)).toEqual(['WEBHOOK_CHALLENGE'])
    await tab.getByLabel('Hide the walk').check()
    await see('No match')
    limitOnce(world)
    await call('sendEmail', mail)
    await call('sendEmail', { subject: 'to nobody' })
    await sendFromOutside('idp', functionCall('countUsers', {}))
    const numbers = () => tab.locator('.event-row .number').allTextContents()
    await eventually(numbers).toEqual(['4', '3', '2'])
    // Each result differs from the one before.
    const searches = `/email 200 → 2; "to nobody" status:422 → 3; to:ada → 2; from outside → 4; to: ada → 2;
      outcome=ok worked → 4 2; submittedat → 2; #3 → 3; Retry-After: 1 → 2; number:4 → 4; subject:"to nobody" → 3;
      x-mailer-server-token → 2; to:nobody → ; injected → 2; code:invalid_arguments → 3; waited → 2; #4 → 4;
      function:sendEmail "with 2 attempts" → 2; route:idp → 4; event:FUNCTION_CALL → 4 3 2; nowhere → `
    for (const search of searches.split(';')) {
      const [text = '', expected = ''] = search.split('→')
      await tab.getByLabel('Find').fill(text.trim())
      await eventually(numbers).toEqual(expected.match(/\d/g) ?? [])
    }
    await follow('Clear the filter')
    await eventually(numbers).toEqual(['4', '3', '2', '1'])
    expect(await tab.getByLabel('Find').inputValue()).toBe('')
    await tab.getByLabel('Failed').check()
    await eventually(numbers).toEqual(['3'])
    const link = tab.getByRole('link', { name: 'Export session', exact: true })
    const saved = await (await fetch(url + (await link.getAttribute('href')))).json()
    expect(saved.events).toMatchObject([{ route: 'mailer', status: 422 }])
    await press('Clear')
    await dialog.getByRole('button', { name: 'Clear' }).click()
    await tab.locator('.event-row').waitFor({ state: 'detached' })
    await press('Undo')
    await eventually(numbers).toEqual(['3'])
  })

  it('goes through the events by keyboard, and back and forward through the history', async () => {
    const { url, tab, call } = await visit('/timeline')
    for (const name of ['countUsers', 'listUsers', 'listOrganizations']) await call(name, {}, 'idp')
    await eventually(() => titles(tab)).toEqual(['listOrganizations', 'listUsers', 'countUsers'])
    expect(await tab.locator('.event-row:not([tabindex])').count()).toBe(1)
    const closed = () => tab.getByRole('article').waitFor({ state: 'detached' })
    const focused = () => tab.evaluate(() => document.activeElement?.closest('.entry')?.id)
    const strike = async (key: string, number: number) => {
      await tab.keyboard.press(key)
      await event(tab, number)
    }
    await strike('j', 3)
    await strike('ArrowDown', 2)
    await tab.goBack()
    await closed()
    await tab.locator('#event-1 a').focus()
    await tab.goForward()
    await event(tab, 2)
    await eventually(focused).toBe('event-2')
    await strike('k', 3)
    await tab.locator('#event-1 a').click()
    await event(tab, 1)
    await strike('r', 4)
    await tab.goBack()
    await event(tab, 1)
    await tab.keyboard.press('Escape')
    await closed()
    expect(tab.url()).toBe(`${url}/timeline`)
    await tab.keyboard.press('/')
    await tab.keyboard.type('listUsers')
    await eventually(() => titles(tab)).toEqual(['listUsers'])
  })

  it('edits an event and sends it with its secrets, exports it without them, and copies it as curl', async () => {
    const { url, world, tab, call, press, follow, see, verdict } = await visit('/timeline', {
      PLATFORM_WEBHOOK_SECRET: webhookSecret,
    })
    const password = 'It’s $HOME, “quoted”'
    await call('createUser', { emailAddress: 'ada@example.com', password }, 'idp')
    await tab.locator('.event-row').click()
    await follow('Edit and replay')
    const body = tab.getByLabel('Body', { exact: true })
    expect(await body.inputValue()).toContain('"password": "[redacted]"')
    await press('Send')
    await see('Write a secret in place of each [redacted].')
    const edited = (await body.inputValue()).replace('ada@', 'grace@').replace('[redacted]', password)
    await body.fill(edited)
    await press('Send')
    await verdict.getByText('createUser worked').waitFor()
    expect(world.identity.backend.users.size).toBe(3)
    const exported = async (query: string) => (await fetch(`${url}/timeline/session.json${query}`)).text()
    expect(await exported('')).not.toContain('$HOME')
    expect((await exported('?secrets=1')).match(/It’s \$HOME/g)).toHaveLength(2)

    await press('Copy as curl')
    await see('Copied.')
    const command = await tab.evaluate(() => navigator.clipboard.readText())
    expect(command).not.toContain(webhookSecret)
    // The shell parses the command; `curl` itself may be missing.
    const shell = `curl() { printf '%s\\0' "$@"; }\n${command}`
    const [, , target = '', ...options] = spawnSync('sh', ['-c', shell], { encoding: 'utf8' }).stdout.split(
      '\0',
    )
    const headers = options.filter((_, at) => options[at - 1] === '-H').map((line) => line.split(': '))
    const data = options.at(-2) ?? ''
    const request = { method: 'POST', headers: Object.fromEntries(headers), body: data }
    const response = await fetch(target, request)
    expect([response.status, response.headers.get('idempotency-replayed')]).toEqual([200, 'true'])

    await follow('New event')
    await follow('JSON')
    await body.fill('{"name": ')
    await press('Send')
    await verdict.getByText('Invalid JSON').waitFor()
    await follow('New event')
    await follow('JSON')
    await tab.getByLabel('Signature').selectOption('wrong')
    await press('Send')
    await verdict.getByText('Invalid signature').waitFor()
  })

  it('opens a link to an old event on its page, with its line in sight', async () => {
    const { url, tab, call, follow, see } = await visit('/mailbox')
    for (let round = 0; round < 23; round += 1)
      await Promise.all(Array.from({ length: 10 }, () => call('countUsers', {}, 'idp')))
    await tab.goto(`${url}/timeline?event=2`)
    await event(tab, 2)
    const isVisible = (id: string) =>
      tab.locator(id).evaluate((row) => {
        const { top, bottom } = row.getBoundingClientRect()
        return top >= 0 && bottom <= innerHeight
      })
    expect(await isVisible('#event-2')).toBe(true)
    const first = await tab.locator('.entry').first().getAttribute('id')
    await call('countUsers', {}, 'idp')
    await see('Timeline 231')
    expect(await tab.locator('.entry').first().getAttribute('id')).toBe(first)
    await tab.keyboard.press('r')
    await event(tab, 232)
    expect(await isVisible('#event-232')).toBe(true)
    await follow(/older/)
    await tab.locator('#event-232').waitFor({ state: 'detached' })
    await follow(/Newer/)
    await tab.locator('#event-232').waitFor()
    await tab.goto(`${url}/timeline?event=999999`)
    await see('Event 999999 is not here any more')
  })
})
