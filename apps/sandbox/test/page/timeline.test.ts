import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { parseSession } from '../../src/world/session.ts'
import { webhookSecret } from '../fixtures.ts'
import { callFunction, describeInBrowser, eventually } from './support.ts'

const mail = { to: 'ada@example.com', subject: 'Hello', textBody: 'Hello.' }

describeInBrowser('the timeline', (visit) => {
  it('shows an event live with its calls, and its details at a click, without secrets', async () => {
    const { url, world, tab, complaints } = await visit('/timeline')
    await tab.getByText('No event yet').waitFor()
    world.mail.emulator?.faults.add({ path: '/email', status: 429, headers: { 'retry-after': '0' } })
    await callFunction(url, 'sendEmail', mail)
    const rows = tab.locator('.entry').first().locator('.call-row')
    await eventually(() => rows.locator('.status').allTextContents()).toEqual(['✕429', '✓200'])
    await rows.nth(1).click()
    const opened = tab.locator('#detail .call').nth(1)
    await opened.getByText('"Subject": "Hello"').waitFor()
    await opened.getByText('header').first().click()
    await opened.getByText('x-mailer-server-token').waitFor()
    expect(await tab.content()).not.toContain(world.mail.token)
    expect(complaints).toEqual([])
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
    await eventually(() => tab.locator('.event-row strong').allTextContents()).toEqual([
      'sendEmail',
      'countUsers',
    ])
  })

  it('delivers again with the same id, with a new one, and twice at once', async () => {
    const { url, world, tab } = await visit('/timeline')
    await callFunction(url, 'sendEmail', mail)
    await tab.locator('.event-row').first().click()
    const again = tab.locator('#again-1')
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

  it('finds events by words, integration and outcome, and shows the walk only on demand', async () => {
    const { url, world, tab } = await visit()
    const challenge = JSON.stringify({ name: 'WEBHOOK_CHALLENGE', challenge: 'c' })
    await world.deliver({ route: 'auth', body: challenge, id: 'evt_walk' }, 'walk')
    await tab.goto(`${url}/timeline`)
    await callFunction(url, 'sendEmail', mail)
    await callFunction(url, 'sendEmail', { subject: 'to nobody' })
    await callFunction(url, 'countUsers', {}, 'idp')
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

  it('copies an event as a curl command that the host accepts, signed anew', async () => {
    const { url, tab } = await visit('/timeline', { PLATFORM_WEBHOOK_SECRET: webhookSecret })
    await callFunction(url, 'sendEmail', { ...mail, subject: 'It’s $HOME, “quoted”' })
    await tab.locator('.event-row').first().click()
    await tab.getByRole('button', { name: 'Copy as curl' }).click()
    await tab.getByText('Copied.').waitFor()
    const command = await tab.evaluate(() => navigator.clipboard.readText())
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

  it('exports the session without secrets, in the order of the events', async () => {
    const { url, tab } = await visit('/timeline')
    await callFunction(url, 'sendEmail', mail)
    const ada = { emailAddress: 'ada@example.com', password: 'correct horse battery' }
    await callFunction(url, 'createUser', ada, 'idp')
    const save = async (name: string) => {
      const [download] = await Promise.all([
        tab.waitForEvent('download'),
        tab.getByRole('link', { name, exact: true }).click(),
      ])
      return readFile(await download.path(), 'utf8')
    }
    const masked = await save('Export session')
    const events = parseSession(masked, 'session.json')
    expect(events.map(({ route, answered }) => `${route} ${answered?.status}`)).toEqual([
      'mailer 200',
      'idp 200',
    ])
    expect(masked).not.toContain('correct horse battery')
    expect(await save('Export with secrets')).toContain('correct horse battery')
  })

  it('shows the newest events, and older ones on demand, and the arrow keys move through them', async () => {
    const { url, tab } = await visit('/timeline')
    for (let round = 0; round < 6; round += 1) {
      await Promise.all(Array.from({ length: 10 }, () => callFunction(url, 'countUsers', {}, 'idp')))
    }
    await tab.locator('#shown').getByText('60 events').waitFor()
    await eventually(() => tab.locator('.entry').count()).toBe(50)
    await tab.getByRole('link', { name: '10 older' }).click()
    await tab.locator('#event-2 .event-row').focus()
    await tab.keyboard.press('ArrowDown')
    await tab.keyboard.press('ArrowDown')
    await tab.keyboard.press('Enter')
    await tab.getByRole('article', { name: 'Event 1', exact: true }).waitFor()
    expect(await tab.locator('.entry').count()).toBe(10)
  })
})
