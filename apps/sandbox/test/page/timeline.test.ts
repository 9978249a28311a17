import { spawnSync } from 'node:child_process'
import type { Page as Tab } from 'playwright-core'
import { expect, it } from 'vitest'
import { faultOf } from '../../src/page/faults.ts'
import type { World } from '../../src/world/world.ts'
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
const event = (tab: Tab, number: number) =>
  tab.getByRole('article', { name: `Event ${number}`, exact: true }).waitFor()

function limitOnce(world: World): void {
  const limit = faultOf('rate-limit')
  if (limit) world.mail.faults.add(limit)
}

describeInBrowser('the timeline', (visit) => {
  it('shows an event live in one line with its worst state, and at a click each attempt and the wait between', async () => {
    const { url, world, tab, complaints, press, verdict } = await visit('/timeline')
    await tab.getByText('No event yet').waitFor()
    limitOnce(world)
    await callFunction(url, 'sendEmail', mail)
    const row = tab.locator('.event-row')
    await row.getByText('ada@example.com · Hello').waitFor()
    await row.click()
    await verdict.getByText('with 2 attempts').waitFor()
    const time = tab.getByRole('region', { name: 'Time' })
    expect(await time.locator('.why').allTextContents()).toEqual([
      '429injected: 429, too many requests',
      expect.stringMatching(/^waited .* \(Retry-After: 1\)$/),
    ])
    await time.getByRole('link', { name: 'attempt 2' }).click()
    const call = tab.locator('#call-1-1[open]')
    await call.getByText('"Subject": "Hello"').waitFor()
    await call.getByText('header').first().click()
    await call.getByText('x-mailer-server-token').waitFor()
    await tab.keyboard.press('r')
    await verdict.getByText('nothing happened twice').waitFor()
    await row.locator('.warn', { hasText: '2 attempts · 1 replay' }).waitFor()
    expect(await row.locator('.took').textContent()).toMatch(/^1\.\d s$/)
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
    await tab.getByText('FUNCTION_CALL 200').waitFor()
    await tab.getByText(/function=sendEmail .*outcome=ok.* status=200/).waitFor()
    const docs = await tab.getByRole('link', { name: 'Docs' }).getAttribute('href')
    expect([docs, complaints]).toEqual([`${world.url}/docs`, []])
  })

  it('says that the outcome is unknown after a response that broke off, and that a response is no JSON', async () => {
    const { url, world, tab, verdict } = await visit('/timeline')
    world.mail.faults.add({ path: '/email', cut: 'during' })
    await callFunction(url, 'sendEmail', mail)
    await tab.locator('.event-row').click()
    await verdict.getByText('Outcome unknown').waitFor()
    expect(await tab.locator('.event-row .state').textContent()).toMatch(/^! \d{3}$/)
    await tab.getByText('200, the response broke off').waitFor()
    await verdict.getByRole('link', { name: 'Look in the mailbox' }).waitFor()
    await tab.keyboard.press('r')
    await tab.getByText('perhaps 1 effect, 2 deliveries').waitFor()
    expect(world.mail.messages).toHaveLength(1)
    await verdict.getByRole('button', { name: 'Deliver with a new id' }).click()
    await verdict.getByText('sendEmail worked').waitFor()
    expect(world.mail.messages).toHaveLength(2)
    world.mail.faults.add({ path: '/email', html: true })
    await callFunction(url, 'sendEmail', mail)
    await tab.goto(`${url}/timeline?event=4&tab=calls`)
    await tab.locator('.call .status.bad').getByText('200').waitFor()
  })

  it('is up to date in ten tabs with one stream, also if an event arrives while the page loads', async () => {
    const { url, tab } = await visit('/timeline')
    const others = await Promise.all(
      Array.from({ length: 9 }, () => openTab(tab.context(), `${url}/timeline`)),
    )
    let asked = 0
    tab.on('request', () => (asked += 1))
    let held: (() => Promise<void>) | undefined
    await tab.route('**/timeline', async (route) => {
      const response = await route.fetch()
      if (held) return route.fulfill({ response })
      held = () => route.fulfill({ response })
    })
    await callFunction(url, 'countUsers', {}, 'idp')
    await eventually(() => held).toBeDefined()
    await callFunction(url, 'sendEmail', mail)
    await held?.()
    for (const one of [tab, ...others.map((other) => other.tab)])
      await eventually(() => titles(one)).toEqual(['sendEmail', 'countUsers'])
    // A change is drawn once, or once more.
    expect(asked).toBeLessThan(20)
  })

  it('finds whatever it shows, by words, fields and chips, and hides the walk on demand', async () => {
    const { url, world, tab } = await visit()
    const challenge = JSON.stringify({ name: 'WEBHOOK_CHALLENGE', challenge: 'c' })
    await world.deliver({ route: 'auth', body: challenge, id: 'evt_walk' }, 'walk')
    await tab.goto(`${url}/timeline`)
    await eventually(() => titles(tab)).toEqual(['WEBHOOK_CHALLENGE'])
    await tab.getByLabel('Hide the walk').check()
    await tab.getByText('No match').waitFor()
    limitOnce(world)
    await callFunction(url, 'sendEmail', mail)
    await callFunction(url, 'sendEmail', { subject: 'to nobody' })
    await deliverFromOutside(world, 'idp', functionCall('countUsers', {}))
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
    await tab.getByRole('link', { name: 'Clear the filter' }).click()
    await eventually(numbers).toEqual(['4', '3', '2', '1'])
    expect(await tab.getByLabel('Find').inputValue()).toBe('')
    await tab.getByLabel('Failed').check()
    await eventually(numbers).toEqual(['3'])
  })

  it('goes through the events by keyboard, and back and forward through the history', async () => {
    const { url, tab } = await visit('/timeline')
    for (const name of ['countUsers', 'listUsers', 'listOrganizations'])
      await callFunction(url, name, {}, 'idp')
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
    await tab.goForward()
    await event(tab, 4)
    await tab.keyboard.press('Escape')
    await closed()
    expect(tab.url()).toBe(`${url}/timeline`)
    await tab.keyboard.press('/')
    await tab.keyboard.type('listUsers')
    await eventually(() => titles(tab)).toEqual(['listUsers'])
  })

  it('edits an event and sends it with its secrets, writes a broken one and one with a wrong signature, and copies one as curl', async () => {
    const { url, world, tab, press, verdict } = await visit('/timeline', {
      PLATFORM_WEBHOOK_SECRET: webhookSecret,
    })
    const password = 'It’s $HOME, “quoted”'
    await callFunction(url, 'createUser', { emailAddress: 'ada@example.com', password }, 'idp')
    await tab.locator('.event-row').click()
    await tab.getByRole('link', { name: 'Edit and replay' }).click()
    const body = tab.getByLabel('Body', { exact: true })
    expect(await body.inputValue()).toContain('"password": "[redacted]"')
    await press('Send')
    await tab.getByRole('alert').getByText('Write a secret in place of each [redacted].').waitFor()
    const edited = (await body.inputValue()).replace('ada@', 'grace@').replace('[redacted]', password)
    await body.fill(edited)
    await press('Send')
    await verdict.getByText('createUser worked').waitFor()
    expect(world.identity.backend.users.size).toBe(3)
    const session = await (await fetch(`${url}/timeline/session.json?secrets=1`)).text()
    expect(session.match(/It’s \$HOME/g)).toHaveLength(2)

    await press('Copy as curl')
    await tab.getByText('Copied.').waitFor()
    const command = await tab.evaluate(() => navigator.clipboard.readText())
    expect(command).not.toContain(webhookSecret)
    // The shell parses the command; `curl` itself may be missing.
    const shell = `curl() { printf '%s\\0' "$@"; }\n${command}`
    const lines = spawnSync('sh', ['-c', shell], { encoding: 'utf8' }).stdout.split('\0')
    const headers = lines.filter((_, index) => lines[index - 1] === '-H').map((line) => line.split(': '))
    const copied = lines[lines.indexOf('--data-raw') + 1] ?? ''
    const request = { method: 'POST', headers: Object.fromEntries(headers), body: copied }
    const response = await fetch(lines[2] ?? '', request)
    expect([response.status, response.headers.get('idempotency-replayed')]).toEqual([200, 'true'])

    const write = async () => {
      await tab.getByRole('link', { name: 'New event' }).click()
      await tab.getByRole('link', { name: 'JSON', exact: true }).click()
    }
    await write()
    await body.fill('{"name": ')
    await press('Send')
    await verdict.getByText('Invalid JSON').waitFor()
    await write()
    await tab.getByLabel('Signature').selectOption('wrong')
    await press('Send')
    await verdict.getByText('Invalid signature').waitFor()
  })

  it('exports the filtered session without secrets, and takes a clearing back', async () => {
    const { url, tab, press, dialog } = await visit('/timeline?text=number:2')
    await callFunction(url, 'sendEmail', mail)
    const ada = { emailAddress: 'ada@example.com', password: 'correct horse battery' }
    await callFunction(url, 'createUser', ada, 'idp')
    const link = tab.getByRole('link', { name: 'Export session', exact: true })
    const saved = await (await fetch(`${url}${await link.getAttribute('href')}`)).json()
    expect(saved.events).toMatchObject([{ route: 'idp', status: 200 }])
    expect(JSON.stringify(saved)).not.toContain(ada.password)
    await press('Clear')
    await dialog.getByRole('button', { name: 'Clear' }).click()
    await tab.locator('.event-row').waitFor({ state: 'detached' })
    await press('Undo')
    await eventually(() => titles(tab)).toEqual(['createUser'])
  })

  it('opens a link to an old event on its page, with its line in sight', async () => {
    const { url, tab } = await visit('/mailbox')
    for (let round = 0; round < 23; round += 1)
      await Promise.all(Array.from({ length: 10 }, () => callFunction(url, 'countUsers', {}, 'idp')))
    await tab.goto(`${url}/timeline?event=2`)
    await event(tab, 2)
    const isVisible = (id: string) =>
      tab.locator(id).evaluate((row) => {
        const { top, bottom } = row.getBoundingClientRect()
        return top >= 0 && bottom <= innerHeight
      })
    expect(await isVisible('#event-2')).toBe(true)
    const first = await tab.locator('.entry').first().getAttribute('id')
    await callFunction(url, 'countUsers', {}, 'idp')
    await tab.getByRole('link', { name: 'Timeline 231' }).waitFor()
    expect(await tab.locator('.entry').first().getAttribute('id')).toBe(first)
    await tab.keyboard.press('r')
    await event(tab, 232)
    expect(await isVisible('#event-232')).toBe(true)
    await tab.getByRole('link', { name: 'older' }).click()
    await tab.locator('#event-232').waitFor({ state: 'detached' })
    await tab.getByRole('link', { name: 'Newer' }).click()
    await tab.locator('#event-232').waitFor()
    await tab.goto(`${url}/timeline?event=999999`)
    await tab.getByText('Event 999999 is not here any more').waitFor()
  })
})
