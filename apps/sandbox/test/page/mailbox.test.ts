import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { callFunction, describeInBrowser, eventually } from './support.ts'

const order = {
  to: ['ada@example.com', 'grace@example.com'],
  subject: 'Your order',
  htmlBody:
    '<base href="https://base.example/">' +
    '<h1>Hello Ada</h1><p>See <a href="https://shop.example/42?a=1&amp;b=2">the order</a>.</p><a href="#foot">Imprint</a> <a href="/account">Account</a><p id="foot" style="margin-top: 3000px">Shop Ltd</p>',
  textBody: 'It left the house today.',
  headers: { 'X-Order': '42' },
  metadata: { customer: 'no. 7' },
  attachments: [
    { name: 'bill.txt', contentType: 'text/plain', content: btoa('Twelve euros.'.repeat(4_000)) },
  ],
}

describeInBrowser('the mailbox', (visit) => {
  it('shows the first mail live as an unread row, and opens it beside the list', async () => {
    const { url, tab, complaints } = await visit('/mailbox')
    await tab.getByText('No mail yet').waitFor()
    await callFunction(url, 'sendEmail', order)
    const row = tab.locator('.mail')
    const words = String(await row.textContent()).replaceAll(/\s+/g, ' ')
    expect(words).toMatch(
      /Shop to ada@example.com, grace@example.com Your order It left the house today. 1 file/,
    )
    await row.locator('.unread').waitFor()
    await tab.getByText('1 mail, 1 unread').waitFor()
    await row.click()
    await tab.getByRole('article', { name: 'Mail: Your order' }).waitFor()
    await row.locator('.unread').waitFor({ state: 'detached' })
    await callFunction(url, 'sendEmail', {
      to: 'grace@example.com',
      subject: 'Bill \u202efdp.exe',
      textBody: 'x',
    })
    await tab.getByText('Bill \\u202efdp.exe').waitFor()
    await tab.getByText('2 mails, 1 unread').waitFor()
    expect(await tab.getByRole('article').getAttribute('aria-label')).toBe('Mail: Your order')
    await tab.getByRole('link', { name: 'sent by event 1' }).click()
    await tab.getByRole('article', { name: 'Event 1' }).waitFor()
    expect(complaints).toEqual([])
  })

  it('shows a mail in tabs, and saves its attachments', async () => {
    const { url, tab } = await visit()
    await callFunction(url, 'sendEmail', order)
    await tab.goto(`${url}/mailbox`)
    await tab.locator('.mail').click()
    const mail = tab.getByRole('article')
    const frame = tab.frameLocator('iframe')
    await frame.getByRole('heading', { name: 'Hello Ada' }).waitFor()
    const foot = async () => (await frame.getByText('Shop Ltd').boundingBox())?.y
    expect(await foot()).toBeGreaterThan(3_000)
    await frame.getByRole('link', { name: 'Imprint' }).click()
    await eventually(foot).toBeLessThan(1_000)
    await frame.getByText('Account').waitFor()
    expect(await frame.getByRole('link', { name: 'Account' }).count()).toBe(0)
    const open = (name: string) => mail.getByRole('link', { name, exact: true }).click()
    for (const [name, text] of [
      ['Text', 'It left the house today.'],
      ['Source', '<h1>Hello Ada</h1>'],
      ['Source', 'X-Order'],
      ['Source', 'no. 7'],
      ['Source', '"MessageStream": "outbound"'],
    ] as const) {
      await open(name)
      await mail.getByText(text).first().waitFor()
    }
    await open('Files 1')
    const [download] = await Promise.all([tab.waitForEvent('download'), open('Save')])
    expect(download.suggestedFilename()).toBe('bill.txt')
    expect(await readFile(await download.path(), 'utf8')).toBe('Twelve euros.'.repeat(4_000))
    await tab.goBack()
    await mail.getByText('X-Order').first().waitFor()
  })

  it('finds mails by their words, keeps the page of the list, asks before it removes all mails, and brings them back', async () => {
    const { url, world, tab } = await visit('/mailbox')
    const messages = Array.from({ length: 230 }, (_, index) => ({
      to: `c${index}@example.com`,
      subject: `Offer ${index}`,
      textBody: 'Hello',
    }))
    await callFunction(url, 'sendEmails', { messages })
    await callFunction(url, 'sendEmail', order)
    await tab.locator('#mail-count').getByText('231 mails').waitFor()
    await tab.getByRole('link', { name: 'older' }).click()
    const third = tab.locator('.mail').nth(2)
    await tab.locator('.mail', { hasText: 'Your order' }).waitFor({ state: 'detached' })
    const subject = await third.locator('strong').textContent()
    await tab.locator('.mail').first().focus()
    await tab.keyboard.press('ArrowDown')
    await tab.keyboard.press('ArrowDown')
    await tab.keyboard.press('Enter')
    await tab.getByRole('article', { name: `Mail: ${subject}`, exact: true }).waitFor()
    expect(await tab.locator('.mail[aria-current]').count()).toBe(1)
    expect(await tab.locator('.mail', { hasText: 'Your order' }).count()).toBe(0)
    await tab.getByLabel('Find').fill('bill.txt HOUSE')
    await eventually(() => tab.locator('.mail strong').allTextContents()).toEqual(['Your order'])
    await tab.getByRole('button', { name: 'Clear' }).click()
    await tab.getByRole('dialog').getByText('Remove 231 mails, also those that the search hides?').waitFor()
    await tab.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    expect(world.mail.emulator?.messages).toHaveLength(231)
    await tab.getByLabel('Find').fill('nobody')
    await tab.getByRole('link', { name: 'Show every mail' }).click()
    await tab.locator('#mail-count').getByText('231 mails').waitFor()
    await tab.getByRole('button', { name: 'Clear' }).click()
    await tab.getByRole('dialog').getByRole('button', { name: 'Clear' }).click()
    await tab.getByText('No mail yet').waitFor()
    await tab.getByRole('button', { name: 'Undo' }).click()
    await tab.locator('#mail-count').getByText('231 mails').waitFor()
    expect(await tab.getByRole('button', { name: 'Undo' }).count()).toBe(0)
  })
})
