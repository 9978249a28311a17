import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { callFunction, describeInBrowser, eventually } from './support.ts'

const order = {
  to: ['ada@example.com', 'grace@example.com'],
  subject: 'Your order',
  htmlBody: '<h1>Hello Ada</h1><p>See <a href="https://shop.example/42?a=1&amp;b=2">the order</a>.</p>',
  textBody: 'It left the house today.',
  headers: { 'X-Order': '42' },
  metadata: { customer: 'no. 7' },
  attachments: [
    { name: 'bill.txt', contentType: 'text/plain', content: btoa('Twelve euros.'.repeat(4_000)) },
  ],
}

describeInBrowser('the mailbox', (visit) => {
  it('shows a mail live in a line, and opens it beside the list, in tabs', async () => {
    const { url, tab, complaints } = await visit('/mailbox')
    await tab.getByText('No mail yet').waitFor()
    await callFunction(url, 'sendEmail', order)
    const row = tab.locator('.mail')
    await row.waitFor()
    const cells = await row.locator('> *').allTextContents()
    const expected = ['ada@example.com, grace@example.com', 'Your order It left the house today.', 'Shop']
    expect(cells.slice(0, 4)).toEqual([...expected, '1 file'])
    await row.click()
    const mail = tab.getByRole('article', { name: 'Mail: Your order' })
    await mail.waitFor()
    await callFunction(url, 'sendEmail', { to: 'a@b.example', subject: 'Bill \u202efdp.exe', textBody: 'x' })
    await tab.getByText('Bill \\u202efdp.exe').waitFor()
    await tab.getByRole('link', { name: 'Mailbox 2' }).waitFor()
    await tab.frameLocator('iframe').getByRole('heading', { name: 'Hello Ada' }).waitFor()
    const open = (name: string) => mail.getByRole('link', { name, exact: true }).click()
    for (const [name, ...texts] of [
      ['Text', 'It left the house today.'],
      ['Source', '<h1>Hello Ada</h1>', 'X-Order', 'no. 7', '"MessageStream": "outbound"'],
    ] as const) {
      await open(name)
      for (const text of texts) await mail.getByText(text).first().waitFor()
    }
    await open('Files 1')
    const [download] = await Promise.all([tab.waitForEvent('download'), open('Save')])
    expect(download.suggestedFilename()).toBe('bill.txt')
    expect(await readFile(await download.path(), 'utf8')).toBe('Twelve euros.'.repeat(4_000))
    await mail.getByRole('link', { name: 'sent by event 1' }).click()
    await tab.getByRole('article', { name: 'Event 1' }).waitFor()
    expect(complaints).toEqual([])
  })

  it('finds mails by their words, keeps the page of the list, asks before it removes them, and brings them back', async () => {
    const { url, world, tab, press, dialog } = await visit('/mailbox')
    const messages = Array.from({ length: 230 }, (_, index) => ({
      to: `c${index}@example.com`,
      subject: `Offer ${index}`,
      textBody: 'Hello',
    }))
    await callFunction(url, 'sendEmails', { messages })
    await callFunction(url, 'sendEmail', order)
    const all = () => tab.getByRole('link', { name: 'Mailbox 231' }).waitFor()
    await all()
    await tab.getByRole('link', { name: 'older' }).click()
    const third = tab.locator('.mail').nth(2)
    await tab.locator('.mail', { hasText: 'Your order' }).waitFor({ state: 'detached' })
    const subject = await third.locator('strong').textContent()
    await tab.locator('.mail').first().focus()
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await tab.keyboard.press(key)
    await tab.getByRole('article', { name: `Mail: ${subject}`, exact: true }).waitFor()
    expect(await tab.locator('.mail[aria-current]').count()).toBe(1)
    expect(await tab.locator('.mail', { hasText: 'Your order' }).count()).toBe(0)
    await tab.getByLabel('Find').fill('bill.txt HOUSE')
    await eventually(() => tab.locator('.mail strong').allTextContents()).toEqual(['Your order'])
    await press('Clear')
    await dialog.getByText('Remove 231 mails, also those that the search hides?').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(world.mail.messages).toHaveLength(231)
    await tab.getByLabel('Find').fill('nobody')
    await tab.getByRole('link', { name: 'Show every mail' }).click()
    await all()
    await press('Clear')
    await dialog.getByRole('button', { name: 'Clear' }).click()
    await tab.getByText('No mail yet').waitFor()
    await press('Undo')
    await all()
    expect(await tab.getByRole('button', { name: 'Undo' }).count()).toBe(0)
  })
})
